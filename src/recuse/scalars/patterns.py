"""LIKE, ILIKE and regular expressions: patterns are written down, and checked before anything is run."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from recuse.scalars.expression import Call, Expression
from recuse.scalars.function import Function, Mistyped, Signature, constant_of
from recuse.scalars.letters import lowered
from recuse.scalars.regular import translated
from recuse.scalars.text import asking, called, text
from recuse.scalars.types import Boolean

# ------------------------------------------------------------------ LIKE


def _liking(arguments: Sequence[Expression]) -> Signature:
    pattern = constant_of(arguments, 1, "a pattern is written down", "write x LIKE 'a%', or contains(x, y)")
    if not isinstance(pattern, str):
        raise Mistyped("a pattern is text", "write x LIKE 'a%'", 1)
    if len(arguments) > 2:
        escape = constant_of(arguments, 2, "what escapes is written down", "write LIKE '10!%' ESCAPE '!'")
        if not isinstance(escape, str) or len(escape) != 1 or not escape.isascii():
            raise Mistyped("one character escapes", "write LIKE '10!%' ESCAPE '!'", 2)
        if like_units(pattern, escape) is None:
            raise Mistyped("the pattern ends with the character that escapes", "write it twice", 1)
    return Signature(tuple(text(arguments, place) for place in range(len(arguments))), Boolean())


def like_units(pattern: str, escape: str) -> list[str] | None:
    """Return a pattern as "%", "_" and "=letter"s, None where nothing follows the character that escapes."""
    found, letters = [], iter(pattern)
    for letter in letters:
        if letter == escape:
            following = next(letters, None)
            if following is None:
                return None
            found.append("=" + following)
        else:
            found.append(letter if letter in "%_" else "=" + letter)
    return found


def _fits(operand: str, units: Sequence[str]) -> bool:
    """Return whether text fits: each % takes as little as it can, so that one pass is enough."""
    place = unit = 0
    star, tried = -1, 0
    while place < len(operand):
        if unit < len(units) and units[unit] in ("_", "=" + operand[place]):
            place, unit = place + 1, unit + 1
        elif unit < len(units) and units[unit] == "%":
            star, tried, unit = unit, place, unit + 1
        elif star >= 0:
            tried += 1
            place, unit = tried, star + 1
        else:
            return False
    return all(left == "%" for left in units[unit:])


def _like(change: Callable[[str], str]) -> Callable[..., bool]:
    def value(_: Call, operand: str, pattern: str, escape: str = "") -> bool:
        units = like_units(change(pattern), escape)
        return units is not None and _fits(change(operand), units)

    return value


def _like_form(word: str) -> Callable[..., str]:
    def form(_: Call, operand: str, pattern: str, escape: str = "") -> str:
        return f"({operand} {word} {pattern}{f' ESCAPE {escape}' if escape else ''})"

    return form


# ------------------------------------------------------------------ regular expressions


def _matching(arguments: Sequence[Expression]) -> Signature:
    hint = "write regexp_matches(x, 'a+')"
    pattern = constant_of(arguments, 1, "a regular expression is written down", hint)
    if not isinstance(pattern, str):
        raise Mistyped("a regular expression is text", hint, 1)
    translated(pattern)
    return asking(arguments)


def _matches(*, whole_text: bool) -> Callable[..., bool]:
    def value(_: Call, operand: str, pattern: str) -> bool:
        expression = re.compile(translated(pattern), re.ASCII)
        match = expression.fullmatch(operand) if whole_text else expression.search(operand)
        return match is not None

    return value


PATTERNS = (
    Function(
        "like",
        "x [NOT] LIKE 'pattern' [ESCAPE 'c']",
        "Whether it fits: % any text, _ any character.",
        _liking,
        _like(str),
        _like_form("LIKE"),
    ),
    Function(
        "ilike",
        "x [NOT] ILIKE 'pattern' [ESCAPE 'c']",
        "The same, small and capital letters alike.",
        _liking,
        _like(lowered),
        _like_form("ILIKE"),
    ),
    Function(
        "regexp_matches",
        "regexp_matches(x, 'pattern')",
        "Whether a part of it fits a regular expression.",
        _matching,
        _matches(whole_text=False),
        called("regexp_matches"),
        folds=False,
    ),
    Function(
        "regexp_full_match",
        "regexp_full_match(x, 'pattern'), x ~ 'pattern'",
        "Whether all of it does.",
        _matching,
        _matches(whole_text=True),
        called("regexp_full_match"),
        folds=False,
    ),
)
