"""Functions that Spark has under a name of SQL, and that mean something else than elsewhere.

No question can write the names they have here: `sql.spark` puts them where Spark means them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from recuse.scalars.expression import Call, Expression
from recuse.scalars.floats import PURE
from recuse.scalars.function import SPARK, Function, Mistyped, Signature
from recuse.scalars.integers import all_known, is_integer
from recuse.scalars.numbers import number
from recuse.scalars.postgres.own import none
from recuse.scalars.postgres.quotients import PLAIN
from recuse.scalars.rounding import toward_zero
from recuse.scalars.text import TEXT
from recuse.scalars.types import Float, Null, Number

# ------------------------------------------------------------------ numbers


def _dividing(arguments: Sequence[Expression]) -> Signature:
    """Return the signature of a quotient: of integers and floats it is a float."""
    exact = [argument for argument in arguments if not isinstance(argument.type, Float | Null)]
    floats = len(exact) < len(arguments)
    if not floats and all_known(map(is_integer, exact)) is not True:
        hint = "cast one of them: CAST(x AS DOUBLE) / y"
        raise Mistyped("a quotient of decimals is not computed as Spark rounds it", hint)
    return PLAIN.signature(arguments)


def _cutting(arguments: Sequence[Expression]) -> Signature:
    """Return the signature of what a cast to whole numbers does first: numbers lose their fraction."""
    kind = arguments[0].type
    if isinstance(kind, Float):
        return Signature((PURE,), PURE)
    if isinstance(kind, Number) and kind.scale:
        held = number(arguments, 0)
        factor = 10**held.scale
        return Signature((held,), Number(0, toward_zero(held.low, factor), toward_zero(held.high, factor)))
    return Signature((kind,), kind)


def _cut(call: Call, value: object) -> object:
    kind = call.arguments[0].type
    if isinstance(kind, Float) and isinstance(value, float):
        return value if math.isinf(value) else float(math.trunc(value)) + 0.0
    if isinstance(kind, Number) and kind.scale and isinstance(value, int):
        return toward_zero(value, 10**kind.scale)
    return value


# ------------------------------------------------------------------ text


def _piece(name: str, value: Callable[..., object]) -> Function:
    row = next(row for row in TEXT if row.name == name)
    return replace(row, name=f"{SPARK}{name}", value=value, duckdb=none, inner=True)


def _substring(_: Call, operand: str, start: int, length: int | None = None) -> str:
    begin = start - 1 if start > 0 else len(operand) + start if start < 0 else 0
    if length is None:
        return operand[max(begin, 0) :]
    return operand[max(begin, 0) : max(begin + length, 0)] if length > 0 else ""


def _left(_: Call, operand: str, count: int) -> str:
    return operand[: max(count, 0)]


def _right(_: Call, operand: str, count: int) -> str:
    return operand[max(len(operand) - max(count, 0), 0) :]


QUOTIENT = replace(PLAIN, name=f"{SPARK}/", signature=_dividing, duckdb=none, inner=True, raw=False)
CUT = Function(
    f"{SPARK}trunc", "CAST(x AS BIGINT)", "Without its fraction.", _cutting, _cut, none, inner=True
)
SPARK_OWN: tuple[Function, ...] = (
    QUOTIENT,
    CUT,
    _piece("substring", _substring),
    _piece("left", _left),
    _piece("right", _right),
)
"""Spark's functions, in the order in which overloads are tried"""
