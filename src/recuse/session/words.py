"""What is said of one number and of its cost, in words: the same wherever an answer is shown."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from recuse.mechanism.release import Release
from recuse.numerals import short
from recuse.privacy import decimal_text
from recuse.session.cells import Cell, confidence, step_of, truth
from recuse.session.intervals import UNBOUNDED, End

PICKED = "a value picked by its rank, which says nothing of how far it lies from the truth"


def value_text(cell: Cell, step: Fraction | None = None) -> str:
    """Return the number of a cell."""
    return "undefined" if cell.value is None else short(cell.value, step or step_of(cell))


def noise_text(cell: Cell, step: Fraction | None = None) -> str:
    """Return the noise interval of a cell."""
    low, high = (readable(end, step or step_of(cell)) for end in cell.interval)
    if is_picked(cell):
        return "not known"
    return "unbounded" if cell.interval == UNBOUNDED else f"{low} to {high}"


def is_picked(cell: Cell) -> bool:
    """Return whether a number is one of the rows' values, picked by its rank: nothing is said of noise."""
    return isinstance(cell, Release) and cell.interval == UNBOUNDED


def truth_text(cell: Cell) -> str | None:
    """Return what is so of the true answer, and how surely; None if nothing is."""
    found = truth(cell)
    low, high = found.ends
    if low is None or low != cell.interval[0] or not found.confidence:
        return None
    sure = f"with {percent(found.confidence)}"
    if high is not None and high == cell.interval[1]:
        return f"{noise_text(cell)} {sure}, nothing was truncated"
    return f"at least {short(low, step_of(cell))} {sure}"


def percent(share: float) -> str:
    """Return a share in percent.

    >>> percent(0.975), percent(0.9)
    ('97.5 %', '90 %')
    """
    return f"{round(share * 100, 4):g} %"


def readable(value: End, step: Fraction | None = None) -> str:
    """Return an end of an interval for people.

    >>> readable(Fraction(1234567)), readable(Fraction(5, 4), Fraction(1, 100)), readable(None)
    ('1,234,567', '1.25', 'unbounded')
    """
    return "unbounded" if value is None else short(value, step)


def label(key: Any) -> str:
    """Return a key, or what a formula says that is no number with an interval, for people."""
    return "NULL" if key is None else short(key) if isinstance(key, Fraction) else str(key)


def said(cell: Cell) -> str:
    """Return on one line what is said of a number."""
    if is_picked(cell):
        return PICKED
    known = truth_text(cell)
    noise = f"noise {noise_text(cell)} with {percent(confidence(cell))}"
    return noise if known is None else f"{known}; {noise}"


def cost(epsilon: Fraction, *, stored: bool) -> str:
    """Return what an answer cost, for a line that says other things too."""
    return f"epsilon {decimal_text(epsilon)}{' (asked before: free)' if stored else ''}"


def charged(epsilon: Fraction, remaining: Fraction | None, *, stored: bool) -> str:
    """Return the line that says what an answer cost."""
    left = "" if remaining is None else f", {decimal_text(remaining)} left"
    if epsilon == 0:
        return f"epsilon   0 charged: the question is about nobody{left}"
    if stored:
        return f"epsilon   0 charged: the answer of an earlier question, for {decimal_text(epsilon)}{left}"
    return f"epsilon   {decimal_text(epsilon)} charged{left}"
