"""Binary floats: one NaN, one zero; arithmetic that has no result is NULL.

The forms of + - * / may give NaN or -0.0; `duckdb` mends both once, where a chain of them ends.

It is longer than other files because it is a table: a row for every function.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence

from recuse.scalars.expression import Call, Constant, Expression
from recuse.scalars.function import Function, Mistyped, OtherForm, Signature, fixed
from recuse.scalars.rounding import places
from recuse.scalars.spelling import ZERO, cast
from recuse.scalars.types import SMALLINT, Boolean, Float, Null, Number, whole, words

PURE = Float()


def float_number(arguments: Sequence[Expression], place: int) -> Float:
    """Return the type to which an argument is brought that must be a number."""
    kind = arguments[place].type
    if isinstance(kind, Float | Number | Null):
        return PURE
    raise Mistyped(f"this is {words(kind)}, and a number is needed", "cast it: CAST(x AS DOUBLE)", place)


def _numbers(arguments: Sequence[Expression]) -> Signature:
    return Signature(tuple(float_number(arguments, place) for place in range(len(arguments))), PURE)


def _some_float(arguments: Sequence[Expression]) -> Signature:
    """Return the signature of arithmetic of which one side is a float: exact numbers stay exact."""
    if not any(isinstance(argument.type, Float) for argument in arguments):
        raise OtherForm
    return _numbers(arguments)


def mended(value: float) -> float | None:
    """Return a result: None if there is none, zero without a sign."""
    return None if math.isnan(value) else value + 0.0


def _divided(_: Call, left: float, right: float) -> float | None:
    return None if right == 0 else mended(left / right)


def _divide_form(operator: str) -> Callable[..., str]:
    def form(call: Call, left: str, right: str) -> str:
        if not (isinstance(call.arguments[1], Constant) and call.arguments[1].value):
            right = f"(CASE WHEN {right} = {ZERO} THEN NULL ELSE {right} END)"
        return f"({left} {operator} {right})"

    return form


def _modulo(_: Call, left: float, right: float) -> float | None:
    if right == 0 or math.isinf(left):
        return None
    return mended(math.fmod(left, right))


def plain(operator: str) -> Callable[..., str]:
    """Return the form of an operator between two."""

    def form(_: Call, left: str, right: str) -> str:
        return f"({left} {operator} {right})"

    return form


def _round(call: Call, value: float, _: int = 0) -> float | None:
    found = places(call.arguments)
    return _rounded(value, found)


def _rounded(value: float, wanted: int) -> float | None:
    """Return what DuckDB's round gives: a product, a rounding, a quotient, all in floats."""
    if math.isinf(value):
        return value
    factor = 10.0 ** abs(wanted)
    if wanted >= 0:
        scaled = value * factor
        if math.isinf(scaled):
            return value
        found = _half_away(scaled) / factor
    else:
        found = _half_away(value / factor) * factor
    return value if math.isinf(found) or math.isnan(found) else mended(found)


def _half_away(value: float) -> float:
    if abs(value) >= 2.0**52:
        return value
    low = math.floor(abs(value))
    found = low + (abs(value) - low >= 0.5)
    return math.copysign(found, value)


def _rounding(arguments: Sequence[Expression]) -> Signature:
    places(arguments)
    return Signature((float_number(arguments, 0), SMALLINT)[: len(arguments)], PURE)


def _round_form(call: Call, operand: str, _: str = "") -> str:
    return f"(round({operand}, {places(call.arguments)}) + {ZERO})"


def _one(form: str, value: Callable[[float], float], *, inside: str | None = None) -> Callable[..., Function]:
    """Return the maker of a function of one float; `inside` is the test of its domain."""

    def of(name: str, written: str, about: str) -> Function:
        def compiled(_: Call, operand: str) -> str:
            if inside is None:
                return f"({form.format(operand)} + {ZERO})"
            tested = f"(CASE WHEN {inside.format(operand)} THEN {operand} END)"
            return f"({form.format(tested)} + {ZERO})"

        def meaning(_: Call, operand: float) -> float | None:
            try:
                return mended(value(operand))
            except ValueError:
                return None
            except OverflowError:
                return math.inf

        return Function(name, written, about, _numbers, meaning, compiled)

    return of


def _power(_: Call, left: float, right: float) -> float | None:
    try:
        return mended(math.pow(left, right))
    except ValueError:
        return (
            math.inf
            if left == 0 and right < 0 and _even_or_fraction(right)
            else (mended(math.copysign(math.inf, left)) if left == 0 and right < 0 else None)
        )
    except OverflowError:
        odd = right == math.floor(right) and math.fmod(right, 2) != 0
        return -math.inf if left < 0 and odd else math.inf


def _even_or_fraction(value: float) -> bool:
    return value != math.floor(value) or math.fmod(value, 2) == 0


def _logarithm(_: Call, base: float, value: float) -> float | None:
    if base <= 0 or value <= 0 or base == 1:
        return None
    below = math.log10(base) if math.isfinite(base) else math.inf
    above = math.log10(value) if math.isfinite(value) else math.inf
    if below == 0:
        return None
    return mended(above / below)


def _logarithm_form(_: Call, base: str, value: str) -> str:
    one = cast("1", "DOUBLE")
    above = f"log10(CASE WHEN {value} > {ZERO} THEN {value} END)"
    below = f"log10(CASE WHEN {base} > {ZERO} AND {base} <> {one} THEN {base} END)"
    return f"({above} / (CASE WHEN {below} = {ZERO} THEN NULL ELSE {below} END))"


def _single(_: Call, value: float) -> float | None:
    if math.isinf(value) or math.isnan(value):
        return value
    try:
        (found,) = struct.unpack("<f", struct.pack("<f", value))
    except OverflowError:
        return None
    return float(found) + 0.0


def _bits(name: str, written: str, about: str, value: Callable[[float], bool], form: str) -> Function:
    def signature(arguments: Sequence[Expression]) -> Signature:
        float_number(arguments, 0)
        return Signature((Float(nan=True),), Boolean())

    return Function(name, written, about, signature, lambda _, x: value(x), lambda _, x: form.format(x))


def _cot(value: float) -> float:
    tangent = math.tan(value)
    if tangent == 0:
        raise ValueError("no cotangent")
    return 1.0 / tangent


def _infinite(function: Callable[[float], float]) -> Callable[[float], float]:
    """Return an odd function that is infinite where it is too large for a float."""

    def value(operand: float) -> float:
        try:
            return function(operand)
        except OverflowError:
            return math.copysign(math.inf, operand)

    return value


_INFINITE = "CAST('Infinity' AS DOUBLE)"
_UNIT = "abs({0}) <= CAST(1 AS DOUBLE)"
_FINITE = f"abs({{0}}) < {_INFINITE}"

FLOATS = (
    Function("+", "x + y", "The sum.", _some_float, lambda _, x, y: mended(x + y), plain("+"), raw=True),
    Function(
        "-", "x - y", "The difference.", _some_float, lambda _, x, y: mended(x - y), plain("-"), raw=True
    ),
    Function("*", "x * y", "The product.", _some_float, lambda _, x, y: mended(x * y), plain("*"), raw=True),
    Function(
        "/",
        "x / y",
        "The quotient, as a float; NULL if y = 0.",
        _numbers,
        _divided,
        _divide_form("/"),
        raw=True,
    ),
    Function(
        "%",
        "x % y, mod(x, y)",
        "What the division leaves; NULL if y = 0.",
        _some_float,
        _modulo,
        _divide_form("%"),
        raw=True,
    ),
    Function(
        "neg", "-x", "The opposite.", _numbers, lambda _, x: mended(-x), lambda _, x: f"(-{x})", raw=True
    ),
    Function(
        "abs",
        "abs(x)",
        "The number without its sign.",
        _numbers,
        lambda _, x: abs(x),
        lambda _, x: f"abs({x})",
    ),
    Function(
        "sign",
        "sign(x)",
        "-1, 0 or 1.",
        lambda a: Signature((float_number(a, 0),), whole(-1, 1)),
        lambda _, x: (x > 0) - (x < 0),
        lambda _, x: (
            f"(CASE WHEN {x} > {ZERO} THEN CAST(1 AS TINYINT) WHEN {x} < {ZERO} THEN CAST('-1' AS TINYINT)"
            f" WHEN {x} = {ZERO} THEN CAST(0 AS TINYINT) END)"
        ),
    ),
    Function(
        "round", "round(x [, places])", "The nearest float of so many places.", _rounding, _round, _round_form
    ),
    _one("floor({0})", lambda x: x if math.isinf(x) else float(math.floor(x)))(
        "floor", "floor(x)", "The largest whole number that is not above x."
    ),
    _one("ceil({0})", lambda x: x if math.isinf(x) else float(math.ceil(x)))(
        "ceil", "ceil(x)", "The smallest whole number that is not below x."
    ),
    _one("trunc({0})", lambda x: x if math.isinf(x) else float(math.trunc(x)))(
        "trunc", "trunc(x)", "The number without its fraction."
    ),
    _one("sqrt({0})", math.sqrt, inside=f"{{0}} >= {ZERO}")(
        "sqrt", "sqrt(x)", "The square root; NULL below 0."
    ),
    _one("cbrt({0})", math.cbrt)("cbrt", "cbrt(x)", "The cube root."),
    _one("exp({0})", math.exp)("exp", "exp(x)", "e to the power x."),
    _one("ln({0})", math.log, inside=f"{{0}} > {ZERO}")(
        "ln", "ln(x)", "The natural logarithm; NULL at 0 and below."
    ),
    _one("log10({0})", math.log10, inside=f"{{0}} > {ZERO}")(
        "log10", "log(x), log10(x)", "The logarithm of base 10; NULL at 0 and below."
    ),
    _one("log2({0})", math.log2, inside=f"{{0}} > {ZERO}")(
        "log2", "log2(x)", "The logarithm of base 2; NULL at 0 and below."
    ),
    Function(
        "log",
        "log(base, x)",
        "The logarithm of any base; NULL where it has none.",
        _numbers,
        _logarithm,
        _logarithm_form,
        raw=True,
    ),
    Function(
        "pow",
        "pow(x, y), power(x, y), x ** y, x ^ y",
        "x to the power y; NULL where it has no value.",
        _numbers,
        _power,
        lambda _, x, y: f"pow({x}, {y})",
        mends=True,
    ),
    _one("sin({0})", math.sin, inside=_FINITE)("sin", "sin(x)", "The sine; NULL at infinity."),
    _one("cos({0})", math.cos, inside=_FINITE)("cos", "cos(x)", "The cosine; NULL at infinity."),
    _one("tan({0})", math.tan, inside=_FINITE)("tan", "tan(x)", "The tangent; NULL at infinity."),
    _one("cot({0})", _cot, inside=f"abs({{0}}) < {_INFINITE} AND {{0}} <> {ZERO}")(
        "cot", "cot(x)", "The cotangent; NULL at 0 and infinity."
    ),
    _one("asin({0})", math.asin, inside=_UNIT)("asin", "asin(x)", "The arc sine; NULL outside of -1 to 1."),
    _one("acos({0})", math.acos, inside=_UNIT)("acos", "acos(x)", "The arc cosine; NULL outside of -1 to 1."),
    _one("atan({0})", math.atan)("atan", "atan(x)", "The arc tangent."),
    Function(
        "atan2",
        "atan2(y, x)",
        "The angle of the point (x, y).",
        _numbers,
        lambda _, y, x: mended(math.atan2(y, x)),
        lambda _, y, x: f"(atan2({y}, {x}) + {ZERO})",
    ),
    _one("sinh({0})", _infinite(math.sinh))("sinh", "sinh(x)", "The hyperbolic sine."),
    _one("cosh({0})", math.cosh)("cosh", "cosh(x)", "The hyperbolic cosine."),
    _one("tanh({0})", math.tanh)("tanh", "tanh(x)", "The hyperbolic tangent."),
    _one("asinh({0})", math.asinh)("asinh", "asinh(x)", "The inverse hyperbolic sine."),
    _one("acosh({0})", math.acosh, inside="{0} >= CAST(1 AS DOUBLE)")(
        "acosh", "acosh(x)", "The inverse hyperbolic cosine; NULL below 1."
    ),
    _one("atanh({0})", math.atanh, inside="abs({0}) < CAST(1 AS DOUBLE)")(
        "atanh", "atanh(x)", "The inverse hyperbolic tangent; NULL unless between -1 and 1."
    ),
    _one("degrees({0})", math.degrees)("degrees", "degrees(x)", "Radians as degrees."),
    _one("radians({0})", math.radians)("radians", "radians(x)", "Degrees as radians."),
    Function("pi", "pi()", "π.", fixed((), PURE), lambda _: math.pi, lambda _: "pi()"),
    Function(
        "single",
        "CAST(x AS FLOAT)",
        "The nearest float of 32 bits.",
        _numbers,
        _single,
        lambda _, x: f"(CAST(TRY_CAST({x} AS FLOAT) AS DOUBLE) + {ZERO})",
        inner=True,
    ),
    _bits("isnan", "isnan(x)", "Whether it is NaN.", math.isnan, "isnan({0})"),
    _bits("isinf", "isinf(x)", "Whether it is infinite.", math.isinf, "isinf({0})"),
    _bits(
        "isfinite", "isfinite(x)", "Whether it is neither NaN nor infinite.", math.isfinite, "isfinite({0})"
    ),
)
