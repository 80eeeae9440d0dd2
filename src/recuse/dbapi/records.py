"""Answers as DB-API has them: descriptions of columns, and records."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from recuse.dbapi.types import (
    DATETIME,
    NUMBER,
    STRING,
    TypeObject,
)
from recuse.numerals import nearest
from recuse.session.answer import Answer
from recuse.sql.finish import Shown
from recuse.sql.kinds import ColumnKind

Description = tuple[str, TypeObject, None, None, None, None, None]


Record = tuple[Any, ...]


TYPES = {
    ColumnKind.INTEGER: NUMBER,
    ColumnKind.NUMBER: NUMBER,
    ColumnKind.BOOLEAN: NUMBER,
    ColumnKind.DATE: DATETIME,
    ColumnKind.TIME: DATETIME,
    ColumnKind.TIMESTAMP: DATETIME,
}
"""what DB-API calls the kinds of columns; all others are strings"""


def described(columns: Sequence[Shown], *, intervals: bool = False) -> list[Description]:
    """Return what the columns of an answer are: the plan knows it without data."""
    found: list[Description] = []
    for shown in columns:
        ends = ("", "_low", "_high") if intervals and not shown.is_label else ("",)
        kind = TYPES.get(shown.kind, STRING)
        found += [(shown.name + end, kind, None, None, None, None, None) for end in ends]
    return found


def records(columns: Sequence[Shown], answer: Answer, *, intervals: bool = False) -> list[Record]:
    """Return the rows of an answer in the order of the SELECT: whole numbers as int, others as float."""
    found = []
    for row in answer:
        keys, cells = iter(row.keys), iter(row.cells)
        values: list[Any] = []
        for shown in columns:
            if shown.is_label:
                values.append(next(keys))
            else:
                cell = next(cells)
                values += [cell.value, *cell.interval] if intervals else [cell.value]
        found.append(tuple(_plain(value) for value in values))
    return found


def _plain(value: Any) -> Any:
    return nearest(value) if isinstance(value, Fraction) else value
