"""From one type to another: which conversions there are, what they mean, how DuckDB is told.

Casts that can fail give NULL. What text means as a number or a date, and how a float is written as text, is
what the engine says; `Reading` stands for it where the meaning is computed in Python.
"""

from __future__ import annotations

import math
from typing import Protocol

from recuse.scalars.expression import Constant, Value
from recuse.scalars.function import OPAQUE, Mistyped
from recuse.scalars.numbers import as_float
from recuse.scalars.rounding import half_away
from recuse.scalars.spelling import (
    NAN,
    ZERO,
    cast,
    constant,
    day_text,
    decimal_digits,
    enforced,
    moment_text,
    quoted,
    spelled,
    time_text,
    try_cast,
)
from recuse.scalars.types import (
    FIRST_DAY,
    HUGEINT,
    LAST_DAY,
    MICROSECONDS,
    Boolean,
    Date,
    Float,
    Null,
    Number,
    Opaque,
    Text,
    Time,
    Timestamp,
    Type,
    Uuid,
    is_ordinary,
    rescaled,
    words,
)


class TextReading(Protocol):
    """What an engine makes of text, and of floats as text or decimals, one value at a time."""

    def __call__(self, value: Value, source: str, target: str) -> Value:
        """Return the value of a TRY_CAST from one DuckDB type to another."""
        ...


FIRST_MOMENT, LAST_MOMENT = "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"
LENGTHS: dict[type, int] = {Number: 41, Float: 25, Boolean: 5, Date: 20, Timestamp: 40, Time: 15, Uuid: 36}


def as_text(kind: Type) -> Text:
    """Return the type of values of a type when they are written as text."""
    return kind if isinstance(kind, Text) else Text(LENGTHS.get(type(kind)))


def cuts(source: Text, target: Text) -> bool:
    """Return whether text is cut to a length: before it grows, and nowhere else."""
    if target.length is None:
        return False
    return source.length is None or source.length > target.length


def check(source: Type, target: Type) -> None:
    """Say so if values of one type cannot be brought to another."""
    if isinstance(source, Opaque) or not _known(source, target):
        hint = OPAQUE if isinstance(source, Opaque) else "cast to text first: CAST(CAST(x AS VARCHAR) AS …)"
        raise Mistyped(f"{words(source)} cannot become {words(target)}", hint)


def _known(source: Type, target: Type) -> bool:
    match source, target:
        case (Null(), _) | (Text(), _) | (_, Text()):
            return True
        case ((Number() | Float() | Boolean()), (Number() | Float() | Boolean())):
            return True
        case ((Date() | Timestamp()), (Date() | Timestamp())):
            return True
        case Timestamp(), Time():
            return True
    return type(source) is type(target)


# ------------------------------------------------------------------ DuckDB


def between(sql: str, low: str, high: str) -> str:
    """Return whether a value lies between two; BETWEEN would be bound as this, and hide its size."""
    return f"({sql} >= {low} AND {sql} <= {high})"


def calendar(kind: Type) -> tuple[str, str] | None:
    """Return the ends of the years 1 to 9999 as text, None if all values of a type lie between them."""
    if isinstance(kind, Date | Timestamp) and is_ordinary(kind):
        return None
    return ("0001-01-01", "9999-12-31") if isinstance(kind, Date) else (FIRST_MOMENT, LAST_MOMENT)


def ordinary(sql: str, kind: Type) -> str:
    """Return a date or timestamp that is NULL outside of the years 1 to 9999."""
    ends = calendar(kind)
    if ends is None:
        return sql
    low, high = (cast(quoted(end), spelled(kind)) for end in ends)
    return f"(CASE WHEN {between(sql, low, high)} THEN {sql} END)"


def number_or_null(sql: str) -> str:
    """Return a float that is NULL where it is NaN, zero without a sign."""
    return f"(CASE WHEN isnan({sql}) THEN NULL ELSE {sql} + {ZERO} END)"


def one_form(sql: str) -> str:
    """Return a float of one form: one NaN, one zero."""
    return f"(CASE WHEN isnan({sql}) THEN {NAN} ELSE {sql} + {ZERO} END)"


def holds(target: Number, source: Number) -> bool:
    """Return whether a type has all values of another, digit for digit."""
    if source.scale > target.scale:
        return False
    same = rescaled(source, target.scale)
    return target.low <= same.low and same.high <= target.high


def form(sql: str, source: Type, target: Type) -> str:
    """Return the SQL that brings a value to a type."""
    match source, target:
        case Null(), _:
            return cast("NULL", spelled(target))
        case Number(), Number():
            return _number_form(sql, source, target)
        case Number(), Float():
            return cast(sql, "DOUBLE")
        case (Number(), Boolean()) | (Float(), Boolean()):
            return f"({sql} <> {cast('0', spelled(source))})"
        case Float(), Float():
            return number_or_null(sql) if source.nan and not target.nan else sql
        case Float(), Number():
            return into(sql, target)  # to a number NaN has no counterpart
        case Text(), Number():
            return into(sql, target)
        case Text(), Float():
            return number_or_null(try_cast(sql, "DOUBLE"))
        case Boolean(), Number():
            return _number_form(cast(sql, "TINYINT"), Number(0, 0, 1), target)
        case Boolean(), Float():
            return cast(sql, "DOUBLE")
        case _, Text():
            written = sql if isinstance(source, Text) else _text_form(sql, source)
            return f"left({written}, {target.length})" if cuts(as_text(source), target) else written
        case Date(), Timestamp():
            return cast(ordinary(sql, source), "TIMESTAMP")
        case Timestamp(), (Date() | Time()):
            return cast(ordinary(sql, source), spelled(target))
    if type(source) is type(target):
        return sql
    return try_cast(sql, spelled(target))


def _text_form(sql: str, source: Type) -> str:
    written = cast(sql, "VARCHAR")
    if isinstance(source, Number) and source.scale and source.digits <= source.scale:
        return f"replace({written}, '.', '0.')"  # DuckDB writes a DECIMAL(2,2) as .50
    return written


def _number_form(sql: str, source: Number, target: Number) -> str:
    if holds(target, source):
        return sql if spelled(source) == spelled(target) else cast(sql, spelled(target))
    return into(sql, target)


def into(sql: str, target: Number) -> str:
    """Return a cast that enforces the bounds of a type: by the engine's type, else by a test."""
    engine, wanted = enforced(target), spelled(target)
    found = try_cast(sql, engine or wanted)
    if engine is not None:
        return found if engine == wanted else cast(found, wanted)
    low, high = (constant(Constant(end, target)) for end in (target.low, target.high))
    return f"(CASE WHEN {between(found, low, high)} THEN {found} END)"


# ------------------------------------------------------------------ meaning


def value(found: Value, source: Type, target: Type, reading: TextReading) -> Value:
    """Return what a value is in another type, None where it has no counterpart."""
    if found is None:
        return None
    match source, target:
        case Number(), Number():
            return _number_value(int(found), source, target)
        case Number(), Float():
            return as_float(int(found), source)
        case (Number(), Boolean()) | (Float(), Boolean()):
            return found != 0
        case Float(), Float():
            return None if not target.nan and found != found else found
        case Float(), Number():
            return _rounded(float(found), target, reading)
        case Boolean(), Number():
            return _number_value(int(found), Number(0, 0, 1), target)
        case Boolean(), Float():
            return float(found)
        case _, Text():
            written = _written(found, source, reading)
            return written[: target.length] if cuts(as_text(source), target) else written
        case Text(), _:
            return _read(found, source, target, reading)
        case Date(), Timestamp():
            return int(found) * MICROSECONDS if FIRST_DAY <= int(found) <= LAST_DAY else None
        case Timestamp(), (Date() | Time()):
            days, rest = divmod(int(found), MICROSECONDS)
            if not FIRST_DAY <= days <= LAST_DAY:
                return None
            return days if isinstance(target, Date) else rest
    return found


def _written(found: Value, source: Type, reading: TextReading) -> str:
    """Return a value as DuckDB writes it."""
    match source:
        case Boolean():
            return "true" if found else "false"
        case Number(scale=scale):
            return decimal_digits(int(found or 0), scale)
        case Float():
            return str(reading(found, "DOUBLE", "VARCHAR"))
        case Date() | Timestamp() | Time():
            return str(_moment_text(int(found or 0), source, reading))
    return str(found)


def _number_value(found: int, source: Number, target: Number) -> int | None:
    if source.scale > target.scale:
        scaled = half_away(found, 10 ** (source.scale - target.scale))
    else:
        scaled = found * 10 ** (target.scale - source.scale)
    return scaled if target.low <= scaled <= target.high else None


def _rounded(found: float, target: Number, reading: TextReading) -> Value:
    engine = enforced(target) or spelled(target)
    if engine.startswith("DECIMAL"):
        return _inside(reading(found, "DOUBLE", engine), target)
    if not math.isfinite(found) or found <= HUGEINT.low:
        return None
    return _inside(round(found), target)  # halves to even, as DuckDB does


def _inside(found: Value, target: Number) -> Value:
    return found if isinstance(found, int) and target.low <= found <= target.high else None


def _read(found: Value, source: Type, target: Type, reading: TextReading) -> Value:
    engine = (isinstance(target, Number) and enforced(target)) or spelled(target)
    result = reading(found, spelled(source), engine)
    if isinstance(result, float):
        return None if math.isnan(result) else result + 0.0
    return _inside(result, target) if isinstance(target, Number) else result


def _moment_text(found: int, source: Type, reading: TextReading) -> Value:
    days = found if isinstance(source, Date) else found // MICROSECONDS
    if isinstance(source, Time):
        written = time_text(found)
    elif FIRST_DAY <= days <= LAST_DAY:
        written = day_text(found) if isinstance(source, Date) else moment_text(found)
    else:
        return reading(found, spelled(source), "VARCHAR")
    return written if isinstance(source, Date) else written.rstrip("0").removesuffix(".")
