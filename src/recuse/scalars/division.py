"""Whole division: divisors are NULL where they would be zero."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from recuse.scalars.expression import Call, Constant, Expression
from recuse.scalars.function import Function, Signature
from recuse.scalars.numbers import (
    both,
    held_as,
    narrowed,
    truncated,
    whole_number,
)
from recuse.scalars.spelling import cast, spelled
from recuse.scalars.types import Number, hull, whole


def _dividing(arguments: Sequence[Expression]) -> Signature:
    left, right = whole_number(arguments, 0), whole_number(arguments, 1)
    most = max(abs(left.low), abs(left.high))
    return Signature((left, right), whole(-most, most))


def _remaining(arguments: Sequence[Expression]) -> Signature:
    left, right = both(arguments)
    most = max(abs(right.low), abs(right.high), 1) - 1
    low = -min(most, -left.low) if left.low < 0 else 0
    high = min(most, left.high) if left.high > 0 else 0
    return Signature((left, right), Number(left.scale, low, high))


def divisor(call: Call, sql: str, zero: str) -> str:
    """Return a divisor that is NULL where it would be zero."""
    kind = call.arguments[1].type
    if isinstance(call.arguments[1], Constant) and call.arguments[1].value:
        return sql
    if isinstance(kind, Number) and not kind.low <= 0 <= kind.high:
        return sql
    return f"(CASE WHEN {sql} = {zero} THEN NULL ELSE {sql} END)"


def _whole_form(operator: str) -> Callable[..., str]:
    def form(call: Call, left: str, right: str) -> str:
        first, second = (argument.type for argument in call.arguments)
        if not isinstance(first, Number) or not isinstance(second, Number):
            raise TypeError("numbers are divided")
        same = hull([first, second])
        wide = hull([same, Number(same.scale, -same.high, -same.low)])  # the least one divided by -1, too
        held = spelled(wide)
        right = held_as(call, 1, right, held)
        nothing = cast("0", held)
        return narrowed(
            f"({held_as(call, 0, left, held)} {operator} {divisor(call, right, nothing)})", held, call.type
        )

    return form


def _quotient(_: Call, left: int, right: int) -> int | None:
    return None if right == 0 else truncated(left, right)


def _remainder(_: Call, left: int, right: int) -> int | None:
    return None if right == 0 else left - right * truncated(left, right)


DIVISION = (
    Function(
        "//",
        "x // y",
        "The quotient of whole numbers without its fraction; NULL if y = 0.",
        _dividing,
        _quotient,
        _whole_form("//"),
    ),
    Function(
        "%",
        "x % y, mod(x, y)",
        "What the whole division leaves, with the sign of x; NULL if y = 0.",
        _remaining,
        _remainder,
        _whole_form("%"),
    ),
)
