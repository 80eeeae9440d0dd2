"""Rounding of exact numbers to so many places."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from recuse.scalars.expression import Call, Expression
from recuse.scalars.function import Function, Mistyped, Signature, constant_of
from recuse.scalars.numbers import (
    fits,
    narrowed,
    number,
    scale_of,
    truncated,
    within,
)
from recuse.scalars.spelling import cast, spelled, try_cast
from recuse.scalars.types import DIGITS, SMALLINT, Number, clamped, hull, whole


def places(arguments: Sequence[Expression]) -> int:
    """Return the number of places that round and trunc are given, 0 if none."""
    if len(arguments) < 2:
        return 0
    hint = "write how many places: round(x, 2)"
    found = constant_of(arguments, 1, "the number of places is written down", hint)
    if not isinstance(found, int) or isinstance(found, bool) or not -15 <= found <= 15:
        raise Mistyped("the number of places is a whole number from -15 to 15", hint, 1)
    return found


def half_away(value: int, factor: int) -> int:
    """Return a quotient rounded to the nearest, halves away from zero."""
    quotient, rest = divmod(abs(value), factor)
    quotient += 2 * rest >= factor
    return quotient if value >= 0 else -quotient


def toward_zero(value: int, factor: int) -> int:
    """Return a quotient without its fraction."""
    return truncated(value, factor)


def downward(value: int, factor: int) -> int:
    """Return a quotient rounded down."""
    return value // factor


def upward(value: int, factor: int) -> int:
    """Return a quotient rounded up."""
    return -(-value // factor)


Rounding = Callable[[int, int], int]


def _round_signature(rounding: Rounding) -> Callable[[Sequence[Expression]], Signature]:
    def signature(arguments: Sequence[Expression]) -> Signature:
        kind, wanted = number(arguments, 0), places(arguments)
        if wanted < 0 and rounding is not half_away:
            raise Mistyped("only round takes fewer than 0 places", "write round(x, -2)", 1)
        takes = (kind, SMALLINT)[: len(arguments)]
        if wanted >= kind.scale:
            return Signature(takes, kind)
        factor, unit = 10 ** (kind.scale - wanted), 10 ** max(0, -wanted)
        ends = rounding(kind.low, factor) * unit, rounding(kind.high, factor) * unit
        return Signature(takes, clamped(Number(max(wanted, 0), *ends)))

    return signature


def _round_value(rounding: Rounding) -> Callable[..., int | None]:
    def value(call: Call, operand: int, wanted: int = 0) -> int | None:
        scale = scale_of(call.arguments[0].type)
        if wanted >= scale:
            return operand
        return within(rounding(operand, 10 ** (scale - wanted)) * 10 ** max(0, -wanted))

    return value


def _round_form(call: Call, operand: str, _: str = "") -> str:
    kind, wanted = call.arguments[0].type, places(call.arguments)
    if not isinstance(kind, Number) or wanted >= kind.scale:
        return operand
    if wanted >= 0:
        return cast(operand, spelled(call.type))  # DuckDB rounds halves away from zero, as round does
    if kind.scale:
        # a half is a whole number here, so that the fraction changes nothing
        kind = whole(*(truncated(end, 10**kind.scale) for end in (kind.low, kind.high)))
        operand = cast(f"trunc({operand})", spelled(kind))
    unit = 10**-wanted
    held = hull([kind, whole(kind.low - unit, kind.high + unit)])
    if not fits(held):
        rounded = f"round({cast(operand, 'HUGEINT')}, {wanted})"
        return cast(try_cast(rounded, f"DECIMAL({DIGITS},0)"), "HUGEINT")
    return narrowed(f"round({cast(operand, spelled(held))}, {wanted})", spelled(held), call.type)


def _cut_form(function: str) -> Callable[..., str]:
    def form(call: Call, operand: str, _: str = "") -> str:
        kind, wanted = call.arguments[0].type, places(call.arguments)
        if not isinstance(kind, Number) or wanted >= kind.scale:
            return operand
        argument = operand if wanted == 0 else f"{operand}, {wanted}"
        return cast(f"{function}({argument})", spelled(call.type))

    return form


ROUNDING = (
    Function(
        "round",
        "round(x [, places])",
        "The nearest number of so many places (-15 to 15), halves away from zero.",
        _round_signature(half_away),
        _round_value(half_away),
        _round_form,
    ),
    Function(
        "floor",
        "floor(x)",
        "The largest whole number that is not above x.",
        _round_signature(downward),
        _round_value(downward),
        _cut_form("floor"),
    ),
    Function(
        "ceil",
        "ceil(x), ceiling(x)",
        "The smallest whole number that is not below x.",
        _round_signature(upward),
        _round_value(upward),
        _cut_form("ceil"),
    ),
    Function(
        "trunc",
        "trunc(x [, places])",
        "The number without what lies behind so many places.",
        _round_signature(toward_zero),
        _round_value(toward_zero),
        _cut_form("trunc"),
    ),
)
