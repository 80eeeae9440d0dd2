"""How PostgreSQL spells types and constants, and how a stored value is read.

Whole numbers of 64 bits are `bigint`, all other exact numbers `numeric`, which has room for every sum and
product of numbers of 38 digits: so exact arithmetic needs no test before it, only one after.
"""

from __future__ import annotations

import math

from recuse.scalars import types
from recuse.scalars.expression import Constant, Value, Variable
from recuse.scalars.forms import is_long
from recuse.scalars.function import Mistyped
from recuse.scalars.spelling import day_text, decimal_digits, moment_text, quoted, time_text

LONGEST = 2**24
"""Bytes of stored text that functions look at; longer text is NULL to them: PostgreSQL could fail on it."""
FIRST_YEAR = -4000
"""PostgreSQL's calendar begins in 4714 BC."""
ZERO, NAN = "CAST('0' AS double precision)", "CAST('NaN' AS double precision)"
CHARACTER = "CHARACTER("
"""how a type begins whose values are filled up with spaces"""
ZONED = "TIMESTAMP IN UTC"
WIDE = frozenset({"BIGINT", "DOUBLE PRECISION", "TEXT", "BOOLEAN", "DATE", "UUID"})
"""stored types that are read as they are"""
ENGINE_TYPES: dict[type, str] = {
    types.Float: "double precision",
    types.Text: "text",
    types.Null: "text",
    types.Boolean: "boolean",
    types.Date: "date",
    types.Timestamp: "timestamp",
    types.Time: "time",
    types.Uuid: "uuid",
}


def engine_type(kind: types.Type) -> str:
    """Return the PostgreSQL type of an expression's values.

    >>> engine_type(types.Number(0, 0, 200)), engine_type(types.Number(2, 0, 99999))
    ('bigint', 'numeric')
    """
    match kind:
        case types.Number():
            return "bigint" if is_long(kind) else "numeric"
        case types.Opaque():
            return kind.spelled
        case _:
            return ENGINE_TYPES[type(kind)]


def cast(sql: str, target: str) -> str:
    """Return a cast that every value survives."""
    return f"CAST({sql} AS {target})"


def held(sql: str, kind: types.Type, target: str) -> str:
    """Return a value of a type in a PostgreSQL type that holds it."""
    return sql if engine_type(kind) == target else cast(sql, target)


def shown(sql: str, kind: types.Type) -> str:
    """Return a value as a statement returns it: an exact number says how many decimal places it has."""
    if isinstance(kind, types.Number) and not is_long(kind):
        return cast(sql, f"numeric({types.DIGITS},{kind.scale})")
    return sql


# ------------------------------------------------------------------ constants


def constant(found: Constant) -> str:
    """Return a constant whose PostgreSQL type is exactly that of its type."""
    if found.value is None:
        return cast("NULL", engine_type(found.type))
    if isinstance(found.type, types.Boolean):
        return "TRUE" if found.value else "FALSE"
    return cast(quoted(_written(found.value, found.type)), engine_type(found.type))


def _written(value: Value, kind: types.Type) -> str:
    match kind, value:
        case types.Number(), int():
            return decimal_digits(value, kind.scale)
        case types.Float(), float():
            return repr(value) if math.isfinite(value) else _named(value)
        case ((types.Text() | types.Uuid()), str()):
            if "\0" in value:
                raise Mistyped("PostgreSQL has no text with the character NUL", "leave it out")
            return value
        case types.Date(), int():
            return _in_calendar(day_text(value))
        case types.Timestamp(), int():
            return _in_calendar(moment_text(value))
        case types.Time(), int():
            return time_text(value)
    raise ValueError(f"no constant of {kind}")


def _named(value: float) -> str:
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _in_calendar(written: str) -> str:
    """Return a date as PostgreSQL reads it: BC stands at the end, without brackets."""
    before = " (BC)" in written
    if before and int(written.partition("-")[0]) > -FIRST_YEAR:
        raise Mistyped("PostgreSQL's calendar does not go back that far", "write a later date")
    return written.replace(" (BC)", "") + " BC" if before else written


def number(value: int, kind: types.Number) -> str:
    """Return a number of granules in the PostgreSQL type of a type, which need not hold it."""
    return cast(quoted(decimal_digits(value, kind.scale)), engine_type(kind))


# ------------------------------------------------------------------ stored values


def named(column: Variable) -> str:
    """Return a column as it is written: "source"."name"."""
    return ".".join('"' + part.replace('"', '""') + '"' for part in (column.source, column.name) if part)


def is_padded(column: object) -> bool:
    """Return whether a column's values are filled up with spaces: CHAR(n)."""
    return isinstance(column, Variable) and column.stored.upper().startswith(CHARACTER)


def compared(column: Variable) -> str:
    """Return a stored value as it is compared: of whole numbers as it is, so that an index can be used."""
    whole = isinstance(column.type, types.Number) and column.stored.upper() in ("SMALLINT", "INTEGER")
    return named(column) if whole else stored(column)


def stored(column: Variable) -> str:
    """Return a stored value in the PostgreSQL type of its type.

    A NaN in a `numeric` column is NULL; its values have the digits that it declares otherwise.
    """
    sql, spelled = named(column), column.stored.upper()
    if isinstance(column.type, types.Opaque) or not spelled or spelled in WIDE:
        return sql
    if spelled == ZONED:
        return f"({sql} AT TIME ZONE 'UTC')"
    if isinstance(column.type, types.Number) and spelled.startswith("NUMERIC"):
        return held(f"NULLIF({sql}, CAST('NaN' AS numeric))", _NUMERIC, engine_type(column.type))
    wanted = engine_type(column.type)
    return sql if spelled == f"{wanted} WITHOUT TIME ZONE".upper() else cast(sql, wanted)


_NUMERIC = types.Number(1, 0, 0)


def whole_text(sql: str) -> str:
    """Return stored text, NULL if it is so long that a function could run out of memory."""
    return f"(CASE WHEN octet_length({sql}) <= {LONGEST} THEN {sql} END)"
