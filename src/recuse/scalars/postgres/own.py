"""Functions that PostgreSQL has under a name of SQL, and that mean something else than elsewhere.

No question can write the names they have here: `sql.postgres` puts them where PostgreSQL means them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from recuse.scalars.dates import day_of, moment, rest_of
from recuse.scalars.expression import Call, Constant, Expression
from recuse.scalars.floats import PURE
from recuse.scalars.function import Function, Mistyped, Signature, constant_of
from recuse.scalars.literals import literal
from recuse.scalars.postgres.quotients import (
    PLAIN,
    of_floats,
    of_integers,
    of_numbers,
    quotient,
    whole_quotient,
)
from recuse.scalars.regular import translated
from recuse.scalars.rounding import ROUNDING
from recuse.scalars.text import TEXT
from recuse.scalars.types import (
    MICROSECONDS,
    ORDINARY_TIMESTAMP,
    Boolean,
    Date,
    Float,
    Number,
    Text,
    Time,
    Type,
    decimal,
    words,
)


def none(*_: object) -> str:
    """Refuse to be compiled for DuckDB, which has no such function."""
    raise TypeError("a function of PostgreSQL")


# ------------------------------------------------------------------ numbers


def _as_numeric(arguments: Sequence[Expression]) -> Signature:
    argument = arguments[0]
    kind: Type = argument.type
    if isinstance(argument, Constant) and isinstance(argument.value, str) and argument.is_text:
        kind = literal(argument.value, decimal(1, 0)).type
    if not isinstance(kind, Number):
        hint = "write how many digits it has: CAST(x AS numeric(18, 4))"
        raise Mistyped(f"this is {words(kind)}, and no numeric of unknown digits is made of it", hint, 0)
    return Signature((kind,), kind)


def _rounding_float(arguments: Sequence[Expression]) -> Signature:
    if not isinstance(arguments[0].type, Float):
        raise Mistyped(f"this is {words(arguments[0].type)}, and a number is needed", "cast it", 0)
    if len(arguments) > 1:
        raise Mistyped("PostgreSQL rounds no double precision to places", "cast it to numeric(18, 4) first")
    return Signature((PURE,), PURE)


def _half_even(_: Call, value: float, __: int = 0) -> float:
    return value if abs(value) >= 2.0**52 else float(round(value)) + 0.0


# ------------------------------------------------------------------ text


def _text_row(name: str, value: Callable[..., object]) -> Function:
    row = next(row for row in TEXT if row.name == name)
    return replace(row, name=f"pg {name}", value=value, duckdb=none, inner=True)


def _trim(sides: str) -> Callable[..., str]:
    def value(_: Call, operand: str, letters: str = " ") -> str:
        found = operand.lstrip(letters) if letters and "l" in sides else operand
        return found.rstrip(letters) if letters and "r" in sides else found

    return value


def _substring(_: Call, operand: str, start: int, length: int | None = None) -> str | None:
    if length is None:
        return operand[max(start, 1) - 1 :]
    return None if length < 0 else operand[max(start, 1) - 1 : max(start + length, 1) - 1]


def _split(_: Call, operand: str, separator: str, place: int) -> str | None:
    if place == 0:
        return None
    parts = operand.split(separator) if separator else [operand]
    index = place - 1 if place > 0 else len(parts) + place
    return parts[index] if 0 <= index < len(parts) else ""


def pattern_of(arguments: Sequence[Expression]) -> str:
    """Return the regular expression that is written down, as PostgreSQL reads it too."""
    hint = "write x ~ 'a+'"
    pattern = constant_of(arguments, 1, "a regular expression is written down", hint)
    if not isinstance(pattern, str):
        raise Mistyped("a regular expression is text", hint, 1)
    found = translated(pattern)
    if "\\b" in found:
        raise Mistyped("\\b is no end of a word in PostgreSQL", "write what stands around the word", 1)
    if any(int(count) > 255 for count in re.findall(r"(?<=[{,])\d+", found)):
        raise Mistyped("PostgreSQL counts to 255 in a regular expression", "write smaller counts", 1)
    return found


def _matching(arguments: Sequence[Expression]) -> Signature:
    pattern_of(arguments)
    if not isinstance(arguments[0].type, Text):
        raise Mistyped(f"this is {words(arguments[0].type)}, and text is needed", "cast it to text", 0)
    return Signature((arguments[0].type, Text()), Boolean())


def _matches(call: Call, operand: str, _: str) -> bool:
    return re.search(pattern_of(call.arguments), operand, re.ASCII | re.DOTALL) is not None


# ------------------------------------------------------------------ dates


def _clock(name: str, kind: Number, meaning: Callable[[int], int], *, day: bool) -> Function:
    def signature(arguments: Sequence[Expression]) -> Signature:
        timed = isinstance(arguments[0].type, Time)
        return Signature((Time() if timed else moment(arguments, 0),), kind)

    def value(call: Call, operand: int) -> int | None:
        found = call.arguments[0].type
        if isinstance(found, Time):
            return meaning(operand)
        if day_of(operand, found) is None:
            return None
        if not day:
            return meaning(rest_of(operand, found))
        return meaning(operand * MICROSECONDS if isinstance(found, Date) else operand)

    about = f"The {name} of PostgreSQL, with its fraction."
    return Function(f"pg {name}", f"extract({name} FROM x)", about, signature, value, none, inner=True)


_ANY = Number(6, ORDINARY_TIMESTAMP.low, ORDINARY_TIMESTAMP.high)
INTEGER_QUOTIENT = Function(
    "pg /", "x / y", "The quotient of integers, cut.", of_integers, whole_quotient, none, inner=True
)
QUOTIENT = Function("pg /", "x / y", "The quotient of exact numbers.", of_numbers, quotient, none, inner=True)
FLOAT_QUOTIENT = replace(PLAIN, name="pg /", signature=of_floats, duckdb=none, inner=True)
NUMERIC = Function(
    "pg numeric", "CAST(x AS numeric)", "The same number.", _as_numeric, lambda _, x: x, none, inner=True
)
ROUND = replace(
    next(row for row in ROUNDING if row.name == "round"), name="pg round", duckdb=none, inner=True
)
ROUND_FLOAT = Function(
    "pg round", "round(x)", "Halves to even.", _rounding_float, _half_even, none, inner=True
)
OWN: tuple[Function, ...] = (
    INTEGER_QUOTIENT,
    QUOTIENT,
    FLOAT_QUOTIENT,
    NUMERIC,
    ROUND_FLOAT,
    ROUND,
    _text_row("trim", _trim("lr")),
    _text_row("ltrim", _trim("l")),
    _text_row("rtrim", _trim("r")),
    _text_row("substring", _substring),
    _text_row("split_part", _split),
    replace(_text_row("reverse", lambda _, x: x[::-1]), folds=True),
    Function(
        "pg regexp_matches",
        "x ~ 'pattern'",
        "Whether a part fits.",
        _matching,
        _matches,
        none,
        folds=False,
        inner=True,
    ),
    _clock("second", Number(6, 0, 59_999_999), lambda rest: rest % 60_000_000, day=False),
    _clock("millisecond", Number(3, 0, 59_999_999), lambda rest: rest % 60_000_000, day=False),
    _clock("epoch", _ANY, lambda micros: micros, day=True),
)
"""PostgreSQL's functions, in the order in which overloads are tried"""
