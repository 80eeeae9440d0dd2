"""What expressions mean in PostgreSQL, in Python: the judge of the fuzz of its compiler.

Where the meaning hangs on PostgreSQL itself (letters beyond ASCII, floats as text, floats far from 1) a value
is UNSURE: then only that nothing raises is checked.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from typing import Any

from recuse.scalars import convert, literals, types
from recuse.scalars.evaluate import step
from recuse.scalars.expression import Call, Convert, Value
from recuse.scalars.postgres.compiler import ARITHMETIC
from recuse.scalars.postgres.convert import _BLANKS, PATTERNS
from recuse.scalars.postgres.moments import FARTHEST
from recuse.scalars.postgres.spelling import is_padded
from recuse.scalars.types import Boolean, Date, Float, Number, Text, Time, Timestamp, Uuid

UNSURE: Any = object()
_TRANSCENDENTAL = frozenset({"exp", "ln", "log10"})
_LETTERS = frozenset({"lower", "upper", "ilike"})


def _tame(value: Value) -> bool:
    return not isinstance(value, float) or value == 0 or 1e-60 <= abs(value) <= 1e60


def meaning(expression: Convert | Call, values: Sequence[Value]) -> Value:
    """Return the value of an operation from those of its operands, UNSURE where only PostgreSQL knows."""
    if any(value is UNSURE for value in values):
        return UNSURE
    if isinstance(expression, Convert):
        return _converted(values[0], expression.operand.type, expression.type)
    name = expression.function.name
    if name in _TRANSCENDENTAL:
        return None if values[0] is None else UNSURE
    if name in _LETTERS and any(isinstance(v, str) and not v.isascii() for v in values):
        return UNSURE
    if (
        name in ("like", "ilike", "pg regexp_matches")
        and is_padded(expression.arguments[0])
        and values[0] is not None
    ):
        values = [str(values[0]).ljust(5), *values[1:]]
    floats = [v for v, a in zip(values, expression.arguments, strict=True) if isinstance(a.type, Float)]
    if expression.function in ARITHMETIC or name in ("floor", "ceil", "trunc", "sqrt", "pg round", "single"):
        if not all(map(_tame, floats)):
            return UNSURE
        found = step(expression, values, convert_nothing)
        bounded = name != "single" or found is None or found == 0 or 1e-37 <= abs(float(found)) <= 3e38
        return found if _tame(found) and bounded else UNSURE
    if name == "*" and None not in values:  # DuckDB stops a little short of 38 digits
        found = int(values[0]) * int(values[1])
        return found if abs(found) <= types.LIMIT else None
    if name in ("+", "-") and isinstance(expression.type, Date):
        moved = next(
            v for v, a in zip(values, expression.arguments, strict=True) if isinstance(a.type, Number)
        )
        if moved is not None and (int(moved) if name == "+" else -int(moved)) < -FARTHEST:
            return None
    return step(expression, values, convert_nothing)


def convert_nothing(*_: object) -> Value:
    raise AssertionError("PostgreSQL's readings are above")


def _converted(value: Value, source: types.Type, target: types.Type) -> Value:
    if value is None:
        return None
    match source, target:
        case Text(), (Number() | Float() | Boolean() | Date() | Timestamp() | Time() | Uuid()):
            return _read(str(value), target)
        case Float(), Number():
            return _rounded(float(value), target)
        case Float(), Text():
            return UNSURE
        case ((Date() | Timestamp()), Text()):
            day = int(value) if isinstance(source, Date) else int(value) // types.MICROSECONDS
            if not types.FIRST_DAY <= day <= types.LAST_DAY:
                return UNSURE
        case Number(scale=scale), Float():
            return int(value) / 10**scale
    return convert.value(value, source, target, convert_nothing)


def _rounded(value: float, target: Number) -> Value:
    if not math.isfinite(value) or abs(value) >= 10.0 ** (38 - target.scale):
        return None
    if target.scale == 0 and types.BIGINT.low <= target.low and target.high <= types.BIGINT.high:
        found = round(value)
        inside = types.BIGINT.low <= found <= types.BIGINT.high
    else:
        with localcontext() as wide:
            wide.prec = 400
            found = int((Decimal(f"{value:.15g}").scaleb(target.scale)).quantize(Decimal(1), ROUND_HALF_UP))
        inside = True
    return found if inside and target.low <= found <= target.high else None


def _fits(text: str, pattern: str) -> bool:
    return re.fullmatch(f"{_BLANKS}({PATTERNS[pattern]}){_BLANKS}", text, re.ASCII) is not None


def _read(text: str, target: types.Type) -> Value:
    match target:
        case Number():
            integers = target in (types.SMALLINT, types.INTEGER, types.BIGINT)
            if not _fits(text, "integer" if integers else "number"):
                return None
            exact = Fraction(text.strip()) * 10**target.scale
            found = int(exact + Fraction(1, 2)) if exact >= 0 else -int(-exact + Fraction(1, 2))
            return found if target.low <= found <= target.high else None
        case Float():
            if not _fits(text, "float"):
                return None
            size = abs(Fraction(text.strip()))
            return (
                0.0 if size < Fraction("1e-300") else None if size > Fraction("1e300") else float(text) + 0.0
            )
        case Boolean():
            word = text.strip(" \t\n\r\f\v").lower()
            return word[0] in "ty1" or word == "on" if _fits(text, "boolean") else None
        case Uuid():
            return text.strip().lower() if _fits(text, "uuid") else None
    named = {Date: "date", Timestamp: "timestamp", Time: "time"}[type(target)]
    if not _fits(text, named):
        return None
    return literals.literal(text.strip(" \t\n\r\f\v"), target).value
