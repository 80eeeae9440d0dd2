"""How DuckDB spells types and constants, so that nothing is left for it to convert."""

from __future__ import annotations

import math
from datetime import date, timedelta

from recuse.scalars import types
from recuse.scalars.expression import Constant, Value
from recuse.scalars.types import (
    BIGINT,
    DIGITS,
    HUGEINT,
    INTEGER,
    MICROSECONDS,
    SMALLINT,
    TINYINT,
    Number,
    Type,
)

INTEGERS = {
    "TINYINT": TINYINT,
    "SMALLINT": SMALLINT,
    "INTEGER": INTEGER,
    "BIGINT": BIGINT,
    "HUGEINT": HUGEINT,
}
NAMES: dict[type, str] = {
    types.Float: "DOUBLE",
    types.Text: "VARCHAR",
    types.Boolean: "BOOLEAN",
    types.Date: "DATE",
    types.Timestamp: "TIMESTAMP",
    types.Time: "TIME",
    types.Uuid: "UUID",
    types.Null: "INTEGER",  # what DuckDB takes NULL for
}
CYCLE = 146_097
"""Days of 400 years."""
ZERO, NAN = "CAST(0 AS DOUBLE)", "CAST('NaN' AS DOUBLE)"


def spelled(kind: Type) -> str:
    """Return the DuckDB type of an expression's values: the narrowest that holds them all.

    >>> spelled(Number(0, 0, 200)), spelled(Number(2, 0, 99999))
    ('SMALLINT', 'DECIMAL(5,2)')
    """
    match kind:
        case Number(scale=0):
            return next(name for name, held in INTEGERS.items() if _within(kind, held))
        case Number():
            return f"DECIMAL({min(max(kind.digits, kind.scale), DIGITS)},{kind.scale})"
        case types.Opaque():
            return kind.spelled
    return NAMES[type(kind)]


def _within(inner: Number, outer: Number) -> bool:
    return outer.low <= inner.low and inner.high <= outer.high


def enforced(kind: Number) -> str | None:
    """Return the DuckDB type that holds these numbers and no others, if there is one."""
    for name, held in INTEGERS.items():
        if kind == held:
            return name
    if kind.high == -kind.low and str(kind.high) == "9" * len(str(kind.high)) and kind.digits <= DIGITS:
        return f"DECIMAL({max(kind.digits, kind.scale)},{kind.scale})" if kind.digits >= kind.scale else None
    return None


def cast(sql: str, target: str) -> str:
    """Return a cast that every value survives."""
    return f"CAST({sql} AS {target})"


def try_cast(sql: str, target: str) -> str:
    """Return a cast that gives NULL for a value without counterpart."""
    return f"TRY_CAST({sql} AS {target})"


def quoted(text: str) -> str:
    """Return text as an SQL string.

    >>> quoted("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def constant(found: Constant) -> str:
    """Return a constant whose DuckDB type is exactly that of its type."""
    if found.value is None:
        return cast("NULL", spelled(found.type))
    return _constant(found.value, found.type)


def _constant(value: Value, kind: Type) -> str:
    match kind, value:
        case Number(scale=0), int():
            target = spelled(kind)
            natural = next((name for name, held in _LITERALS.items() if held.low <= value <= held.high), None)
            return str(value) if natural == target and value >= 0 else cast(f"'{value}'", target)
        case Number(), int():
            return cast(f"'{decimal_digits(value, kind.scale)}'", spelled(kind))
        case types.Float(), float():
            return _float(value)
        case types.Boolean(), bool():
            return "TRUE" if value else "FALSE"
        case types.Text(), str():
            return quoted(value)
        case types.Date(), int():
            return cast(quoted(day_text(value)), "DATE")
        case types.Timestamp(), int():
            return cast(quoted(moment_text(value)), "TIMESTAMP")
        case types.Time(), int():
            return cast(quoted(time_text(value)), "TIME")
        case types.Uuid(), str():
            return cast(quoted(value), "UUID")
    raise ValueError(f"no constant of {kind}")


_LITERALS = {"INTEGER": INTEGER, "BIGINT": BIGINT}


def _float(value: float) -> str:
    if math.isnan(value):
        return NAN
    return (
        cast(quoted(repr(value)), "DOUBLE")
        if math.isfinite(value)
        else cast(quoted("Infinity" if value > 0 else "-Infinity"), "DOUBLE")
    )


def decimal_digits(value: int, scale: int) -> str:
    """Return an integer of granules as a decimal.

    >>> decimal_digits(-5, 2)
    '-0.05'
    """
    digits = str(abs(value)).rjust(scale + 1, "0")
    point = len(digits) - scale
    text = f"{digits[:point]}.{digits[point:]}" if scale else digits
    return f"-{text}" if value < 0 else text


def day_text(days: int) -> str:
    """Return a day as DuckDB writes it, of any year: the calendar repeats every 400 years.

    >>> day_text(0), day_text(2_932_897), day_text(-719_163)
    ('1970-01-01', '10000-01-01', '0001-12-31 (BC)')
    """
    cycles, inside = divmod(days, CYCLE)
    found = date(1970, 1, 1) + timedelta(days=inside)
    year = found.year + 400 * cycles
    written = f"{year if year > 0 else 1 - year:04}-{found:%m-%d}"
    return written if year > 0 else f"{written} (BC)"


def time_text(microseconds: int) -> str:
    """Return a time of day as text."""
    seconds, fraction = divmod(microseconds, 1_000_000)
    minutes, second = divmod(seconds, 60)
    hour, minute = divmod(minutes, 60)
    return f"{hour:02}:{minute:02}:{second:02}.{fraction:06}"


def moment_text(microseconds: int) -> str:
    """Return a timestamp as text."""
    days, rest = divmod(microseconds, MICROSECONDS)
    return f"{day_text(days)} {time_text(rest)}"
