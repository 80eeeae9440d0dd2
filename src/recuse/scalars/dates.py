"""Dates, timestamps and times of day; functions of them have a value in the years 1 to 9999 only."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable, Sequence
from datetime import date, timedelta

from recuse.scalars.convert import ordinary
from recuse.scalars.expression import Call, Expression
from recuse.scalars.floats import PURE
from recuse.scalars.function import Function, Mistyped, Signature
from recuse.scalars.numbers import inside, whole_number
from recuse.scalars.rounding import half_away
from recuse.scalars.spelling import cast, spelled
from recuse.scalars.types import (
    FIRST_DAY,
    LAST_DAY,
    MICROSECONDS,
    ORDINARY_DATE,
    ORDINARY_TIMESTAMP,
    Date,
    Null,
    Text,
    Time,
    Timestamp,
    Type,
    whole,
    words,
)

EPOCH = date(1970, 1, 1)
SPAN = LAST_DAY - FIRST_DAY
HINT = "cast it: CAST(x AS DATE)"


def moment(arguments: Sequence[Expression], place: int) -> Date | Timestamp:
    """Return the type of an argument that must be a date or a timestamp."""
    kind = arguments[place].type
    if isinstance(kind, Date | Timestamp):
        return kind
    if isinstance(kind, Null):
        return Date()
    raise Mistyped(f"this is {words(kind)}, and a date or timestamp is needed", HINT, place)


def day_of(value: int, kind: Type) -> date | None:
    """Return the day of a date or timestamp, None outside of the years 1 to 9999."""
    days = value if isinstance(kind, Date) else value // MICROSECONDS
    return EPOCH + timedelta(days=days) if FIRST_DAY <= days <= LAST_DAY else None


def rest_of(value: int, kind: Type) -> int:
    """Return the microseconds since midnight."""
    return 0 if isinstance(kind, Date) else value % MICROSECONDS


# ------------------------------------------------------------------ fields

Field = tuple[str, int, int, Callable[[date, int], int], str]
"""DuckDB's function, the bounds, the meaning of a day and its microseconds, and in words"""


def _sunday_first(day: date) -> int:
    return day.isoweekday() % 7


FIELDS: dict[str, Field] = {
    "year": ("year", 1, 9999, lambda d, _: d.year, "The year."),
    "quarter": ("quarter", 1, 4, lambda d, _: (d.month + 2) // 3, "The quarter, 1 to 4."),
    "month": ("month", 1, 12, lambda d, _: d.month, "The month, 1 to 12."),
    "day": ("day", 1, 31, lambda d, _: d.day, "The day of the month."),
    "dayofweek": ("dayofweek", 0, 6, lambda d, _: _sunday_first(d), "The day of the week, Sunday is 0."),
    "isodow": ("isodow", 1, 7, lambda d, _: d.isoweekday(), "The day of the week, Monday is 1, Sunday is 7."),
    "dayofyear": ("dayofyear", 1, 366, lambda d, _: d.timetuple().tm_yday, "The day of the year."),
    "week": ("week", 1, 53, lambda d, _: d.isocalendar().week, "The week of the ISO year."),
    "isoyear": (
        "isoyear",
        1,
        9999,
        lambda d, _: d.isocalendar().year,
        "The ISO year, to which the week belongs.",
    ),
    "yearweek": (
        "yearweek",
        101,
        999_953,
        lambda d, _: d.isocalendar().year * 100 + d.isocalendar().week,
        "ISO year and week, such as 202601.",
    ),
    "century": ("century", 1, 100, lambda d, _: (d.year + 99) // 100, "The century."),
    "decade": ("decade", 0, 999, lambda d, _: d.year // 10, "The year divided by ten."),
    "millennium": ("millennium", 1, 10, lambda d, _: (d.year + 999) // 1000, "The millennium."),
    "hour": ("hour", 0, 24, lambda _, r: r // 3_600_000_000, "The hour."),
    "minute": ("minute", 0, 59, lambda _, r: r // 60_000_000 % 60, "The minute."),
    "second": ("second", 0, 59, lambda _, r: r // 1_000_000 % 60, "The whole second."),
    "millisecond": (
        "millisecond",
        0,
        59_999,
        lambda _, r: r // 1_000 % 60_000,
        "The milliseconds of the minute.",
    ),
    "microsecond": (
        "microsecond",
        0,
        59_999_999,
        lambda _, r: r % 60_000_000,
        "The microseconds of the minute.",
    ),
}
_WRITTEN = {
    "year": "years yr yrs y",
    "quarter": "quarters",
    "month": "months mon mons",
    "day": "days dayofmonth d",
    "dayofweek": "dow weekday",
    "isodow": "dayofweekiso dayofweek_iso",
    "dayofyear": "doy",
    "week": "weeks weekofyear weekiso w",
    "decade": "decades dec decs",
    "century": "centuries cent c",
    "millennium": "millenniums millennia mil mils",
    "hour": "hours hr hrs h",
    "minute": "minutes min mins m",
    "second": "seconds sec secs s",
    "millisecond": "milliseconds ms msec msecs",
    "microsecond": "microseconds us usec usecs",
}
ALIASES = {alias: name for name, written in _WRITTEN.items() for alias in written.split()}
"""Other names of fields and units, and what they are called here."""
CLOCK_FIELDS = frozenset({"hour", "minute", "second", "millisecond", "microsecond"})


def _field(name: str) -> Function:
    function, low, high, meaning, about = FIELDS[name]

    def signature(arguments: Sequence[Expression]) -> Signature:
        if isinstance(arguments[0].type, Time) and name in CLOCK_FIELDS:
            return Signature((Time(),), whole(low, high))
        return Signature((moment(arguments, 0),), whole(low, high))

    def value(call: Call, operand: int) -> int | None:
        kind = call.arguments[0].type
        if isinstance(kind, Time):
            return meaning(EPOCH, operand)
        day = day_of(operand, kind)
        return None if day is None else meaning(day, rest_of(operand, kind))

    def form(call: Call, operand: str) -> str:
        kind = call.arguments[0].type
        if not isinstance(kind, Time):
            operand = ordinary(operand, kind)
            if isinstance(kind, Date) and name in CLOCK_FIELDS:
                operand = cast(operand, "TIMESTAMP")
        return cast(f"{function}({operand})", spelled(call.type))

    written = f"extract({name} FROM x), date_part('{name}', x)"
    return Function(name, f"{name}(x), {written}", about, signature, value, form)


def days_of(year: int, month: int, day: int) -> int:
    """Return the days since 1970 of a day of any year: the calendar repeats every 400 years."""
    cycles, inside = divmod(year - 2000, 400)
    return (date(2000 + inside, month, day) - EPOCH).days + cycles * 146_097


# ------------------------------------------------------------------ names and parts


def _named(function: str, names: Sequence[str], about: str, place: Callable[[date], int]) -> Function:
    def value(call: Call, operand: int) -> str | None:
        day = day_of(operand, call.arguments[0].type)
        return None if day is None else names[place(day)]

    return Function(
        function,
        f"{function}(x)",
        about,
        lambda arguments: Signature((moment(arguments, 0),), Text(max(map(len, names)))),
        value,
        lambda call, x: f"{function}({ordinary(x, call.arguments[0].type)})",
    )


WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


def _last_day(call: Call, operand: int) -> int | None:
    day = day_of(operand, call.arguments[0].type)
    return None if day is None else days_of(day.year, day.month, monthrange(day.year, day.month)[1])


def _made(arguments: Sequence[Expression]) -> Signature:
    return Signature(tuple(whole_number(arguments, place) for place in range(3)), ORDINARY_DATE)


def _made_value(_: Call, year: int, month: int, day: int) -> int | None:
    try:
        return (date(year, month, day) - EPOCH).days
    except (ValueError, OverflowError):
        return None


def _made_form(call: Call, *operands: str) -> str:
    parts = []
    for sql, argument, (high, width) in zip(
        operands, call.arguments, ((9999, 4), (12, 2), (31, 2)), strict=True
    ):
        held = cast(inside(sql, argument.type, 1, high), spelled(whole(1, high)))
        parts.append(f"lpad({cast(held, 'VARCHAR')}, {width}, '0')")
    written = " || '-' || ".join(parts)
    return f"TRY_CAST(({written}) AS DATE)"


def _microseconds(call: Call, operand: int) -> int | None:
    """Return the microseconds since 1970, of a time those since midnight."""
    kind = call.arguments[0].type
    if isinstance(kind, Time):
        return operand
    day = day_of(operand, kind)
    return None if day is None else (day - EPOCH).days * MICROSECONDS + rest_of(operand, kind)


def _epoch(call: Call, operand: int) -> float | None:
    found = _microseconds(call, operand)
    return None if found is None else float(found) / 1_000_000 + 0.0  # rounded twice, as DuckDB does


def _counted(name: str, about: str, step: int) -> Function:
    """Return a function that counts small units since 1970; halves are rounded away from zero."""
    low, high = (half_away(end, step) for end in (ORDINARY_TIMESTAMP.low, ORDINARY_TIMESTAMP.high))

    def value(call: Call, operand: int) -> int | None:
        found = _microseconds(call, operand)
        return None if found is None else half_away(found, step)

    def form(call: Call, operand: str) -> str:
        return f"{name}({cast(ordinary(operand, call.arguments[0].type), 'TIMESTAMP')})"

    return Function(
        name, f"{name}(x)", about, lambda a: Signature((moment(a, 0),), whole(low, high)), value, form
    )


DATES = (
    *map(_field, FIELDS),
    Function(
        "epoch",
        "epoch(x), extract(epoch FROM x)",
        "The seconds since 1970, as a float.",
        lambda a: Signature((moment(a, 0),), PURE),
        _epoch,
        lambda call, x: (
            f"(epoch({cast(ordinary(x, call.arguments[0].type), 'TIMESTAMP')}) + CAST(0 AS DOUBLE))"
        ),
    ),
    _counted("epoch_ms", "The milliseconds since 1970.", 1_000),
    _counted("epoch_us", "The microseconds since 1970.", 1),
    _named("dayname", WEEKDAYS, "The weekday in English.", _sunday_first),
    _named("monthname", MONTHS, "The month in English.", lambda day: day.month - 1),
    Function(
        "last_day",
        "last_day(x)",
        "The last day of its month.",
        lambda a: Signature((moment(a, 0),), ORDINARY_DATE),
        _last_day,
        lambda call, x: f"last_day({ordinary(x, call.arguments[0].type)})",
    ),
    Function(
        "make_date",
        "make_date(year, month, day)",
        "The date; NULL if there is no such day.",
        _made,
        _made_value,
        _made_form,
    ),
)
