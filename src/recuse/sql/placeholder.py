"""Places in statements for values that are released before the rest is asked, and the values put in them.

A statement is compiled with a place of a fixed type, so that whether it is accepted, and how it is computed,
cannot depend on the number. Later the number is written in it as a constant of that very type.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date
from fractions import Fraction
from typing import ClassVar

from sqlglot import exp

from recuse.scalars.duckdb import no_bodies
from recuse.scalars.expression import Constant, Variable
from recuse.scalars.types import MICROSECONDS, ORDINARY_DATE, ORDINARY_TIMESTAMP, Date, Number, Timestamp
from recuse.sql.dialect import DUCKDB, Dialect
from recuse.sql.formula import ORIGIN

SOURCE = "released first"
WHOLE_DIGITS = 15
PLACES = 6
"""what a number has before and behind the point; the total language has 38 digits for what is made of it"""

FIRST_SHARE = Fraction(1, 5)
"""the part of ε for all numbers that are released first together, if people's rows are asked for after"""

LARGER_SHARE = Fraction(1, 2)
"""the same where the answer hangs on them as on the rest: the count and the mean of a variance, a quantile"""

SAID = "said"
"""how a subquery that nobody wrote is told of, in its `meta`"""

EDGE = "edge"
"""in the `meta` of a subquery that says where something begins or ends, and need not be very exact"""

WHOLE = Number(0, 1 - 10**WHOLE_DIGITS, 10**WHOLE_DIGITS - 1)
DECIMAL = Number(PLACES, 1 - 10 ** (WHOLE_DIGITS + PLACES), 10 ** (WHOLE_DIGITS + PLACES) - 1)

DAY, SECOND = ORDINARY_DATE, ORDINARY_TIMESTAMP
"""moments are released as days and seconds since `ORIGIN`, and stand in the question as what they are"""

PlaceType = Number | Date | Timestamp
_NAMES: dict[str, PlaceType] = {"whole": WHOLE, "decimal": DECIMAL, "day": DAY, "second": SECOND}
_FROM_1970 = (ORIGIN - date(1970, 1, 1)).days

_PLACE = rf'"{SOURCE}"\."(\d+)"'
_SCANNED = re.compile(rf"""{_PLACE}|'(?:[^']|'')*'|"(?:[^"]|"")*\"""")


class Released(exp.Expression, exp.Func):
    """The place of a value, by its position; `kind` names the type that it has."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "kind": True}
    _sql_names: ClassVar[list[str]] = ["RELEASED"]

    @classmethod
    def at(cls, position: int, kind: PlaceType) -> Released:
        """Return the place at a position."""
        return cls(this=exp.Literal.number(position), kind=exp.Literal.string(name_of(kind)))


PutFirst = Callable[[exp.Select], exp.Expr]
"""puts a number that is released first in the place of the SELECT that it answers"""


def asked_first(value: exp.Expr, said: str, around: exp.Select) -> exp.Select:
    """Return the SELECT of a value of all the rows that the one around looks at, told in words."""
    query = exp.Select(expressions=[value])
    query.meta[SAID] = said
    for clause in ("from_", "joins", "where"):
        held = around.args.get(clause)
        if held:
            query.set(clause, [one.copy() for one in held] if isinstance(held, list) else held.copy())
    return query


def name_of(kind: PlaceType) -> str:
    """Return what a type of places is called."""
    return next(name for name, known in _NAMES.items() if known == kind)


def place_of(node: exp.Expr) -> Variable:
    """Return a place as the total language has it: a column of a source that no query can name."""
    return Variable(SOURCE, node.name, _NAMES[node.args["kind"].name])


def fitted(value: Fraction | None, kind: PlaceType) -> Fraction | None:
    """Return a number as its place holds it: rounded, and within its bounds. NULL stays NULL.

    >>> fitted(Fraction(10**20, 3), WHOLE) == 10**15 - 1, fitted(Fraction(1, 3), DECIMAL)
    (True, Fraction(333333, 1000000))
    """
    if value is None:
        return None
    unit, origin = _unit(kind)
    granules = min(max(round(value * unit) + origin, kind.low), kind.high)
    return Fraction(granules - origin, unit)


def _unit(kind: PlaceType) -> tuple[int, int]:
    """Return how many of a type's granules there are in one, and where they are counted from."""
    match kind:
        case Number():
            return 10**kind.scale, 0
        case Date():
            return 1, _FROM_1970
        case Timestamp():
            return 10**6, _FROM_1970 * MICROSECONDS


def filled(
    sql: str, values: Sequence[Fraction | None], kinds: Sequence[PlaceType], dialect: Dialect = DUCKDB
) -> str:
    r"""Return a statement with numbers in its places; what stands in quotes is left as it is.

    >>> filled('SELECT "x" > "released first"."0", \'"released first"."0"\'', [None], [WHOLE])
    'SELECT "x" > CAST(NULL AS BIGINT), \'"released first"."0"\''
    """

    def constant(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0]
        position = int(found[1])
        fit, kind = fitted(values[position], kinds[position]), kinds[position]
        unit, origin = _unit(kind)
        granules = None if fit is None else int(fit * unit) + origin
        return dialect.scalar(Constant(granules, kind), no_bodies)

    return _SCANNED.sub(constant, sql)
