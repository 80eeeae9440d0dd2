"""The table of functions → the page that lists them for users."""

from __future__ import annotations

from collections.abc import Sequence

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
from recuse.scalars.rounding import ROUNDING
from recuse.scalars.text import TEXT
from recuse.scalars.units import UNITS_OF_TIME

KINDS: tuple[tuple[str, str, Sequence[Function]], ...] = (
    ("Comparisons, conditions and choices", "any", (*COMPARISONS, *LOGIC)),
    ("Exact numbers", "whole numbers, DECIMAL", (*NUMBERS, *DIVISION, *ROUNDING, *BUCKETS)),
    ("Bits", "whole numbers", BITS),
    ("Floats", "DOUBLE, FLOAT; numbers beside them", FLOATS),
    ("Text", "VARCHAR, labels of an ENUM", TEXT),
    ("Text that grows", "VARCHAR", GROWTH),
    ("Patterns", "VARCHAR", PATTERNS),
    ("Dates and times", "DATE, TIMESTAMP, TIME", (*DATES, *UNITS_OF_TIME, *FORMATS)),
    ("Moving dates", "DATE, TIMESTAMP", (*DAYS.values(), BETWEEN_DATES, *MOVING)),
)
"""The parts of the page: title, the types that the functions take, the functions"""


def functions() -> str:
    """Return the functions as tables in Markdown, one a kind."""
    return "\n".join(_part(*kind) for kind in KINDS)


def _part(title: str, types: str, rows: Sequence[Function]) -> str:
    listed = "\n".join(_row(row, types) for row in rows)
    return f"## {title}\n\n| form | types | meaning |\n|---|---|---|\n{listed}\n"


def _row(row: Function, types: str) -> str:
    form = row.form.replace("|", "\\|")
    return f"| `{form}` | {types} | {row.about} |"
