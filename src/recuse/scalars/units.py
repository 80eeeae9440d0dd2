"""Units of time: the beginning of one, and how many lie between two moments."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from recuse.scalars.convert import ordinary
from recuse.scalars.dates import ALIASES, EPOCH, SPAN, day_of, moment, rest_of
from recuse.scalars.expression import Call, Expression
from recuse.scalars.function import Function, Mistyped, Signature, constant_of
from recuse.scalars.spelling import cast, spelled
from recuse.scalars.types import (
    FIRST_DAY,
    MICROSECONDS,
    ORDINARY_TIMESTAMP,
    Date,
    Text,
    Timestamp,
    Type,
    whole,
)

UNITS = {
    "millennium": 12_000,
    "century": 1_200,
    "decade": 120,
    "year": 12,
    "quarter": 3,
    "month": 1,
}
"""Units that are months, and how many"""
CLOCKS = {
    "week": 7 * MICROSECONDS,
    "day": MICROSECONDS,
    "hour": 3_600_000_000,
    "minute": 60_000_000,
    "second": 1_000_000,
    "millisecond": 1_000,
    "microsecond": 1,
}
"""Units that are microseconds, and how many"""


def unit(arguments: Sequence[Expression], place: int, known: frozenset[str]) -> str:
    """Return a unit that is written down."""
    listed = ", ".join(sorted(known))
    found = constant_of(arguments, place, "the unit is written down", f"write one of: {listed}")
    name = str(found).lower()
    name = ALIASES.get(name, name)
    if name not in known:
        raise Mistyped(f"the unit {found} is not understood", f"write one of: {listed}", place)
    return name


TRUNCATED = frozenset({*UNITS, *CLOCKS})
DIFFERENCES = frozenset(
    {"year", "quarter", "month", "week", "day", "hour", "minute", "second", "decade", "century"}
)


def _truncating(arguments: Sequence[Expression]) -> Signature:
    name, kind = unit(arguments, 0, TRUNCATED), moment(arguments, 1)
    low = _year_zero() if UNITS.get(name, 0) > 12 else ORDINARY_TIMESTAMP.low
    return Signature((Text(), kind), Timestamp(low, ORDINARY_TIMESTAMP.high))


def _truncated(call: Call, name: str, operand: int) -> int | None:
    name = ALIASES.get(name.lower(), name.lower())
    kind = call.arguments[1].type
    day = day_of(operand, kind)
    if day is None:
        return None
    if name == "week":
        found = (day - EPOCH).days - day.weekday()
        return found * MICROSECONDS
    if name in CLOCKS:
        step = CLOCKS[name]
        total = (day - EPOCH).days * MICROSECONDS + rest_of(operand, kind)
        return total // step * step
    return _month_start(day, name)


def _month_start(day: date, name: str) -> int | None:
    months = UNITS[name]
    if months <= 3:
        found = day.replace(month=(day.month - 1) // months * months + 1, day=1)
        return (found - EPOCH).days * MICROSECONDS
    years = months // 12
    year = day.year // years * years
    if year < 1:
        return _year_zero()
    return (date(year, 1, 1) - EPOCH).days * MICROSECONDS


def _year_zero() -> int:
    """Return the first moment of the year before the year 1."""
    return (FIRST_DAY - 366) * MICROSECONDS


def _truncate_form(call: Call, _: str, operand: str) -> str:
    name = unit(call.arguments, 0, TRUNCATED)
    kind = call.arguments[1].type
    found = f"date_trunc('{name}', {cast(ordinary(operand, kind), 'TIMESTAMP')})"
    return cast(found, "TIMESTAMP")  # before DuckDB 2.0 it is a DATE


def _difference(arguments: Sequence[Expression]) -> Signature:
    name = unit(arguments, 0, DIFFERENCES)
    kinds = moment(arguments, 1), moment(arguments, 2)
    both: Type = Date() if all(isinstance(kind, Date) for kind in kinds) else Timestamp()
    takes = kinds if isinstance(both, Date) else tuple(_as_moment(kind) for kind in kinds)
    most = (SPAN + 1) * MICROSECONDS // CLOCKS[name] if name in CLOCKS else 12 * 9999
    return Signature((Text(), *takes), whole(-most, most))


def _as_moment(kind: Date | Timestamp) -> Timestamp:
    return kind if isinstance(kind, Timestamp) else ORDINARY_TIMESTAMP


def _differs(call: Call, name: str, start: int, end: int) -> int | None:
    name = ALIASES.get(name.lower(), name.lower())
    kinds = [argument.type for argument in call.arguments[1:]]
    days = [day_of(value, kind) for value, kind in zip((start, end), kinds, strict=True)]
    first, last = days
    if first is None or last is None:
        return None
    if name in UNITS:
        months = [day.year * 12 + day.month - 1 for day in (first, last)]
        step = UNITS[name]
        return months[1] // step - months[0] // step
    totals = [
        (day - EPOCH).days * MICROSECONDS + rest_of(value, kind)
        for day, value, kind in zip((first, last), (start, end), kinds, strict=True)
    ]
    if name == "week":
        weeks = [((day - EPOCH).days - day.weekday()) // 7 for day in (first, last)]
        return weeks[1] - weeks[0]
    step = CLOCKS[name]
    return totals[1] // step - totals[0] // step


def _difference_form(call: Call, _: str, start: str, end: str) -> str:
    name = unit(call.arguments, 0, DIFFERENCES)
    kinds = [argument.type for argument in call.arguments[1:]]
    first, last = (ordinary(sql, kind) for sql, kind in zip((start, end), kinds, strict=True))
    if name == "week":
        first, last = (f"date_trunc('week', {cast(sql, 'TIMESTAMP')})" for sql in (first, last))
        days = f"date_diff('day', {first}, {last})"
        return cast(f"({days} // CAST(7 AS BIGINT))", spelled(call.type))
    if name in ("hour", "minute", "second"):
        first, last = cast(first, "TIMESTAMP"), cast(last, "TIMESTAMP")
    return cast(f"date_diff('{name}', {first}, {last})", spelled(call.type))


UNITS_OF_TIME = (
    Function(
        "date_trunc",
        "date_trunc('unit', x)",
        "The beginning of its unit, as a timestamp.",
        _truncating,
        _truncated,
        _truncate_form,
    ),
    Function(
        "date_diff",
        "date_diff('unit', x, y), datediff('unit', x, y)",
        "How many beginnings of a unit lie between x and y.",
        _difference,
        _differs,
        _difference_form,
    ),
)
