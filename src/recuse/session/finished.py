"""The rows of an answer as HAVING, windows, ORDER BY, LIMIT and OFFSET leave them: post-processing, so free.

Guarantee: private like the releases that it is made of (proofs.md, lemma J2); what is charged, released and
stored does not depend on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from recuse.session.formulas import Given, comparable, value_of
from recuse.session.windows import seen
from recuse.sql.formula import (
    Arrange,
    FinishingStep,
    FirstRows,
    Formula,
    Keep,
    Look,
    OrderTerm,
    ShownKey,
    Stack,
)


def finished(rows: Sequence[Given], steps: Sequence[FinishingStep]) -> list[Given]:
    """Return the rows that are shown, in their order."""
    found = list(rows)
    for step in steps:
        match step:
            case Keep(condition):
                found = [row for row in found if value_of(condition, row) is True]
            case Look(windows):
                for window in windows:
                    found = seen(window, found, arranged)
            case Arrange(terms):
                found = arranged(found, terms)
            case Stack(count, different):
                found = [replace(row, place=place) for row in found for place in range(count)]
                found = found if different is None else _different(found, different)
            case FirstRows(offset, limit):
                found = found[offset:] if limit is None else found[offset : offset + limit]
    return found


def _different(rows: Sequence[Given], formulas: Sequence[Formula]) -> list[Given]:
    """Return the first of all rows that show the same."""
    found: dict[tuple[Any, ...], Given] = {}
    for row in rows:
        found.setdefault(tuple(value_of(formula, row) for formula in formulas), row)
    return list(found.values())


def arranged(rows: Sequence[Given], terms: Sequence[OrderTerm]) -> list[Given]:
    """Return the rows in an order; those that are equal stay as they are."""
    found = list(rows)
    for term in reversed(terms):
        found = _sorted(found, term)
    return found


def _sorted(rows: Sequence[Given], term: OrderTerm) -> list[Given]:
    values = [(value_of(term.formula, row), row) for row in rows]
    nulls = [row for value, row in values if value is None]
    filled = [(comparable(value), row) for value, row in values if value is not None]
    filled.sort(key=lambda pair: pair[0], reverse=term.descending)
    rest = [row for _, row in filled]
    return [*nulls, *rest] if term.nulls_first else [*rest, *nulls]


def label_of(formula: Formula, row: Given) -> Any:
    """Return what a column says that has no interval; a key as it is, a whole number as one."""
    if isinstance(formula, ShownKey):
        return row.keys[formula.position]
    value = value_of(formula, row)
    return int(value) if isinstance(value, Fraction) and value.denominator == 1 else value
