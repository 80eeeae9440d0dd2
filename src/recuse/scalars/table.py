"""All functions by name, and the overloads of each in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Iterable

from recuse.scalars.dates import BETWEEN_DATES, DATES, DAYS
from recuse.scalars.floats import FLOATS
from recuse.scalars.function import Function
from recuse.scalars.growth import GROWTH
from recuse.scalars.logic import LOGIC
from recuse.scalars.numbers import BUCKETS, NUMBERS
from recuse.scalars.patterns import PATTERNS
from recuse.scalars.text import TEXT

ROWS: tuple[Function, ...] = (
    *LOGIC,
    *NUMBERS,
    *FLOATS,
    *BUCKETS,
    *DAYS.values(),
    BETWEEN_DATES,
    *TEXT,
    *GROWTH,
    *PATTERNS,
    *DATES,
)


def _by_name(rows: Iterable[Function]) -> dict[str, tuple[Function, ...]]:
    found: dict[str, tuple[Function, ...]] = {}
    for row in rows:
        found[row.name] = (*found.get(row.name, ()), row)
    return found


TABLE = _by_name(ROWS)
