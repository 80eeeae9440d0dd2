"""Exact numbers: arithmetic in a type that holds every result, or tested before.

A test stands on an *operand*, never around an operation: an optimiser may evaluate the operation alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from recuse.scalars.expression import Call, Constant, Expression
from recuse.scalars.function import Function, Mistyped, Signature, constant_of
from recuse.scalars.spelling import cast, decimal_digits, spelled, try_cast
from recuse.scalars.types import (
    DIGITS,
    LIMIT,
    MOST_SCALE,
    SMALLINT,
    Null,
    Number,
    Type,
    clamped,
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


def _both(arguments: Sequence[Expression]) -> tuple[Number, Number]:
    left, right = number(arguments, 0), number(arguments, 1)
    scale = max(left.scale, right.scale)
    return clamped(rescaled(left, scale)), clamped(rescaled(right, scale))


def _sum_bounds(left: Number, right: Number, sign: int) -> Number:
    ends = (right.low, right.high) if sign > 0 else (-right.high, -right.low)
    return Number(left.scale, left.low + ends[0], left.high + ends[1])


def _adding(sign: int) -> Callable[[Sequence[Expression]], Signature]:
    def signature(arguments: Sequence[Expression]) -> Signature:
        left, right = _both(arguments)
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
    ends = " AND ".join(digits(end, spelled(kind)) for end in (max(low, kind.low), min(high, kind.high)))
    return f"(CASE WHEN {sql} BETWEEN {ends} THEN {sql} END)"


def _within(value: int) -> int | None:
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
    return Signature((left, right), clamped(bounds))


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
    widths = [max(kind.digits, kind.scale) for kind in (first, second)]
    if fits(bounds):
        if sum(widths) > 18 and max(widths) <= 18:
            widths[0] = 19  # else DuckDB stays at 18 digits, and raises
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
    return _within(left * right)


def digits(value: int, held: str) -> str:
    """Return a whole number as a constant of a DuckDB type."""
    return f"CAST('{value}' AS {held})"


def as_float(value: int, kind: Number) -> float:
    """Return the float nearest to a number; DuckDB adds up a HUGEINT's two halves, and rounds twice."""
    if kind.scale or spelled(kind) != "HUGEINT":
        return float(value / 10**kind.scale)
    upper, lower = divmod(value, 2**64)
    return -float(2**64 - 1 - lower) - 1 if upper == -1 else float(lower) + float(upper) * 2.0**64


# ------------------------------------------------------------------ whole division


def _dividing(arguments: Sequence[Expression]) -> Signature:
    left, right = whole_number(arguments, 0), whole_number(arguments, 1)
    most = max(abs(left.low), abs(left.high))
    return Signature((left, right), whole(-most, most))


def _remaining(arguments: Sequence[Expression]) -> Signature:
    left, right = _both(arguments)
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
        both = hull([first, second])
        wide = hull([both, Number(both.scale, -both.high, -both.low)])  # the least one divided by -1, too
        held = spelled(wide)
        right = held_as(call, 1, right, held)
        nothing = cast("0", held)
        return narrowed(
            f"({held_as(call, 0, left, held)} {operator} {divisor(call, right, nothing)})", held, call.type
        )

    return form


def truncated(left: int, right: int) -> int:
    """Return a quotient without its fraction."""
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _quotient(_: Call, left: int, right: int) -> int | None:
    return None if right == 0 else truncated(left, right)


def _remainder(_: Call, left: int, right: int) -> int | None:
    return None if right == 0 else left - right * truncated(left, right)


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


# ------------------------------------------------------------------ rounding


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
        return _within(rounding(operand, 10 ** (scale - wanted)) * 10 ** max(0, -wanted))

    return value


def scale_of(kind: Type) -> int:
    """Return the decimal places of a number."""
    return kind.scale if isinstance(kind, Number) else 0


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


# ------------------------------------------------------------------ buckets


def _bucketing(arguments: Sequence[Expression]) -> Signature:
    hint = "write width_bucket(x, 0, 100, 10)"
    kinds = [number(arguments, place) for place in range(3)]
    low, high = (constant_of(arguments, place, "the ends are written down", hint) for place in (1, 2))
    buckets = constant_of(arguments, 3, "the number of buckets is written down", hint)
    if not isinstance(buckets, int) or isinstance(buckets, bool) or not 1 <= buckets <= 100_000:
        raise Mistyped("the number of buckets is a whole number from 1 to 100,000", hint, 3)
    same = hull(kinds)
    first, last = (
        end * 10 ** (same.scale - kind.scale) for end, kind in zip((low, high), kinds[1:], strict=True)
    )
    steps = max(abs(first), abs(last), last - first) * buckets * 10**same.scale
    if first >= last or steps > LIMIT or not fits(same):
        raise Mistyped("the buckets go up, between numbers that are not too long", hint)
    return Signature((same, same, same, whole(buckets, buckets)), whole(0, buckets + 1))


def _bucket(_: Call, value: int, low: int, high: int, buckets: int) -> int:
    if value < low:
        return 0
    return buckets + 1 if value >= high else (value - low) * buckets // (high - low) + 1


def _bucket_form(call: Call, value: str, low: str, high: str, _: str) -> str:
    """Return the bucket in exact granules: of a value that is NULL outside, so that no product overflows."""
    first, last, count = (constant_of(call.arguments, place, "") for place in (1, 2, 3))
    scale, given = scale_of(call.arguments[0].type), spelled(call.type)
    wide = spelled(whole(min(first, 0), max(abs(first), abs(last), last - first) * count * 10**scale))
    inner = f"(CASE WHEN {value} >= {low} AND {value} < {high} THEN {value} END)"
    if scale:
        held = f"DECIMAL({max(len(str(max(abs(first), abs(last)))), scale, 19)},{scale})"
        inner = f"({cast(inner, held)} * {digits(10**scale, f'DECIMAL({scale + 1},0)')})"
    offset = f"({cast(inner, wide)} - {digits(first, wide)})"
    place = f"(({offset} * {digits(count, wide)}) // {digits(last - first, wide)})"
    middle = f"({cast(place, given)} + {digits(1, given)})"
    ends = (
        f"WHEN {value} < {low} THEN {digits(0, given)} WHEN {value} >= {high} THEN {digits(count + 1, given)}"
    )
    return f"(CASE {ends} ELSE {middle} END)"


BUCKETS = (
    Function(
        "width_bucket",
        "width_bucket(x, low, high, n)",
        "Which of n equal buckets between low and high it lies in; 0 below, n + 1 above.",
        _bucketing,
        _bucket,
        _bucket_form,
    ),
)


NUMBERS = (
    Function("+", "x + y", "The sum.", _adding(1), lambda _, x, y: _within(x + y), _sum_form(1)),
    Function("-", "x - y", "The difference.", _adding(-1), lambda _, x, y: _within(x - y), _sum_form(-1)),
    Function("*", "x * y", "The product.", _multiplying, _product, _product_form),
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
    Function("neg", "-x", "The opposite.", _negating, lambda _, x: -x, _sign_form("(-{})")),
    Function(
        "abs", "abs(x)", "The number without its sign.", _signless, lambda _, x: abs(x), _sign_form("abs({})")
    ),
    Function("sign", "sign(x)", "-1, 0 or 1.", _signum, lambda _, x: (x > 0) - (x < 0), _signum_form),
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
