"""Dates and timestamps moved by days or by an interval, and the days between two."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable, Sequence

from recuse.scalars.convert import ordinary
from recuse.scalars.dates import ALIASES, EPOCH, SPAN, day_of, days_of, moment, rest_of
from recuse.scalars.expression import Call, Expression
from recuse.scalars.function import Function, Mistyped, OtherForm, Signature, constant_of
from recuse.scalars.numbers import whole_number
from recuse.scalars.spelling import cast, spelled
from recuse.scalars.types import (
    FIRST_DAY,
    LAST_DAY,
    MICROSECONDS,
    Date,
    Text,
    Timestamp,
    Type,
    whole,
)
from recuse.scalars.units import CLOCKS, TRUNCATED, UNITS, unit


def _days_signature(sign: int) -> Callable[[Sequence[Expression]], Signature]:
    def signature(arguments: Sequence[Expression]) -> Signature:
        dates, days = (0, 1) if sign < 0 or isinstance(arguments[0].type, Date) else (1, 0)
        kind = arguments[dates].type
        if not isinstance(kind, Date):
            raise OtherForm
        count = whole_number(arguments, days)
        if not (count.low >= -SPAN and count.high <= SPAN):
            count = whole(-SPAN, SPAN)
        moved = Date(FIRST_DAY + min(count.low, -count.high), LAST_DAY + max(count.high, -count.low))
        takes = (kind, count) if dates == 0 else (count, kind)
        return Signature(takes, moved)

    return signature


def _moved(sign: int) -> Callable[..., int | None]:
    def value(call: Call, left: int, right: int) -> int | None:
        first = isinstance(call.arguments[0].type, Date)
        days, count = (left, right) if first else (right, left)
        return days + sign * count if FIRST_DAY <= days <= LAST_DAY else None

    return value


def moved_parts(call: Call, left: str, right: str) -> tuple[str, Type, str]:
    """Return the date of a sum, its type, and the days: either may stand first."""
    first = isinstance(call.arguments[0].type, Date)
    return (left, call.arguments[0].type, right) if first else (right, call.arguments[1].type, left)


def _move_form(sign: int) -> Callable[..., str]:
    def form(call: Call, left: str, right: str) -> str:
        days, kind, count = moved_parts(call, left, right)
        return f"({ordinary(days, kind)} {'+' if sign > 0 else '-'} {cast(count, 'INTEGER')})"

    return form


def _two_dates(arguments: Sequence[Expression]) -> Signature:
    kinds = [argument.type for argument in arguments]
    if not all(isinstance(kind, Date) for kind in kinds):
        raise OtherForm
    return Signature(tuple(kinds), whole(-SPAN, SPAN))


def _days_between(call: Call, left: int, right: int) -> int | None:
    inside = all(FIRST_DAY <= days <= LAST_DAY for days in (left, right))
    return left - right if inside and call else None


def _between_form(call: Call, left: str, right: str) -> str:
    kinds = [argument.type for argument in call.arguments]
    return cast(f"({ordinary(left, kinds[0])} - {ordinary(right, kinds[1])})", spelled(call.type))


def _aging(arguments: Sequence[Expression]) -> Signature:
    kinds = moment(arguments, 0), moment(arguments, 1)
    return Signature(
        tuple(Date() if isinstance(kind, Timestamp) else kind for kind in kinds), whole(-SPAN, SPAN)
    )


def _shifting(arguments: Sequence[Expression]) -> Signature:
    name = unit(arguments, 2, TRUNCATED)
    count = constant_of(arguments, 1, "how much is added is written down", "write x + INTERVAL 3 MONTH")
    if not isinstance(count, int) or isinstance(count, bool):
        raise Mistyped("a whole number of units is added", "write x + INTERVAL 3 MONTH", 1)
    days = abs(count) * UNITS[name] * 31 if name in UNITS else abs(count) * CLOCKS[name] // MICROSECONDS + 1
    if days > SPAN:
        raise Mistyped("this interval is longer than ten thousand years", "write a shorter one", 1)
    kind = moment(arguments, 0)
    moved = Timestamp((FIRST_DAY - days) * MICROSECONDS, (LAST_DAY + 1 + days) * MICROSECONDS)
    return Signature((kind, whole(count, count), Text()), moved)


def _shifted(call: Call, operand: int, count: int, name: str) -> int | None:
    name = ALIASES.get(name.lower(), name.lower())
    kind = call.arguments[0].type
    day = day_of(operand, kind)
    if day is None:
        return None
    rest = rest_of(operand, kind)
    if name in CLOCKS:
        return (day - EPOCH).days * MICROSECONDS + rest + count * CLOCKS[name]
    months = day.year * 12 + day.month - 1 + count * UNITS[name]
    year, month = divmod(months, 12)
    last = monthrange(2000 + year % 400, month + 1)[1]
    return days_of(year, month + 1, min(day.day, last)) * MICROSECONDS + rest


def _shift_form(call: Call, operand: str, *_: str) -> str:
    name = unit(call.arguments, 2, TRUNCATED)
    count = constant_of(call.arguments, 1, "")
    moved = cast(ordinary(operand, call.arguments[0].type), "TIMESTAMP")
    if name in UNITS:
        count, name = count * UNITS[name], "month"
    return f"({moved} + INTERVAL ({count}) {name.upper()})"


MOVING = (
    Function(
        "age",
        "age(x, y)",
        "The days from y to x (in DuckDB an INTERVAL).",
        _aging,
        _days_between,
        _between_form,
    ),
    Function(
        "shift",
        "x + INTERVAL n unit, date_add(x, INTERVAL n unit)",
        "Moved by so many units, as a timestamp.",
        _shifting,
        _shifted,
        _shift_form,
    ),
)
DAYS = {
    "+": Function("+", "date + n", "So many days later.", _days_signature(1), _moved(1), _move_form(1)),
    "-": Function("-", "date - n", "So many days earlier.", _days_signature(-1), _moved(-1), _move_form(-1)),
}
BETWEEN_DATES = Function("-", "date - date", "The days between.", _two_dates, _days_between, _between_form)
