"""Variances, correlations and slopes: the engine's own, of floats that cannot overflow, in one order.

The engine adds floats one by one, so the values themselves are the order in which it is told to.
"""

from __future__ import annotations

from collections.abc import Callable

from recuse.scalars.build import apply, bring
from recuse.scalars.expression import Constant, Expression
from recuse.scalars.function import Mistyped
from recuse.scalars.types import Boolean, Float, Null, Number, words
from recuse.sql.native.asked import MadeOfRows, RowsCall, Sorted

LARGEST = 1e140
"""The largest float of which a variance is taken: the sum of the squares of any number of them is finite."""


def spread(function: str) -> MadeOfRows:
    """Return how a variance or deviation of one argument is made."""

    def made(asked: RowsCall) -> Expression:
        _plain(asked)
        value = asked.argument
        kept = _bounded(value, 0)
        found = asked.engine(function, (kept,), Float(), order=(Sorted(kept),), mended=True)
        return asked.unless_lost(value, kept, found)

    return made


def covariance(function: str) -> MadeOfRows:
    """Return how a covariance is made."""
    return lambda asked: _together(asked, lambda pairs, y, x: _covariance(pairs, function, y, x))


def correlation(asked: RowsCall) -> Expression:
    """Return CORR(y, x)."""

    def made(pairs: RowsCall, y: Expression, x: Expression) -> Expression:
        both = apply("*", _deviation(pairs, "stddev_pop", y, x), _deviation(pairs, "stddev_pop", x, y))
        return apply("/", _covariance(pairs, "covar_pop", y, x), both)

    return _together(asked, made)


def slope(asked: RowsCall) -> Expression:
    """Return REGR_SLOPE(y, x)."""

    def made(pairs: RowsCall, y: Expression, x: Expression) -> Expression:
        return apply("/", _covariance(pairs, "covar_pop", y, x), _deviation(pairs, "var_pop", x, y))

    return _together(asked, made)


def _together(asked: RowsCall, made: Callable[[RowsCall, Expression, Expression], Expression]) -> Expression:
    """Return what is made of the rows in which both arguments have a value."""
    _plain(asked)
    if len(asked.arguments) != 2:
        raise Mistyped("two arguments are needed", "write covar_pop(y, x)")
    kept = tuple(_bounded(value, place) for place, value in enumerate(asked.arguments))
    filled = [apply("not", apply("is null", value)) for value in asked.arguments]
    pairs = asked.only(apply("and", *filled))
    found = made(pairs, *kept)
    for value, bounded in zip(asked.arguments, kept, strict=True):
        found = pairs.unless_lost(value, bounded, found)
    return found


def _covariance(pairs: RowsCall, function: str, y: Expression, x: Expression) -> Expression:
    return pairs.engine(function, (y, x), Float(), order=(Sorted(y), Sorted(x)), mended=True)


def _deviation(pairs: RowsCall, function: str, value: Expression, other: Expression) -> Expression:
    return pairs.engine(function, (value,), Float(), order=(Sorted(value), Sorted(other)), mended=True)


def _plain(asked: RowsCall) -> None:
    if asked.distinct:
        hint = "write SELECT DISTINCT in a subquery, and aggregate its rows"
        raise Mistyped("DISTINCT is not understood here", hint)


def _bounded(value: Expression, place: int) -> Expression:
    """Return a value as a float that is NULL where it is too large."""
    if not isinstance(value.type, Number | Float | Boolean | Null):
        raise Mistyped(f"this is {words(value.type)}, and a number is needed", "cast it to a number", place)
    number = bring(value, Float())
    if not isinstance(value.type, Float):
        return number
    small = apply("<=", apply("abs", number), Constant(LARGEST, Float()))
    return apply("case", small, number, Constant(None, Float()))
