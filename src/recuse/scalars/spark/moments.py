"""Forms of functions of dates and times: of the years 1 to 9999, where nothing is out of range."""

from __future__ import annotations

from recuse.scalars.dates import CLOCK_FIELDS, DATES
from recuse.scalars.expression import Call
from recuse.scalars.forms import SqlForm, chosen
from recuse.scalars.function import Function, Mistyped
from recuse.scalars.moving import DAYS, moved_parts
from recuse.scalars.spark.convert import ordinary
from recuse.scalars.spelling import cast, try_cast
from recuse.scalars.types import Date, Time, words
from recuse.scalars.units import TRUNCATED, UNITS, UNITS_OF_TIME, unit

FIELDS = {
    "year": "year",
    "quarter": "quarter",
    "month": "month",
    "day": "day",
    "dayofyear": "dayofyear",
    "week": "weekofyear",
    "hour": "hour",
    "minute": "minute",
}
"""fields that Spark means as everybody does, and its functions"""


def _field(name: str) -> SqlForm:
    def form(call: Call, operand: str) -> str:
        kind = call.arguments[0].type
        if isinstance(kind, Time):
            raise Mistyped(f"{words(kind)} is not asked of Spark", "leave it out")
        found = ordinary(operand, kind)
        if isinstance(kind, Date) and name in CLOCK_FIELDS:
            found = try_cast(found, "TIMESTAMP_NTZ")
        return cast(f"{FIELDS[name]}({found})", "BIGINT")

    return form


def _moved(function: str) -> SqlForm:
    def form(call: Call, left: str, right: str) -> str:
        days, kind, count = moved_parts(call, left, right)
        return f"{function}({ordinary(days, kind)}, {try_cast(count, 'INT')})"

    return form


def _truncated(call: Call, _: str, operand: str) -> str:
    name = unit(call.arguments, 0, TRUNCATED)
    if UNITS.get(name, 0) > 12:
        raise Mistyped(f"date_trunc to a {name} is not asked of Spark", "write 'year', 'month' …", 0)
    moment = try_cast(ordinary(operand, call.arguments[1].type), "TIMESTAMP")
    return try_cast(f"date_trunc('{name}', {moment})", "TIMESTAMP_NTZ")


MOMENT_FORMS: dict[Function, SqlForm] = {
    **chosen(DATES, {name: _field(name) for name in FIELDS}),
    **chosen(DAYS.values(), {"+": _moved("date_add"), "-": _moved("date_sub")}),
    **chosen(UNITS_OF_TIME, {"date_trunc": _truncated}),
}
