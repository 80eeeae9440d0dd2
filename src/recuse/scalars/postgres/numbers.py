"""Forms of functions of exact numbers, floats and truth values."""

from __future__ import annotations

from recuse.scalars.bits import BITS
from recuse.scalars.comparisons import COMPARISONS
from recuse.scalars.division import DIVISION
from recuse.scalars.expression import Call, Constant
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
from recuse.scalars.postgres.convert import bounded
from recuse.scalars.postgres.own import INTEGER_QUOTIENT, NUMERIC, QUOTIENT, ROUND, ROUND_FLOAT
from recuse.scalars.postgres.quotients import PLACES
from recuse.scalars.postgres.spelling import ZERO, cast, engine_type, held
from recuse.scalars.rounding import ROUNDING, places
from recuse.scalars.spelling import quoted
from recuse.scalars.types import Number, clamped, hull


def _exact(pattern: str, scales: Bounds) -> SqlForm:
    """Return the form of exact arithmetic: in 64 bits if everything fits them, else in a numeric.

    A numeric has room for every sum and product of numbers of 38 digits; what has more is NULL after it.
    """

    def form(call: Call, *operands: str) -> str:
        kinds = numbers(call)
        bounds = scales(kinds)
        same = [kind for kind in kinds if kind.scale == 0]
        if len(same) == len(kinds) and is_long(hull([bounds, *kinds])):
            return pattern.format(*operands)
        sides = [held(sql, kind, "numeric") for sql, kind in zip(operands, kinds, strict=True)]
        found = pattern.format(*sides)
        if clamped(bounds) != bounds:
            found = bounded(found, clamped(bounds))
        return cast(found, "bigint") if engine_type(call.type) == "bigint" else found

    return form


def _wide(kinds: list[Number]) -> Number:
    """Return the bounds of a quotient, and of the least number divided by -1."""
    return hull([kinds[0], Number(kinds[0].scale, -kinds[0].high, -kinds[0].low), kinds[1]])


def _divisor(call: Call, sql: str, target: str) -> str:
    """Return a divisor that is NULL where it would be zero."""
    written = isinstance(call.arguments[1], Constant) and bool(call.arguments[1].value)
    return sql if written else f"NULLIF({sql}, {cast(quoted('0'), target)})"


def _whole(long: str, wide: str) -> SqlForm:
    def form(call: Call, left: str, right: str) -> str:
        kinds = numbers(call)
        if is_long(_wide(kinds)):
            return long.format(left, _divisor(call, right, "bigint"))
        sides = [held(sql, kind, "numeric") for sql, kind in zip((left, right), kinds, strict=True)]
        found = wide.format(sides[0], _divisor(call, sides[1], "numeric"))
        return cast(found, "bigint") if engine_type(call.type) == "bigint" else found

    return form


def _quotient(call: Call, left: str, right: str) -> str:
    """Return a quotient of exact numbers; how many places each has decides how many the quotient has."""
    sides = []
    for sql, kind in zip((left, right), numbers(call), strict=True):
        sides.append(f"round({held(sql, kind, 'numeric')}, {kind.scale})")
    found = f"round({sides[0]} / {_divisor(call, sides[1], 'numeric')}, {PLACES})"
    if not isinstance(call.type, Number):
        raise TypeError("a quotient of numbers is a number")
    return bounded(found, call.type)


def _sign(call: Call, operand: str) -> str:
    nothing = cast(quoted("0"), engine_type(call.arguments[0].type))
    above, below, none = (cast(quoted(n), "bigint") for n in ("1", "-1", "0"))
    return (
        f"(CASE WHEN {operand} > {nothing} THEN {above} WHEN {operand} < {nothing} THEN {below}"
        f" WHEN {operand} = {nothing} THEN {none} END)"
    )


def _rounded(function: str) -> SqlForm:
    def form(call: Call, operand: str, _: str = "") -> str:
        kind, wanted = call.arguments[0].type, places(call.arguments)
        if not isinstance(kind, Number) or not isinstance(call.type, Number) or wanted >= kind.scale:
            return operand
        exact = held(operand, kind, "numeric")
        found = f"{function}({exact})" if function in ("floor", "ceil") else f"{function}({exact}, {wanted})"
        if not call.type.is_exact or clamped(call.type) != call.type or wanted < 0:
            found = bounded(found, clamped(call.type))
        return cast(found, "bigint") if engine_type(call.type) == "bigint" else found

    return form


def _bits(operator: str) -> SqlForm:
    def form(call: Call, left: str, right: str) -> str:
        if not all(map(is_long, numbers(call))):
            raise Mistyped("PostgreSQL has the bits of integers only", "cast it: CAST(x AS bigint)")
        return f"({left} {operator} {right})"

    return form


# ------------------------------------------------------------------ floats


def _of_float(function: str, inside: str = "") -> SqlForm:
    """Return the form of a function of one float; `inside` is the test of its domain."""

    def form(_: Call, operand: str) -> str:
        tested = f"(CASE WHEN {inside.format(operand)} THEN {operand} END)" if inside else operand
        return f"({function}({tested}) + {ZERO})"

    return form


def _float(value: str) -> str:
    return cast(quoted(value), "double precision")


def _single(_: Call, operand: str) -> str:
    small, large = _float("1e-37"), _float("3e38")
    near = f"CASE WHEN abs({operand}) < {small} THEN {ZERO} WHEN abs({operand}) <= {large} THEN {operand} END"
    return f"({cast(cast(near, 'real'), 'double precision')} + {ZERO})"


_FINITE = f"abs({{0}}) <= {_float('1e300')}"
_OF_FLOATS: dict[str, SqlForm] = {
    "abs": lambda _, x: f"abs({x})",
    "sign": _sign,
    "floor": _of_float("floor", _FINITE),
    "ceil": _of_float("ceil", _FINITE),
    "trunc": _of_float("trunc", _FINITE),
    "pg round": _of_float("round", _FINITE),
    "sqrt": _of_float("sqrt", f"{{0}} BETWEEN {ZERO} AND {_float('1e300')}"),
    "ln": _of_float("ln", f"{{0}} > {ZERO} AND {{0}} <= {_float('1e300')}"),
    "log10": _of_float("log", f"{{0}} > {ZERO} AND {{0}} <= {_float('1e300')}"),
    "exp": _of_float("exp", f"abs({{0}}) <= {_float('600')}"),
    "single": _single,
    "pi": lambda _: "pi()",
}


NUMBER_FORMS: dict[Function, SqlForm] = {
    **{row: row.duckdb for row in (*COMPARISONS, *LOGIC)},  # plain SQL, the same everywhere
    **chosen(
        NUMBERS,
        {
            "+": _exact("({} + {})", sum_bounds(1)),
            "-": _exact("({} - {})", sum_bounds(-1)),
            "*": _exact("({} * {})", product_bounds),
            "neg": _exact("(-{})", signless_bounds),
            "abs": _exact("abs({})", signless_bounds),
            "sign": _sign,
        },
    ),
    **chosen(DIVISION, {"%": _whole("({} % {})", "mod({}, {})"), "//": _whole("({} / {})", "div({}, {})")}),
    **chosen(ROUNDING, {name: _rounded(name) for name in ("floor", "ceil", "trunc")}),
    INTEGER_QUOTIENT: _whole("({} / {})", "div({}, {})"),
    QUOTIENT: _quotient,
    ROUND: _rounded("round"),
    ROUND_FLOAT: _OF_FLOATS["pg round"],
    NUMERIC: lambda _, x: x,
    **chosen(FLOATS, _OF_FLOATS),
    **chosen(BITS, {"&": _bits("&"), "|": _bits("|"), "xor": _bits("#")}),
}
