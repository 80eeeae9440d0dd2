"""Exact numbers: arithmetic in a type that holds every result, or tested before.

A test stands on an *operand*, never around an operation: an optimiser may evaluate the operation alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from recuse.scalars.expression import Call, Expression
from recuse.scalars.function import Function, Mistyped, Signature
from recuse.scalars.spelling import cast, decimal_digits, spelled, try_cast
from recuse.scalars.types import (
    DIGITS,
    LIMIT,
    MOST_SCALE,
    Null,
    Number,
    Type,
    clamped,
    decimal,
    hull,
    rescaled,
    whole,
    words,
)

NO_SCALE = "the result has more than 30 decimal places"


def number(arguments: Sequence[Expression], place: int) -> Number:
    """Return the type of an argument that must be an exact number."""
    kind = arguments[place].type
    if isinstance(kind, Number):
        return clamped(kind)
    if isinstance(kind, Null):
        return whole(0, 0)
    raise Mistyped(f"this is {words(kind)}, and a number is needed", "cast it: CAST(x AS BIGINT)", place)


def whole_number(arguments: Sequence[Expression], place: int) -> Number:
    """Return the type of an argument that must be a whole number."""
    found = number(arguments, place)
    if found.scale:
        raise Mistyped("a whole number is needed here", "cast it: CAST(x AS BIGINT)", place)
    return found


def fits(kind: Number) -> bool:
    """Return whether all numbers of a type have at most 38 digits."""
    return kind.is_exact


# ------------------------------------------------------------------ plus and minus


def both(arguments: Sequence[Expression]) -> tuple[Number, Number]:
    """Return the types of two numbers at one scale."""
    left, right = number(arguments, 0), number(arguments, 1)
    scale = max(left.scale, right.scale)
    return clamped(rescaled(left, scale)), clamped(rescaled(right, scale))


def _sum_bounds(left: Number, right: Number, sign: int) -> Number:
    ends = (right.low, right.high) if sign > 0 else (-right.high, -right.low)
    return Number(left.scale, left.low + ends[0], left.high + ends[1])


def _adding(sign: int) -> Callable[[Sequence[Expression]], Signature]:
    def signature(arguments: Sequence[Expression]) -> Signature:
        left, right = both(arguments)
        return Signature((left, right), clamped(_sum_bounds(left, right, sign)))

    return signature


def _sum_form(sign: int) -> Callable[..., str]:
    operator = "+" if sign > 0 else "-"

    def form(call: Call, left: str, right: str) -> str:
        kinds = [argument.type for argument in call.arguments]
        first, second = kinds
        if not isinstance(first, Number) or not isinstance(second, Number):
            raise TypeError("numbers are added")
        bounds = _sum_bounds(first, second, sign)
        if first.scale == 0 and fits(bounds):
            held = spelled(hull([bounds, first, second]))
            return narrowed(
                f"({held_as(call, 0, left, held)} {operator} {held_as(call, 1, right, held)})",
                held,
                call.type,
            )
        digits = max(bounds.digits, first.digits + 1, second.digits + 1, first.scale + 1)
        if fits(bounds) and digits <= DIGITS:
            held = f"DECIMAL({digits - 1},{first.scale})"
            sql = f"({held_as(call, 0, left, held)} {operator} {held_as(call, 1, right, held)})"
            return narrowed(sql, f"DECIMAL({digits},{first.scale})", call.type)
        held = "HUGEINT" if first.scale == 0 else f"DECIMAL({DIGITS},{first.scale})"
        left, right = cast(left, held), cast(right, held)
        most = cast(f"'{decimal_digits(LIMIT, first.scale)}'", held)
        least = cast(f"'{decimal_digits(-LIMIT, first.scale)}'", held)
        nothing = cast("0", held)
        up, down = (right, right) if sign > 0 else (f"(-{right})", f"(-{right})")
        tested = (
            f"(CASE WHEN {left} <= {most} - (CASE WHEN {up} > {nothing} THEN {up} ELSE {nothing} END)"
            f" AND {left} >= {least} - (CASE WHEN {down} < {nothing} THEN {down} ELSE {nothing} END)"
            f" THEN {left} END)"
        )
        return narrowed(f"({tested} {operator} {right})", held, call.type)

    return form


def narrowed(sql: str, held: str, kind: Type) -> str:
    """Return an expression in the DuckDB type of its result's type, which holds every value it can have."""
    return sql if spelled(kind) == held else cast(sql, spelled(kind))


def held_as(call: Call, place: int, sql: str, held: str) -> str:
    """Return an argument in a DuckDB type that holds all its values."""
    return sql if spelled(call.arguments[place].type) == held else cast(sql, held)


def inside(sql: str, kind: Type, low: int, high: int) -> str:
    """Return a number that is NULL outside of two ends, which its own type holds."""
    if not isinstance(kind, Number) or (low <= kind.low and kind.high <= high):
        return sql
    if high < kind.low or kind.high < low:
        return cast("NULL", spelled(kind))
    first, last = (digits(end, spelled(kind)) for end in (max(low, kind.low), min(high, kind.high)))
    return f"(CASE WHEN {sql} >= {first} AND {sql} <= {last} THEN {sql} END)"


def within(value: int) -> int | None:
    """Return a number that has at most 38 digits, else None."""
    return value if abs(value) <= LIMIT else None


# ------------------------------------------------------------------ times


def _product_bounds(left: Number, right: Number) -> Number:
    ends = [x * y for x in (left.low, left.high) for y in (right.low, right.high)]
    return Number(left.scale + right.scale, min(ends), max(ends))


def _multiplying(arguments: Sequence[Expression]) -> Signature:
    left, right = number(arguments, 0), number(arguments, 1)
    bounds = _product_bounds(left, right)
    if bounds.scale > MOST_SCALE:
        raise Mistyped(NO_SCALE, "round a factor first: round(x, 2)")
    total = sum(_widths(left, right))
    if bounds.scale and fits(bounds) and bounds.scale <= total <= DIGITS:
        # bounds as wide as DuckDB's type for the product: to narrow 128 bits costs more than to multiply
        return Signature((left, right), decimal(total, bounds.scale))
    return Signature((left, right), clamped(bounds))


def _widths(left: Number, right: Number) -> tuple[int, int]:
    """Return the digits of decimals that are multiplied, wide enough that DuckDB does not overflow."""
    first, second = (max(kind.digits, kind.scale) for kind in (left, right))
    if first + second > 18 and max(first, second) <= 18:
        first = 19  # else DuckDB stays at 18 digits, and raises
    return first, second


def _product_form(call: Call, left: str, right: str) -> str:
    first, second = (argument.type for argument in call.arguments)
    if not isinstance(first, Number) or not isinstance(second, Number):
        raise TypeError("numbers are multiplied")
    bounds = _product_bounds(first, second)
    if bounds.scale == 0:
        if fits(bounds):
            held = spelled(hull([bounds, first, second]))
            return narrowed(
                f"({held_as(call, 0, left, held)} * {held_as(call, 1, right, held)})", held, call.type
            )
        test = f"abs({cast(left, 'DOUBLE')} * {cast(right, 'DOUBLE')}) < CAST('1.5e38' AS DOUBLE)"
        tested = f"(CASE WHEN {test} THEN {cast(left, 'HUGEINT')} END)"
        product = f"({tested} * {cast(right, 'HUGEINT')})"
        return cast(try_cast(product, f"DECIMAL({DIGITS},0)"), "HUGEINT")
    if fits(bounds):
        widths = _widths(first, second)
        held_each = [
            f"DECIMAL({width},{kind.scale})" for width, kind in zip(widths, (first, second), strict=True)
        ]
        given = f"DECIMAL({min(sum(widths), DIGITS)},{bounds.scale})"
        return narrowed(
            f"({held_as(call, 0, left, held_each[0])} * {held_as(call, 1, right, held_each[1])})",
            given,
            call.type,
        )
    most = decimal_digits(99 * 10 ** (DIGITS - 2), bounds.scale)
    test = f"abs({cast(left, 'DOUBLE')} * {cast(right, 'DOUBLE')}) < CAST('{most}' AS DOUBLE)"
    held_each = [f"DECIMAL({DIGITS},{kind.scale})" for kind in (first, second)]
    tested = f"(CASE WHEN {test} THEN {cast(left, held_each[0])} END)"
    return narrowed(
        f"({tested} * {cast(right, held_each[1])})", f"DECIMAL({DIGITS},{bounds.scale})", call.type
    )


def _product(call: Call, left: int, right: int) -> int | None:
    first, second = (argument.type for argument in call.arguments)
    if not isinstance(first, Number) or not isinstance(second, Number):
        raise TypeError("numbers are multiplied")
    bounds = _product_bounds(first, second)
    if bounds.scale and not fits(bounds):
        size = abs(as_float(left, first) * as_float(right, second))
        most = float(decimal_digits(99 * 10 ** (DIGITS - 2), bounds.scale))
        return left * right if size < most else None
    return within(left * right)


def digits(value: int, held: str) -> str:
    """Return a whole number as a constant of a DuckDB type."""
    return f"CAST('{value}' AS {held})"


def as_float(value: int, kind: Number) -> float:
    """Return the float nearest to a number; DuckDB adds up a HUGEINT's two halves, and rounds twice."""
    if kind.scale or spelled(kind) != "HUGEINT":
        return float(value / 10**kind.scale)
    upper, lower = divmod(value, 2**64)
    return -float(2**64 - 1 - lower) - 1 if upper == -1 else float(lower) + float(upper) * 2.0**64


# ------------------------------------------------------------------ signs


def _negating(arguments: Sequence[Expression]) -> Signature:
    kind = number(arguments, 0)
    return Signature((kind,), Number(kind.scale, -kind.high, -kind.low))


def _signless(arguments: Sequence[Expression]) -> Signature:
    kind = number(arguments, 0)
    low = 0 if kind.low <= 0 <= kind.high else min(abs(kind.low), abs(kind.high))
    return Signature((kind,), Number(kind.scale, low, max(abs(kind.low), abs(kind.high))))


def _sign_form(pattern: str) -> Callable[..., str]:
    def form(call: Call, operand: str) -> str:
        kind = call.arguments[0].type
        if not isinstance(kind, Number):
            raise TypeError("numbers have signs")
        held = spelled(hull([kind, Number(kind.scale, -kind.high, -kind.low)]))
        return narrowed(pattern.format(held_as(call, 0, operand, held)), held, call.type)

    return form


def _signum(arguments: Sequence[Expression]) -> Signature:
    return Signature((number(arguments, 0),), whole(-1, 1))


def _signum_form(call: Call, operand: str) -> str:
    nothing = cast("0", spelled(call.arguments[0].type))
    one, less, none = (cast(f"'{n}'", "TINYINT") for n in (1, -1, 0))
    test = f"CASE WHEN {operand} > {nothing} THEN {one} WHEN {operand} < {nothing} THEN {less}"
    return f"({test} WHEN {operand} = {nothing} THEN {none} END)"


def scale_of(kind: Type) -> int:
    """Return the decimal places of a number."""
    return kind.scale if isinstance(kind, Number) else 0


def truncated(left: int, right: int) -> int:
    """Return a quotient without its fraction."""
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


NUMBERS = (
    Function("+", "x + y", "The sum.", _adding(1), lambda _, x, y: within(x + y), _sum_form(1)),
    Function("-", "x - y", "The difference.", _adding(-1), lambda _, x, y: within(x - y), _sum_form(-1)),
    Function("*", "x * y", "The product.", _multiplying, _product, _product_form),
    Function("neg", "-x", "The opposite.", _negating, lambda _, x: -x, _sign_form("(-{})")),
    Function(
        "abs", "abs(x)", "The number without its sign.", _signless, lambda _, x: abs(x), _sign_form("abs({})")
    ),
    Function("sign", "sign(x)", "-1, 0 or 1.", _signum, lambda _, x: (x > 0) - (x < 0), _signum_form),
)
