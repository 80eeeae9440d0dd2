"""Conditions of subquery predicates and scalar tests in three-valued logic, as functions of their truth.

Mention   a subquery predicate, by its number
OfRow     a condition on the row's own values, by its number
Fixed     TRUE, FALSE or NULL
Compound  a truth function of others
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

Truth = bool | None
TRUTHS: tuple[Truth, ...] = (True, False, None)


@dataclass(frozen=True, slots=True)
class Mention:
    """A subquery predicate."""

    number: int
    """its place among the predicates that are asked"""


@dataclass(frozen=True, slots=True)
class OfRow:
    """A condition on the row's own values."""

    number: int
    """its place among the tests of the row"""


@dataclass(frozen=True, slots=True)
class Compound:
    """A truth function of others."""

    word: str
    """one of `FUNCTIONS`"""
    parts: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True)
class Fixed:
    """A truth value that is known."""

    value: Truth


Sentence = Mention | OfRow | Fixed | Compound


def _negation(value: Truth) -> Truth:
    return None if value is None else not value


def _both(*values: Truth) -> Truth:
    return False if False in values else None if None in values else True


def _either(*values: Truth) -> Truth:
    return True if True in values else None if None in values else False


def _by_value(value: Truth, true: Truth, false: Truth, null: Truth) -> Truth:
    """Return what is said for the value."""
    return true if value is True else false if value is False else null


FUNCTIONS: dict[str, Callable[..., Truth]] = {
    "not": _negation,
    "and": _both,
    "or": _either,
    "by value": _by_value,
    "is null": lambda value: value is None,
    "is true": lambda value: value is True,
    "is false": lambda value: value is False,
}


def truth(condition: Sentence, asked: Sequence[Truth], tested: Sequence[Truth]) -> Truth:
    """Return what a condition says, given what its predicates and its tests say.

    >>> truth(Compound("or", (Compound("not", (Mention(0),)), OfRow(0))), [None], [False]) is None
    True
    """
    match condition:
        case Mention(number):
            return asked[number]
        case OfRow(number):
            return tested[number]
        case Fixed(value):
            return value
        case Compound(word, parts):
            return FUNCTIONS[word](*(truth(part, asked, tested) for part in parts))


def patterns(tests: int) -> list[tuple[Truth, ...]]:
    """Return all that so many tests can say."""
    return list(product(TRUTHS, repeat=tests))
