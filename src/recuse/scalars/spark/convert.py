"""From one type to another in Spark: every cast is a TRY_CAST, and text is read if it has a known form.

Spark's casts of text take more than that: what else they take is NULL here (docs/reference/spark.md).
"""

from __future__ import annotations

from recuse.scalars.convert import as_text, calendar, cuts, holds
from recuse.scalars.expression import Constant
from recuse.scalars.forms import is_long
from recuse.scalars.function import Mistyped
from recuse.scalars.postgres.convert import PATTERNS
from recuse.scalars.spark.spelling import ZERO, constant, engine_type, quoted, width
from recuse.scalars.spelling import cast, try_cast
from recuse.scalars.types import (
    BIGINT,
    DIGITS,
    INTEGER,
    SMALLINT,
    TINYINT,
    Boolean,
    Date,
    Float,
    Null,
    Number,
    Text,
    Timestamp,
    Type,
    whole,
)

READ = {
    **{name: PATTERNS[name] for name in ("integer", "number", "float", "date", "timestamp")},
    "boolean": "(?i:t|true|y|yes|1|f|false|n|no|0)",
}
"""the text that is read, by what it is read as; spaces may stand around it"""
_NAMES: dict[type, str] = {Boolean: "boolean", Date: "date", Timestamp: "timestamp"}


def spelled_as(sql: str, pattern: str) -> str:
    """Return text without the spaces around it, NULL unless it is spelled as Spark's cast takes it."""
    inside = f"trim({sql})"
    fitting = quoted("^(" + READ[pattern] + ")\\z")
    return f"(CASE WHEN {inside} RLIKE {fitting} THEN {inside} END)"


def between(sql: str, low: str, high: str) -> str:
    """Return a value that is NULL unless it lies between two."""
    return f"(CASE WHEN {sql} >= {low} AND {sql} <= {high} THEN {sql} END)"


def ordinary(sql: str, kind: Type) -> str:
    """Return a date or timestamp that is NULL outside of the years 1 to 9999."""
    ends = calendar(kind)
    return sql if ends is None else between(sql, *(cast(quoted(end), engine_type(kind)) for end in ends))


def form(sql: str, source: Type, target: Type) -> str:
    """Return the SQL that brings a value to a type."""
    match source, target:
        case Null(), _:
            return cast("NULL", engine_type(target))
        case Number(), Number():
            return rescaled(sql, source, target)
        case (Number(), Boolean()) | (Float(), Boolean()):
            return f"({sql} <> {cast(quoted('0'), engine_type(source))})"
        case Float(), Float():
            return f"nanvl({sql}, CAST(NULL AS DOUBLE))" if source.nan and not target.nan else sql
        case Number(), Float():
            return try_cast(sql, "DOUBLE")
        case Float(), Number():
            return _from_float(sql, target)
        case Text(), Number():
            return _from_text(sql, target)
        case Text(), Float():
            return f"({try_cast(spelled_as(sql, 'float'), 'DOUBLE')} + {ZERO})"
        case Text(), (Boolean() | Date() | Timestamp()):
            return try_cast(spelled_as(sql, _NAMES[type(target)]), engine_type(target))
        case Boolean(), Number():
            return rescaled(_one_or_zero(sql, "BIGINT"), whole(0, 1), target)
        case Boolean(), Float():
            return _one_or_zero(sql, "DOUBLE")
        case Float(), Text():
            raise Mistyped("how Spark writes a float depends on its Java", "cast it to DECIMAL(18, 6) first")
        case _, Text():
            return _text(sql, source, target)
        case (Date(), Timestamp()) | (Timestamp(), Date()):
            return try_cast(ordinary(sql, source), engine_type(target))
    return sql


def _one_or_zero(sql: str, target: str) -> str:
    one, nothing = (cast(quoted(n), target) for n in "10")
    return f"(CASE WHEN {sql} THEN {one} WHEN NOT {sql} THEN {nothing} END)"


def _text(sql: str, source: Type, target: Text) -> str:
    written = (
        sql
        if isinstance(source, Text)
        else try_cast(ordinary(sql, source) if isinstance(source, Date | Timestamp) else sql, "STRING")
    )
    return f"left({written}, {target.length})" if cuts(as_text(source), target) else written


def rescaled(sql: str, source: Number, target: Number) -> str:
    """Return a number with other places, halves away from zero; NULL outside of the target's bounds."""
    wanted = engine_type(target)
    if holds(target, source):
        return sql if engine_type(source) == wanted else try_cast(sql, wanted)
    if source.scale > target.scale:
        fewer = max(source.digits, source.scale) - source.scale + target.scale + 1
        sql = try_cast(sql, f"DECIMAL({min(max(fewer, 1), DIGITS)},{target.scale})")
    elif source.scale < target.scale:
        sql = try_cast(sql, f"DECIMAL({DIGITS},{target.scale})")
    return inside(sql, target)


def inside(sql: str, target: Number) -> str:
    """Return an exact number of the target's scale in its Spark type, NULL outside of its bounds."""
    low, high = (constant(Constant(end, target)) for end in (target.low, target.high))
    found = try_cast(sql, engine_type(target))
    whole_type = target == BIGINT or (
        not is_long(target) and target.high == -target.low == 10 ** width(target) - 1
    )
    return found if whole_type else between(found, low, high)


def _from_float(sql: str, target: Number) -> str:
    """Return a float as a number: halves go to even of 64 bits, of decimals away from zero."""
    if is_long(target):
        low, high = (cast(quoted(end), "DOUBLE") for end in (f"{float(-(2**63))!r}", f"{float(2**63)!r}"))
        near = f"rint(CASE WHEN {sql} >= {low} AND {sql} < {high} THEN {sql} END)"
        return inside(near, target)
    return inside(try_cast(sql, f"DECIMAL({DIGITS},{target.scale})"), target)


def _from_text(sql: str, target: Number) -> str:
    integers = target in (TINYINT, SMALLINT, INTEGER, BIGINT)
    read = spelled_as(sql, "integer" if integers else "number")
    return inside(try_cast(read, f"DECIMAL({DIGITS},{target.scale})"), target)
