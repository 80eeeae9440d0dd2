"""All functions by name, and the overloads of each in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Iterable

from recuse.scalars.bits import BITS
from recuse.scalars.buckets import BUCKETS
from recuse.scalars.comparisons import COMPARISONS
from recuse.scalars.dates import DATES
from recuse.scalars.division import DIVISION
from recuse.scalars.floats import FLOATS
from recuse.scalars.formats import FORMATS
from recuse.scalars.function import Function
from recuse.scalars.growth import GROWTH
from recuse.scalars.logic import LOGIC
from recuse.scalars.moving import BETWEEN_DATES, DAYS, MOVING
from recuse.scalars.numbers import NUMBERS
from recuse.scalars.patterns import PATTERNS
from recuse.scalars.postgres.own import OWN
from recuse.scalars.rounding import ROUNDING
from recuse.scalars.spark.own import SPARK_OWN
from recuse.scalars.text import TEXT
from recuse.scalars.units import UNITS_OF_TIME

ROWS: tuple[Function, ...] = (
    *COMPARISONS,
    *LOGIC,
    *NUMBERS,
    *DIVISION,
    *ROUNDING,
    *FLOATS,
    *BUCKETS,
    *BITS,
    *DAYS.values(),
    BETWEEN_DATES,
    *TEXT,
    *GROWTH,
    *PATTERNS,
    *DATES,
    *UNITS_OF_TIME,
    *FORMATS,
    *MOVING,
)


def _by_name(rows: Iterable[Function]) -> dict[str, tuple[Function, ...]]:
    found: dict[str, tuple[Function, ...]] = {}
    for row in rows:
        found[row.name] = (*found.get(row.name, ()), row)
    return found


TABLE = _by_name(ROWS)
OF_ENGINES = _by_name((*OWN, *SPARK_OWN))
"""functions that one engine means otherwise, under names that no question can write"""
