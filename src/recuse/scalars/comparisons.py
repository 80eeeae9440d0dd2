"""Comparisons: all sides brought to one type first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from recuse.scalars.alike import alike, key
from recuse.scalars.expression import Call, Expression, Value
from recuse.scalars.function import Function, Mistyped, Signature
from recuse.scalars.logic import conjunction
from recuse.scalars.types import Boolean, Text


def _comparing(*, ordered: bool) -> Callable[[Sequence[Expression]], Signature]:
    def signature(arguments: Sequence[Expression]) -> Signature:
        kind = alike(arguments)
        if ordered and any(isinstance(a.type, Text) and a.type.labels for a in arguments):
            raise Mistyped("labels of an ENUM have an order of their own", "cast them: CAST(x AS VARCHAR)")
        return Signature((kind,) * len(arguments), Boolean())

    return signature


def _comparison(symbol: str, about: str, holds: Callable[[Any, Any], bool], *, ordered: bool) -> Function:
    return Function(
        symbol,
        f"x {symbol} y",
        about,
        _comparing(ordered=ordered),
        lambda _, x, y: holds(key(x), key(y)),
        lambda _, x, y: f"({x} {symbol} {y})",
        loose=True,
    )


def _distinct(_: Call, left: Value, right: Value) -> bool:
    return left is not None if right is None else left is None or key(left) != key(right)


def _between(_: Call, value: Value, low: Value, high: Value) -> bool | None:
    if value is None:
        return None
    above = None if low is None else key(value) >= key(low)
    below = None if high is None else key(value) <= key(high)
    return conjunction(above, below)


def _member(_: Call, value: Value, option: Value, *more: Value) -> bool | None:
    options = (option, *more)
    if value is None:
        return None
    if any(option is not None and key(option) == key(value) for option in options):
        return True
    return None if None in options else False


COMPARISONS = (
    _comparison("=", "Whether two values are equal.", lambda x, y: bool(x == y), ordered=False),
    _comparison("<>", "Whether they differ.", lambda x, y: bool(x != y), ordered=False),
    _comparison("<", "Whether the first is smaller.", lambda x, y: bool(x < y), ordered=True),
    _comparison("<=", "Whether it is not larger.", lambda x, y: bool(x <= y), ordered=True),
    _comparison(">", "Whether it is larger.", lambda x, y: bool(x > y), ordered=True),
    _comparison(">=", "Whether it is not smaller.", lambda x, y: bool(x >= y), ordered=True),
    Function(
        "is distinct from",
        "x IS [NOT] DISTINCT FROM y",
        "Whether they differ; NULL is equal to NULL.",
        _comparing(ordered=False),
        _distinct,
        lambda _, x, y: f"({x} IS DISTINCT FROM {y})",
        strict=False,
        loose=True,
    ),
    Function(
        "between",
        "x [NOT] BETWEEN low AND high",
        "Whether it lies between two values, the ends included.",
        _comparing(ordered=True),
        _between,
        lambda _, x, low, high: f"({x} >= {low} AND {x} <= {high})",
        strict=False,
        loose=True,
    ),
    Function(
        "in",
        "x [NOT] IN (a, b, …)",
        "Whether it is one of the values.",
        _comparing(ordered=False),
        _member,
        lambda _, x, *options: f"({x} IN ({', '.join(options)}))",
        strict=False,
        loose=True,
        copies=True,
    ),
)
