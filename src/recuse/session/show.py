"""How an answer is shown to people in text: one number or a table, in the words of `read-an-answer`.

answer   the number to use
truth    what is so of the true answer: at least so much, with 97.5 %
noise    the noise interval: it holds the truncated answer, with 95 %
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Protocol

from recuse.errors import quote
from recuse.numerals import short
from recuse.privacy import decimal_text
from recuse.session.cells import Cell, Row, StandIn, confidence, step_of
from recuse.session.notes import folded, number_notes, table_notes
from recuse.session.table import BARS, drawing, scale_of, text_table
from recuse.session.words import charged, cost, said, value_text

WIDTH = 80


class Displayable(Protocol):
    """What is looked at of an answer."""

    @property
    def key_names(self) -> Sequence[str]: ...
    @property
    def names(self) -> Sequence[str]: ...
    @property
    def rows(self) -> Sequence[Row]: ...
    @property
    def epsilon(self) -> Fraction: ...
    @property
    def stand_ins(self) -> Sequence[StandIn]: ...
    @property
    def delta(self) -> Fraction: ...
    @property
    def stored(self) -> bool: ...
    @property
    def is_number(self) -> bool: ...
    @property
    def remaining(self) -> Fraction | None: ...
    @property
    def number(self) -> Cell: ...
    @property
    def notes(self) -> Sequence[str]: ...
    @property
    def cautions(self) -> Sequence[str]: ...


def text(answer: Displayable) -> str:
    """Return an answer as text: a number on one line, else its table."""
    return _number_text(answer) if answer.is_number else "\n".join(table_lines(answer, drawn=False))


def number_lines(answer: Displayable, *, drawn: bool) -> Iterator[str]:
    """Yield one number for people, a line for each thing that is said of it; `drawn` shows its noise."""
    cell = answer.number
    yield f"answer    {value_text(cell)}"
    if drawn and confidence(cell) < 1 and None not in cell.interval:
        step = step_of(cell)
        start, end = (short(end, step) for end in scale_of([cell]))
        yield f"          {start} {drawing(cell)} {end}"
    yield from number_notes(cell)
    yield from stand_in_lines(answer)
    yield charged(answer.epsilon, answer.remaining, stored=answer.stored)


def table_lines(answer: Displayable, *, drawn: bool, width: int = WIDTH) -> Iterator[str]:
    """Yield the table for people, and what it says; `drawn` shows noise on a line, where there is room."""
    for bar in (*BARS, 0) if drawn else (0,):
        table = list(text_table(answer.key_names, answer.names, answer.rows, bar))
        if max(map(len, table)) <= width:
            break
    yield from table
    yield from said_lines(answer)


def said_lines(answer: Displayable) -> Iterator[str]:
    """Yield what is said of a table as a whole."""
    yield from table_notes(answer.names, answer.rows)
    yield from stand_in_lines(answer)
    yield from group_lines(answer)
    yield charged(answer.epsilon, answer.remaining, stored=answer.stored)


def _number_text(answer: Displayable) -> str:
    cell = answer.number
    left = "" if answer.remaining is None else f", {decimal_text(answer.remaining)} left"
    if confidence(cell) == 1 and not answer.epsilon:
        return f"{value_text(cell)} (exact: about nobody), free{left}"
    return "\n".join(
        [
            f"{value_text(cell)} ({said(cell)}), {cost(answer.epsilon, stored=answer.stored)}{left}",
            *stand_in_lines(answer),
        ]
    )


def stand_in_lines(answer: Displayable) -> Iterator[str]:
    """Yield what to beware of, and the numbers that were released first, which stand in the question."""
    for caution in answer.cautions:
        yield from folded("caution", caution)
    for stand_in in answer.stand_ins:
        value = "NULL" if stand_in.cell.value is None else value_text(stand_in.cell)
        value = value if stand_in.moment is None else str(stand_in.moment)
        sure = "picked by its rank" if stand_in.picked else said(stand_in.cell)
        yield f"released  {value} stands for {quote(stand_in.text)} ({sure})"


def group_lines(answer: Displayable) -> Iterator[str]:
    """Yield what was released of the groups themselves."""
    yield from (f"groups    {note}" for note in answer.notes)
    if answer.delta:
        cost = "0" if answer.stored else decimal_text(answer.delta)
        yield f"delta     {cost} charged: groups were found; those of few people may be missing"
