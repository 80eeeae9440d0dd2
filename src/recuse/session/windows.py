"""Windows over the rows of an answer: ranks, totals and running totals of released numbers.

Guarantee: private like the releases that it is made of (proofs.md, lemma J2): post-processing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from recuse.session.formulas import Given, comparable, value_of
from recuse.sql.formula import OrderTerm, OverRows, Windowed

Arranged = Callable[[Sequence[Given], Sequence[OrderTerm]], list[Given]]
"""returns rows in an order"""


def seen(window: Windowed, rows: Sequence[Given], arranged: Arranged) -> list[Given]:
    """Return the rows, in their order, each with what the window says of it."""
    places = {id(row): place for place, row in enumerate(rows)}
    partitions: dict[tuple[Any, ...], list[Given]] = {}
    for row in rows:
        partitions.setdefault(_values(window.partition, row), []).append(row)
    said: list[Any] = [None] * len(rows)
    for partition in partitions.values():
        ordered = arranged(partition, window.order)
        for row, value in zip(ordered, _said(window, ordered), strict=True):
            said[places[id(row)]] = value
    return [replace(row, windows=(*row.windows, value)) for row, value in zip(rows, said, strict=True)]


def _values(formulas: Sequence[Any], row: Given) -> tuple[Any, ...]:
    found = (value_of(formula, row) for formula in formulas)
    return tuple(None if value is None else comparable(value) for value in found)


def _said(window: Windowed, rows: Sequence[Given]) -> list[Any]:
    """Return what the function says of every row of a partition that is in order."""
    if window.function is OverRows.ROW_NUMBER:
        return [Fraction(place) for place in range(1, len(rows) + 1)]
    if window.function is OverRows.SHIFTED:
        places = [place + window.shift for place in range(len(rows))]
        return [_argument(window, rows[place]) if 0 <= place < len(rows) else None for place in places]
    peers = _peers(window, rows)
    found: list[Any] = []
    for number, (start, end) in enumerate(peers, start=1):
        if window.function is OverRows.RANK:
            value: Any = Fraction(start + 1)
        elif window.function is OverRows.DENSE_RANK:
            value = Fraction(number)
        else:
            value = _aggregate(window, rows[:end])
        found += [value] * (end - start)
    return found


def _argument(window: Windowed, row: Given) -> Any:
    return None if window.argument is None else value_of(window.argument, row)


def _peers(window: Windowed, rows: Sequence[Given]) -> list[tuple[int, int]]:
    """Return where runs of rows begin and end that the order does not tell apart: all rows, without one."""
    told = [_values([term.formula for term in window.order], row) for row in rows]
    starts = [place for place in range(len(rows)) if place == 0 or told[place] != told[place - 1]]
    return list(zip(starts, [*starts[1:], len(rows)], strict=True))


def _aggregate(window: Windowed, rows: Sequence[Given]) -> Any:
    if window.argument is None:
        return Fraction(len(rows))
    values = [value for row in rows if (value := value_of(window.argument, row)) is not None]
    if window.function is OverRows.COUNT:
        return Fraction(len(values))
    if not values:
        return None
    match window.function:
        case OverRows.SUM:
            return sum(values, start=Fraction(0))
        case OverRows.AVG:
            return sum(values, start=Fraction(0)) / len(values)
        case OverRows.MIN:
            return min(values, key=comparable)
        case _:
            return max(values, key=comparable)
