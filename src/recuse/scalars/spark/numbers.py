"""Forms of functions of exact numbers, floats and truth values.

Exact arithmetic is done in a type that Spark itself makes wide enough: a decimal of p digits and s places
plus one of q digits and t places has max(p - s, q - t) + max(s, t) + 1 digits, their product p + q + 1.
Where that is more than 38, Spark keeps at least six places and fails on what is too large: so a result of
more than six places is refused, and the sizes of others are looked at first, on an operand.
"""

from __future__ import annotations

from collections.abc import Callable

from recuse.scalars.comparisons import COMPARISONS
from recuse.scalars.division import DIVISION
from recuse.scalars.expression import Call
from recuse.scalars.floats import FLOATS
from recuse.scalars.forms import (
    Bounds,
    SqlForm,
    chosen,
    is_long,
    numbers,
    product_bounds,
    signless_bounds,
    sum_bounds,
)
from recuse.scalars.function import Function, Mistyped
from recuse.scalars.logic import LOGIC
from recuse.scalars.numbers import NUMBERS
from recuse.scalars.rounding import ROUNDING, places
from recuse.scalars.spark.convert import rescaled
from recuse.scalars.spark.own import CUT, QUOTIENT
from recuse.scalars.spark.spelling import NOTHING, ZERO, decimal_type, engine_type, quoted, width
from recuse.scalars.spelling import cast, try_cast
from recuse.scalars.types import BIGINT, DIGITS, Float, Number, Type, hull

KEPT_PLACES = 6
"""Decimal places that Spark keeps of a result that could have more than 38 digits."""
ONE_DIGIT = Number(0, -9, 9)
Widths = Callable[[Number, Number], int]
"""how many digits Spark gives a result"""


def _sum_width(left: Number, right: Number) -> int:
    scale = max(left.scale, right.scale)
    return max(width(left) - left.scale, width(right) - right.scale) + scale + 1


def _product_width(left: Number, right: Number) -> int:
    return width(left) + width(right) + 1


def as_decimal(sql: str, kind: Number) -> str:
    """Return a number as a decimal that is just wide enough."""
    return try_cast(sql, decimal_type(kind)) if is_long(kind) else sql


def _exact(operator: str, bounds: Bounds, digits: Widths) -> SqlForm:
    def form(call: Call, left: str, right: str) -> str:
        kinds = numbers(call)
        found = bounds(kinds)
        if is_long(hull([found, *kinds])):
            return f"({left} {operator} {right})"
        sides = [as_decimal(sql, kind) for sql, kind in zip((left, right), kinds, strict=True)]
        if digits(kinds[0], kinds[1]) > DIGITS:
            if found.scale > KEPT_PLACES:
                raise Mistyped(
                    "the result could have more than 38 digits, and Spark would round it",
                    "cast the numbers to fewer digits first: CAST(x AS DECIMAL(12, 2))",
                )
            if not found.is_exact:
                sides[0] = _short_of(sides, operator, found.scale)
        return try_cast(f"({sides[0]} {operator} {sides[1]})", engine_type(call.type))

    return form


def _short_of(sides: list[str], operator: str, scale: int) -> str:
    """Return the first operand, NULL where the result would have more than 38 digits, or nearly."""
    first, second = (try_cast(side, "DOUBLE") for side in sides)
    most = cast(quoted(f"9.9e{DIGITS - 1 - scale}"), "DOUBLE")
    return f"(CASE WHEN abs({first} {operator} {second}) < {most} THEN {sides[0]} END)"


def _opposite(call: Call, operand: str) -> str:
    """Return the opposite as a difference: Spark's own has no more than 34 digits, and fails beyond."""
    (kind,) = numbers(call)
    if is_long(signless_bounds([kind])):
        return f"(- {operand})"
    return _from_zero(operand, kind, engine_type(call.type))


def _from_zero(operand: str, kind: Number, target: str) -> str:
    if kind.scale > KEPT_PLACES and _sum_width(ONE_DIGIT, kind) > DIGITS:
        raise Mistyped(
            "Spark would round the opposite of so many digits",
            "cast the number to fewer digits first: CAST(x AS DECIMAL(12, 2))",
        )
    return try_cast(f"({cast(quoted('0'), decimal_type(ONE_DIGIT))} - {as_decimal(operand, kind)})", target)


def _absolute(call: Call, operand: str) -> str:
    (kind,) = numbers(call)
    if is_long(signless_bounds([kind])):
        return f"abs({operand})"
    target, nothing = engine_type(call.type), cast(quoted("0"), engine_type(kind))
    opposite, same = _from_zero(operand, kind, target), try_cast(operand, target)
    return f"(CASE WHEN {operand} < {nothing} THEN {opposite} ELSE {same} END)"


def _sign(call: Call, operand: str) -> str:
    nothing = cast(quoted("0"), engine_type(call.arguments[0].type))
    above, below, none = (cast(quoted(n), "BIGINT") for n in ("1", "-1", "0"))
    return (
        f"(CASE WHEN {operand} > {nothing} THEN {above} WHEN {operand} < {nothing} THEN {below}"
        f" WHEN {operand} = {nothing} THEN {none} END)"
    )


def _whole(operator: str) -> SqlForm:
    """Return the form of a division of 64 bits: neither by zero, nor the least number by -1."""

    def form(call: Call, left: str, right: str) -> str:
        if not all(map(is_long, numbers(call))):
            raise Mistyped("Spark divides whole numbers of 64 bits only", "cast them: CAST(x AS BIGINT)")
        nothing, less = (cast(quoted(n), "BIGINT") for n in ("0", "-1"))
        divisor = f"(CASE WHEN {right} <> {nothing} THEN {right} END)"
        least = cast(quoted(str(BIGINT.low)), "BIGINT")
        if operator == "div" and numbers(call)[0].low == BIGINT.low:
            left = f"(CASE WHEN {left} > {least} OR {right} <> {less} THEN {left} END)"
        return f"({left} {operator} {divisor})"

    return form


def _to_whole(function: str) -> SqlForm:
    def form(call: Call, operand: str, _: str = "") -> str:
        kind = call.arguments[0].type
        if not isinstance(kind, Number) or not kind.scale:
            return operand
        return try_cast(f"{function}({operand})", engine_type(call.type))

    return form


def _rounded(call: Call, operand: str, _: str = "") -> str:
    kind, wanted = call.arguments[0].type, places(call.arguments)
    if not isinstance(kind, Number) or not isinstance(call.type, Number) or wanted >= kind.scale:
        return operand
    if wanted < 0:
        raise Mistyped("Spark is not asked to round to fewer than 0 places", "write round(x)", 1)
    return rescaled(operand, kind, call.type)


def _cut(call: Call, operand: str) -> str:
    """Return a number without its fraction; Spark has no function for it."""
    kind: Type = call.arguments[0].type
    if isinstance(kind, Float):
        most = cast(quoted("9e15"), "DOUBLE")
        cut = try_cast(try_cast(operand, "BIGINT"), "DOUBLE")
        return f"(CASE WHEN abs({operand}) < {most} THEN {cut} ELSE {operand} END)"
    if not isinstance(kind, Number) or not kind.scale:
        return operand
    nothing = cast(quoted("0"), engine_type(kind))
    cut = f"CASE WHEN {operand} >= {nothing} THEN floor({operand}) ELSE ceil({operand}) END"
    return try_cast(cut, engine_type(call.type))


# ------------------------------------------------------------------ floats


def mended(sql: str) -> str:
    """Return a float that is NULL where it is NaN, zero without a sign."""
    return f"(nanvl({sql}, {NOTHING}) + {ZERO})"


def _of_floats(pattern: str) -> SqlForm:
    def form(_: Call, *operands: str) -> str:
        return mended(pattern.format(*operands))

    return form


_FLOAT_FORMS: dict[str, SqlForm] = {
    "+": _of_floats("({} + {})"),
    "-": _of_floats("({} - {})"),
    "*": _of_floats("({} * {})"),
    "neg": _of_floats("(- {})"),
    "abs": lambda _, x: f"abs({x})",
    "sign": _sign,
    "sqrt": _of_floats("sqrt({})"),
    "exp": _of_floats("exp({})"),
    "ln": _of_floats("ln({})"),
    "log10": _of_floats("log10({})"),
    "log2": _of_floats("log2({})"),
    "isnan": lambda _, x: f"(CASE WHEN {x} IS NOT NULL THEN isnan({x}) END)",
}
NUMBER_FORMS: dict[Function, SqlForm] = {
    **{row: row.duckdb for row in (*COMPARISONS, *LOGIC)},  # plain SQL, the same everywhere
    **chosen(
        NUMBERS,
        {
            "+": _exact("+", sum_bounds(1), _sum_width),
            "-": _exact("-", sum_bounds(-1), _sum_width),
            "*": _exact("*", product_bounds, _product_width),
            "neg": _opposite,
            "abs": _absolute,
            "sign": _sign,
        },
    ),
    **chosen(DIVISION, {"%": _whole("%"), "//": _whole("div")}),
    **chosen(ROUNDING, {"floor": _to_whole("floor"), "ceil": _to_whole("ceil"), "round": _rounded}),
    **chosen(FLOATS, _FLOAT_FORMS),
    QUOTIENT: _of_floats("try_divide({}, {})"),
    CUT: _cut,
}
