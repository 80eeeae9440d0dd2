"""The types that a cast may name."""

from __future__ import annotations

from sqlglot import exp

from recuse.scalars import types
from recuse.scalars.types import Boolean, Date, Float, Text, Time, Timestamp, Type, Uuid, decimal

_DTYPE = exp.DataType.Type
CASTS: dict[exp.DType, Type] = {
    _DTYPE.TINYINT: types.TINYINT,
    _DTYPE.SMALLINT: types.SMALLINT,
    _DTYPE.INT: types.INTEGER,
    _DTYPE.BIGINT: types.BIGINT,
    _DTYPE.INT128: types.EXACT,
    _DTYPE.DOUBLE: Float(),
    _DTYPE.FLOAT: Float(),
    _DTYPE.VARCHAR: Text(),
    _DTYPE.TEXT: Text(),
    _DTYPE.DATE: Date(),
    _DTYPE.TIME: Time(),
    _DTYPE.TIMESTAMP: Timestamp(),
    _DTYPE.TIMESTAMPNTZ: Timestamp(),
    _DTYPE.BOOLEAN: Boolean(),
    _DTYPE.UUID: Uuid(),
}


def cast_target(to: exp.Expr) -> Type | None:
    """Return the type that a cast names, or nothing if it is none of ours."""
    if to.args.get("nested"):
        return None
    if to.this is _DTYPE.DECIMAL:
        sizes = [int(part.name) for part in to.expressions if part.name.isdigit()]
        digits, scale = (sizes + [3, 0][len(sizes) :])[:2] if sizes else (18, 3)
        if len(sizes) == 1:
            scale = 0
        return decimal(digits, scale) if 1 <= digits <= types.DIGITS and 0 <= scale <= digits else None
    return CASTS.get(to.this)
