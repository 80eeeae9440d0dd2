"""The cells of an answer: a released number, or a formula over released numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from recuse.mechanism.release import CONFIDENCE, Release
from recuse.session.intervals import Ends, combine, rounded
from recuse.sql.formula import FixedNumber, Formula, Operation, Rounded, Term, measures_in

Keys = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Combined:
    """A number computed from released ones, such as an average: post-processing, so it costs nothing more.

    `value` is None where the formula divides by a released zero, an end of `interval` where it is unbounded.
    The interval holds the same formula of the truncated answers with probability `confidence` at least: 1
    minus the sum of what each released number may be wrong (Bonferroni).
    """

    value: Fraction | None
    interval: Ends
    confidence: float
    epsilon: Fraction


Cell = Release | Combined


def confidence(cell: Cell) -> float:
    """Return the probability with which the cell's interval holds its truncated value, at least."""
    if isinstance(cell, Combined):
        return round(cell.confidence, 6)
    return CONFIDENCE if cell.noise_scale else 1.0


@dataclass(frozen=True, slots=True)
class Row:
    """One group: its keys, and a cell for every column that is not a key."""

    keys: Keys
    cells: tuple[Cell, ...]


def evaluate(formula: Formula, releases: Sequence[Release]) -> Cell:
    """Return what a formula says of the released measures: the release itself where it is one."""
    if isinstance(formula, Term) and not releases[formula.measure].undefined:
        return releases[formula.measure]
    used = sorted(set(measures_in(formula)))
    noisy = sum(releases[measure].noise_scale > 0 for measure in used)
    return Combined(
        value=_value(formula, releases),
        interval=_interval(formula, releases),
        confidence=max(0.0, 1 - noisy * (1 - CONFIDENCE)),
        epsilon=sum((releases[measure].epsilon for measure in used), start=Fraction(0)),
    )


def within(cell: Combined, least: Fraction, most: Fraction) -> Combined:
    """Return a cell whose number is known to lie between two ends, clamped to them: post-processing."""

    def clamped(value: Fraction | None, otherwise: Fraction | None) -> Fraction | None:
        return otherwise if value is None else min(max(value, least), most)

    low, high = cell.interval
    ends = (clamped(low, least), clamped(high, most))
    return replace(cell, value=clamped(cell.value, None), interval=ends)


def _value(formula: Formula, releases: Sequence[Release]) -> Fraction | None:
    match formula:
        case Term(measure):
            return None if releases[measure].undefined else releases[measure].value
        case FixedNumber(value):
            return value
        case Operation(operator, left, right):
            first, second = _value(left, releases), _value(right, releases)
            if first is None or second is None:
                return None
            low, _ = combine(operator, (first, first), (second, second))
            return low
        case Rounded(inner, places):
            return rounded(_value(inner, releases), places)


def _interval(formula: Formula, releases: Sequence[Release]) -> Ends:
    match formula:
        case Term(measure):
            return releases[measure].interval
        case FixedNumber(value):
            return value, value
        case Operation(operator, left, right):
            return combine(operator, _interval(left, releases), _interval(right, releases))
        case Rounded(inner, places):
            low, high = _interval(inner, releases)
            return rounded(low, places), rounded(high, places)
