"""Dates, timestamps and times of day; functions of them have a value in the years 1 to 9999 only."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable, Sequence
from datetime import date, timedelta

from recuse.scalars.convert import ordinary
from recuse.scalars.expression import Call, Expression
from recuse.scalars.floats import PURE
from recuse.scalars.function import Function, Mistyped, Signature, constant_of
from recuse.scalars.numbers import inside, whole_number
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


def _rest(value: int, kind: Type) -> int:
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
ALIASES = {
    "years": "year",
    "yr": "year",
    "y": "year",
    "quarters": "quarter",
    "months": "month",
    "mon": "month",
    "days": "day",
    "dayofmonth": "day",
    "d": "day",
    "dow": "dayofweek",
    "weekday": "dayofweek",
    "dayofweekiso": "isodow",
    "dayofweek_iso": "isodow",
    "doy": "dayofyear",
    "weeks": "week",
    "weekofyear": "week",
    "weekiso": "week",
    "hours": "hour",
    "hr": "hour",
    "h": "hour",
    "minutes": "minute",
    "min": "minute",
    "m": "minute",
    "seconds": "second",
    "sec": "second",
    "s": "second",
    "milliseconds": "millisecond",
    "ms": "millisecond",
    "microseconds": "microsecond",
    "us": "microsecond",
    "decades": "decade",
    "centuries": "century",
    "millenniums": "millennium",
    "millennia": "millennium",
}
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
        return None if day is None else meaning(day, _rest(operand, kind))

    def form(call: Call, operand: str) -> str:
        kind = call.arguments[0].type
        if not isinstance(kind, Time):
            operand = ordinary(operand, kind)
            if isinstance(kind, Date) and name in CLOCK_FIELDS:
                operand = cast(operand, "TIMESTAMP")
        return cast(f"{function}({operand})", spelled(call.type))

    written = f"extract({name} FROM x), date_part('{name}', x)"
    return Function(name, f"{name}(x), {written}", about, signature, value, form)


# ------------------------------------------------------------------ units

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
SHIFTS = frozenset({*UNITS, *CLOCKS})


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
        total = (day - EPOCH).days * MICROSECONDS + _rest(operand, kind)
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
    return f"date_trunc('{name}', {cast(ordinary(operand, kind), 'TIMESTAMP')})"


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
        (day - EPOCH).days * MICROSECONDS + _rest(value, kind)
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


# ------------------------------------------------------------------ moving


def _days_signature(sign: int) -> Callable[[Sequence[Expression]], Signature]:
    def signature(arguments: Sequence[Expression]) -> Signature:
        dates, days = (0, 1) if sign < 0 or isinstance(arguments[0].type, Date) else (1, 0)
        kind = arguments[dates].type
        if not isinstance(kind, Date):
            raise Mistyped("days are added to a date", "write date + 3, or timestamp + INTERVAL 3 DAY")
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


def _move_form(sign: int) -> Callable[..., str]:
    def form(call: Call, left: str, right: str) -> str:
        first = isinstance(call.arguments[0].type, Date)
        days, count = (left, right) if first else (right, left)
        kind = call.arguments[0 if first else 1].type
        return f"({ordinary(days, kind)} {'+' if sign > 0 else '-'} {cast(count, 'INTEGER')})"

    return form


def _two_dates(arguments: Sequence[Expression]) -> Signature:
    kinds = [argument.type for argument in arguments]
    if not all(isinstance(kind, Date) for kind in kinds):
        hint = "write date_diff('day', y, x)"
        raise Mistyped("the difference of these is no number of days", hint)
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
    name = unit(arguments, 2, SHIFTS)
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
    rest = _rest(operand, kind)
    if name in CLOCKS:
        return (day - EPOCH).days * MICROSECONDS + rest + count * CLOCKS[name]
    months = day.year * 12 + day.month - 1 + count * UNITS[name]
    year, month = divmod(months, 12)
    last = monthrange(2000 + year % 400, month + 1)[1]
    return days_of(year, month + 1, min(day.day, last)) * MICROSECONDS + rest


def days_of(year: int, month: int, day: int) -> int:
    """Return the days since 1970 of a day of any year: the calendar repeats every 400 years."""
    cycles, inside = divmod(year - 2000, 400)
    return (date(2000 + inside, month, day) - EPOCH).days + cycles * 146_097


def _shift_form(call: Call, operand: str, *_: str) -> str:
    name = unit(call.arguments, 2, SHIFTS)
    count = constant_of(call.arguments, 1, "")
    moved = cast(ordinary(operand, call.arguments[0].type), "TIMESTAMP")
    if name in UNITS:
        count, name = count * UNITS[name], "month"
    return f"({moved} + INTERVAL ({count}) {name.upper()})"


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


def _epoch(call: Call, operand: int) -> float | None:
    kind = call.arguments[0].type
    day = day_of(operand, kind)
    return (
        None if day is None else ((day - EPOCH).days * MICROSECONDS + _rest(operand, kind)) / 1_000_000 + 0.0
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
