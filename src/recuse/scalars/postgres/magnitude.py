"""Floats in PostgreSQL, where arithmetic fails if a result is too large, or too near to zero.

Sizes are known by interval arithmetic. Where a result could leave what a float holds, its operands are
brought between `SMALL` and `LARGE` first: a float nearer to zero is zero there, one farther away, an infinity
and NaN are NULL. So no operation can overflow or underflow, wherever it is evaluated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from recuse.scalars.expression import Call, Constant, Convert, Expression, Variable
from recuse.scalars.floats import FLOATS
from recuse.scalars.function import Function
from recuse.scalars.postgres.own import FLOAT_QUOTIENT
from recuse.scalars.postgres.spelling import ZERO, cast, stored
from recuse.scalars.spelling import quoted
from recuse.scalars.types import Float, Number

SMALL, LARGE = 1e-60, 1e60
LEAST, MOST = 1e-300, 1e300
"""what results lie between, with room to spare"""
ROUNDING = 2.0**-54
"""a sum that is not zero is no smaller than this part of the smaller operand"""


@dataclass(frozen=True, slots=True)
class Sized:
    """A float's SQL, and between which sizes it lies unless it is zero."""

    sql: str
    low: float
    high: float

    @property
    def is_known(self) -> bool:
        """Whether it lies between sizes at all."""
        return self.low > 0 and self.high < float("inf")

    @property
    def is_moderate(self) -> bool:
        """Whether products and sums of such floats are floats."""
        return self.low >= SMALL and self.high <= LARGE


def moderate(sql: str) -> Sized:
    """Return a float that is zero where it is tiny, and NULL where it is huge or NaN."""
    small, large = (cast(quoted(repr(end)), "double precision") for end in (SMALL, LARGE))
    found = f"(CASE WHEN abs({sql}) < {small} THEN {ZERO} WHEN abs({sql}) <= {large} THEN {sql} END)"
    return Sized(found, SMALL, LARGE)


SizedOperation = Callable[[Sized, Sized], Sized]


def _sum(operator: str) -> SizedOperation:
    return lambda x, y: Sized(
        f"({x.sql} {operator} {y.sql})", min(x.low, y.low) * ROUNDING, (x.high + y.high) * 2
    )


def _product(x: Sized, y: Sized) -> Sized:
    return Sized(f"({x.sql} * {y.sql})", x.low * y.low / 2, x.high * y.high * 2)


def _quotient(x: Sized, y: Sized) -> Sized:
    divisor = f"NULLIF({y.sql}, {ZERO})"
    return Sized(f"({x.sql} / {divisor})", x.low / y.high / 2, x.high / y.low * 2)


def _row(name: str, rows: tuple[Function, ...]) -> Function:
    return next(row for row in reversed(rows) if row.name == name)


OPERATIONS: dict[Function, SizedOperation] = {
    _row("+", FLOATS): _sum("+"),
    _row("-", FLOATS): _sum("-"),
    _row("*", FLOATS): _product,
    FLOAT_QUOTIENT: _quotient,
}
NEGATION = _row("neg", FLOATS)


def arithmetic(expression: Expression, compiled: Callable[[Expression], str]) -> Sized:
    """Return a float with its size; `compiled` writes what is no arithmetic."""
    match expression:
        case Constant(float() as value) if value and abs(value) <= MOST:
            return Sized(compiled(expression), abs(value), abs(value))
        case Convert(operand, Float()) if isinstance(operand.type, Number):
            kind = operand.type
            most = float(max(abs(kind.low), abs(kind.high), 1))
            return Sized(compiled(expression), 10.0**-kind.scale / 2, most * 2)
        case Variable(type=Float()) | Convert(Variable(type=Float()), Float()):
            column = expression.operand if isinstance(expression, Convert) else expression
            if isinstance(column, Variable):  # as it is stored: what is done with it looks at its size first
                return Sized(stored(column), 0.0, float("inf"))
        case Call(function, (operand,)) if function is NEGATION:
            opposite = arithmetic(operand, compiled)
            if not opposite.is_known:
                return Sized(f"(-{compiled(operand)})", 0.0, float("inf"))
            return Sized(f"(-{opposite.sql})", opposite.low, opposite.high)
        case Call(function, arguments) if function in OPERATIONS:
            found = [arithmetic(argument, compiled) for argument in arguments]
            sides = [side if side.is_known else moderate(side.sql) for side in found]
            made = OPERATIONS[function](sides[0], sides[1])
            if made.low >= LEAST and made.high <= MOST:
                return made
            first, second = (side if side.is_moderate else moderate(side.sql) for side in sides)
            return OPERATIONS[function](first, second)
    return Sized(compiled(expression), 0.0, float("inf"))
