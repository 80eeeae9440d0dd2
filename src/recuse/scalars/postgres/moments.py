"""Forms of functions of dates and times: of the years 1 to 9999, where nothing is out of range."""

from __future__ import annotations

from recuse.scalars.dates import CLOCK_FIELDS, DATES, FIELDS
from recuse.scalars.expression import Call
from recuse.scalars.forms import SqlForm, chosen
from recuse.scalars.function import Function, Mistyped, constant_of
from recuse.scalars.moving import BETWEEN_DATES, DAYS, MOVING, moved_parts
from recuse.scalars.postgres.convert import ordinary, spelled_as
from recuse.scalars.postgres.own import OWN
from recuse.scalars.postgres.spelling import cast
from recuse.scalars.types import MICROSECONDS, Date, Time
from recuse.scalars.units import CLOCKS, TRUNCATED, UNITS, UNITS_OF_TIME, unit

FARTHEST = 1_700_000
"""Days from the year 1 back to the beginning of PostgreSQL's calendar, and a few less."""
_NAMES = {
    "dayofweek": "dow",
    "dayofyear": "doy",
    "millisecond": "milliseconds",
    "microsecond": "microseconds",
}
_UNKNOWN = frozenset({"yearweek", "second", "millisecond"})
"""fields that PostgreSQL does not have, or has with a fraction"""


def _field(name: str, target: str | None = "bigint") -> SqlForm:
    def form(call: Call, operand: str) -> str:
        kind = call.arguments[0].type
        if not isinstance(kind, Time):
            operand = ordinary(operand, kind)
            if isinstance(kind, Date) and name in (*CLOCK_FIELDS, "epoch"):
                operand = cast(operand, "timestamp")
        found = f"extract({_NAMES.get(name, name)} FROM {operand})"
        return found if target is None else cast(found, target)

    return form


def _moved(sign: str) -> SqlForm:
    def form(call: Call, left: str, right: str) -> str:
        days, kind, count = moved_parts(call, left, right)
        return f"({ordinary(days, kind)} {sign} {cast(_near(count, sign), 'integer')})"

    return form


def _near(count: str, sign: str) -> str:
    """Return a number of days, NULL where they lead back beyond the calendar."""
    end = f"CAST('{-FARTHEST if sign == '+' else FARTHEST}' AS bigint)"
    return f"CASE WHEN {count} {'>=' if sign == '+' else '<='} {end} THEN {count} END"


def _days_between(call: Call, left: str, right: str) -> str:
    kinds = [argument.type for argument in call.arguments]
    return cast(f"({ordinary(left, kinds[0])} - {ordinary(right, kinds[1])})", "bigint")


def _shifted(call: Call, operand: str, *_: str) -> str:
    name = unit(call.arguments, 2, TRUNCATED)
    count = int(constant_of(call.arguments, 1, ""))
    words = f"{count * UNITS[name]} month" if name in UNITS else f"{count} {name}"
    days = count * (UNITS[name] * 31 if name in UNITS else CLOCKS[name] / MICROSECONDS)
    if days < -FARTHEST:
        raise Mistyped("this interval leads back beyond PostgreSQL's calendar", "write a shorter one", 1)
    return f"({cast(ordinary(operand, call.arguments[0].type), 'timestamp')} + INTERVAL '{words}')"


def _truncated(call: Call, _: str, operand: str) -> str:
    name = unit(call.arguments, 0, TRUNCATED)
    if UNITS.get(name, 0) > 12:
        raise Mistyped(f"date_trunc to a {name} is not asked of PostgreSQL", "write 'year', 'month' …", 0)
    return f"date_trunc('{name}', {cast(ordinary(operand, call.arguments[1].type), 'timestamp')})"


def _made(_: Call, *operands: str) -> str:
    parts = []
    for sql, (high, width) in zip(operands, ((9999, 4), (12, 2), (31, 2)), strict=True):
        inside = f"CASE WHEN {sql} BETWEEN 1 AND {high} THEN {sql} END"
        parts.append(f"lpad({cast(inside, 'text')}, {width}, '0')")
    return cast(spelled_as("(" + " || '-' || ".join(parts) + ")", "date"), "date")


MOMENT_FORMS: dict[Function, SqlForm] = {
    **chosen(DATES, {name: _field(name) for name in FIELDS if name not in _UNKNOWN}),
    **chosen(DATES, {"make_date": _made}),
    **chosen(OWN, {f"pg {name}": _field(name, None) for name in ("second", "millisecond", "epoch")}),
    **chosen(DAYS.values(), {"+": _moved("+"), "-": _moved("-")}),
    BETWEEN_DATES: _days_between,
    **chosen(UNITS_OF_TIME, {"date_trunc": _truncated}),
    **chosen(MOVING, {"shift": _shifted}),
}
