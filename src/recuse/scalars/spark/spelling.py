"""How Spark spells types and constants, and how a stored value is read.

Whole numbers of 64 bits are BIGINT, all other exact numbers decimals that are just wide enough.
"""

from __future__ import annotations

import math

from recuse.scalars import types
from recuse.scalars.expression import Constant, Value, Variable
from recuse.scalars.forms import is_long
from recuse.scalars.function import Mistyped
from recuse.scalars.spelling import cast, day_text, decimal_digits, moment_text, try_cast

LONGEST = 2**24
"""Bytes of stored text that functions look at; longer text is NULL to them."""
ZERO, NAN = "CAST('0' AS DOUBLE)", "CAST('NaN' AS DOUBLE)"
NOTHING = "CAST(NULL AS DOUBLE)"
ZONED = "TIMESTAMP IN UTC"
"""how the catalogue spells Spark's TIMESTAMP, which is shown in the session's zone"""
ENGINE_TYPES: dict[type, str] = {
    types.Float: "DOUBLE",
    types.Text: "STRING",
    types.Null: "STRING",
    types.Boolean: "BOOLEAN",
    types.Date: "DATE",
    types.Timestamp: "TIMESTAMP_NTZ",
}


def engine_type(kind: types.Type) -> str:
    """Return the Spark type of an expression's values.

    >>> engine_type(types.Number(0, 0, 200)), engine_type(types.Number(2, 0, 99999))
    ('BIGINT', 'DECIMAL(5,2)')
    """
    match kind:
        case types.Number():
            return "BIGINT" if is_long(kind) else decimal_type(kind)
        case types.Opaque():
            return kind.spelled
        case types.Time() | types.Uuid():
            raise Mistyped(f"{types.words(kind)} is not asked of Spark", "leave it out")
    return ENGINE_TYPES[type(kind)]


def width(kind: types.Number) -> int:
    """Return how many digits Spark needs for the numbers of a type."""
    return min(max(kind.digits, kind.scale, 1), types.DIGITS)


def decimal_type(kind: types.Number) -> str:
    """Return the decimals that are just wide enough for a type."""
    return f"DECIMAL({width(kind)},{kind.scale})"


def quoted(text: str) -> str:
    """Return text as a string of Spark's SQL: what means something in one is written by its number.

    >>> quoted("it's ${x}")
    "'it\\\\u0027s \\\\u0024{x}'"
    """
    return "'" + "".join(map(_letter, text)) + "'"


def _letter(letter: str) -> str:
    code = ord(letter)
    if 0xD800 <= code < 0xE000:
        raise Mistyped(f"{code:x} is not asked of Spark", "leave it out")
    if letter in "'\"\\$" or not 32 <= code < 127:
        return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
    return letter


# ------------------------------------------------------------------ constants


def constant(found: Constant) -> str:
    """Return a constant whose Spark type is exactly that of its type."""
    if found.value is None:
        return cast("NULL", engine_type(found.type))
    if isinstance(found.type, types.Boolean):
        return "TRUE" if found.value else "FALSE"
    if isinstance(found.type, types.Text):
        return quoted(str(found.value))
    return cast(quoted(_written(found.value, found.type)), engine_type(found.type))


def _written(value: Value, kind: types.Type) -> str:
    match kind, value:
        case types.Number(), int():
            return decimal_digits(value, kind.scale)
        case types.Float(), float():
            return repr(value) if math.isfinite(value) else _named(value)
        case types.Date(), int() if types.FIRST_DAY <= value <= types.LAST_DAY:
            return day_text(value)
        case types.Timestamp(), int() if types.FIRST_DAY <= value // types.MICROSECONDS <= types.LAST_DAY:
            return moment_text(value)
        case ((types.Date() | types.Timestamp()), _):
            raise Mistyped("this lies outside of the years 1 to 9999", "write another date")
    raise Mistyped(f"{types.words(kind)} is not asked of Spark", "leave it out")


def _named(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


# ------------------------------------------------------------------ stored values


def named(column: Variable) -> str:
    """Return a column as it is written: `source`.`name`."""
    return ".".join("`" + part.replace("`", "``") + "`" for part in (column.source, column.name) if part)


def stored(column: Variable) -> str:
    """Return a stored value in the Spark type of its type.

    A decimal of more digits than its type declares is NULL: a file may hold one, and no type hinders it.
    """
    sql, spelled = named(column), column.stored.upper()
    if isinstance(column.type, types.Opaque) or not spelled:
        return sql
    if isinstance(column.type, types.Float):
        return f"({sql if spelled == 'DOUBLE' else cast(sql, 'DOUBLE')} + {ZERO})"
    if isinstance(column.type, types.Number):
        if spelled.startswith("DECIMAL"):
            return _as_declared(sql, column.type)
        return sql if spelled == "BIGINT" else cast(sql, "BIGINT")
    return try_cast(sql, "TIMESTAMP_NTZ") if spelled == ZONED else sql


def _as_declared(sql: str, kind: types.Number) -> str:
    ends = (
        cast(quoted(decimal_digits(end, kind.scale)), decimal_type(kind)) for end in (kind.low, kind.high)
    )
    low, high = ends
    found = f"(CASE WHEN {sql} >= {low} AND {sql} <= {high} THEN {sql} END)"
    return try_cast(found, "BIGINT") if is_long(kind) else found


def whole_text(sql: str) -> str:
    """Return stored text, NULL if it is so long that a function could run out of memory."""
    return f"(CASE WHEN octet_length({sql}) <= {LONGEST} THEN {sql} END)"
