"""What compilers for several engines share: which function has which form, and the bounds of arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from recuse.scalars.expression import Call
from recuse.scalars.function import Function
from recuse.scalars.types import BIGINT, Number, hull

SqlForm = Callable[..., str]
"""a call, and the SQL of its arguments → its SQL"""
Bounds = Callable[[list[Number]], Number]
"""the types of a function's arguments → the bounds of its results, whatever their digits"""


def chosen(rows: Iterable[Function], forms: dict[str, SqlForm]) -> dict[Function, SqlForm]:
    """Return the forms of functions, by the rows of a table that have these names."""
    return {row: forms[row.name] for row in rows if row.name in forms}


def numbers(call: Call) -> list[Number]:
    """Return the types of a call's exact numbers."""
    return [argument.type for argument in call.arguments if isinstance(argument.type, Number)]


def is_long(kind: Number) -> bool:
    """Return whether all numbers of a type are whole and fit 64 bits."""
    return kind.scale == 0 and BIGINT.low <= kind.low and kind.high <= BIGINT.high


def sum_bounds(sign: int) -> Bounds:
    """Return the bounds of a sum, or of a difference."""

    def bounds(kinds: list[Number]) -> Number:
        left, right = kinds
        ends = (right.low, right.high) if sign > 0 else (-right.high, -right.low)
        return Number(left.scale, left.low + ends[0], left.high + ends[1])

    return bounds


def product_bounds(kinds: list[Number]) -> Number:
    """Return the bounds of a product."""
    left, right = kinds
    ends = [x * y for x in (left.low, left.high) for y in (right.low, right.high)]
    return Number(left.scale + right.scale, min(ends), max(ends))


def signless_bounds(kinds: list[Number]) -> Number:
    """Return the bounds of a number and its opposite."""
    (kind,) = kinds
    return hull([kind, Number(kind.scale, -kind.high, -kind.low)])
