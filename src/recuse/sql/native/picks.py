"""Aggregates that pick one of the values: by order, by frequency, by rank. Ties go to the least value."""

from __future__ import annotations

from recuse.scalars.build import apply, bring
from recuse.scalars.expression import Constant, Expression
from recuse.scalars.function import Mistyped
from recuse.scalars.types import (
    ORDINARY_TIMESTAMP,
    Boolean,
    Date,
    Float,
    Null,
    Number,
    Timestamp,
    Type,
    words,
)
from recuse.sql.native.asked import MadeOfRows, RowsCall, Sorted, in_order, within

HALF = Constant(5, Number(1, 5, 5))
INTERPOLATED = 18
"""Digits of numbers between which DuckDB interpolates without overflow."""


def extreme(function: str) -> MadeOfRows:
    """Return how MIN or MAX is made."""

    def made(asked: RowsCall) -> Expression:
        if len(asked.arguments) != 1:
            raise Mistyped(f"{function.upper()} takes one argument", f"write {function}(x)")
        value = in_order(asked.argument)
        return asked.engine(function, (value,), value.type)

    return made


def first(asked: RowsCall) -> Expression:
    """Return FIRST(x ORDER BY y): of rows that tie, the least x."""
    return _picked(asked, "first")


def last(asked: RowsCall) -> Expression:
    """Return LAST(x ORDER BY y): of rows that tie, the greatest x."""
    return _picked(asked, "last")


def _picked(asked: RowsCall, function: str) -> Expression:
    value = asked.argument
    order = (*asked.order, Sorted(in_order(value)))
    return asked.engine(function, (value,), value.type, order=order)


def extreme_by(*, descending: bool) -> MadeOfRows:
    """Return how ARG_MIN or ARG_MAX is made: rows in which either argument is NULL take no part."""

    def made(asked: RowsCall) -> Expression:
        if len(asked.arguments) != 2 or asked.order:
            raise Mistyped("two arguments are needed", "write arg_min(x, y): the x of the least y")
        value, by = map(in_order, asked.arguments)
        filled = [apply("not", apply("is null", one)) for one in (value, by)]
        order = (Sorted(by, descending=descending), Sorted(value))
        return asked.only(apply("and", *filled)).engine("first", (value,), value.type, order=order)

    return made


def mode(asked: RowsCall) -> Expression:
    """Return the most frequent value, the least of several."""
    value = in_order(asked.argument)
    return asked.engine("mode", (value,), value.type, order=(Sorted(value),))


def median(asked: RowsCall) -> Expression:
    """Return MEDIAN(x): halfway between the two in the middle."""
    if len(asked.arguments) != 1:
        raise Mistyped("MEDIAN takes one argument", "write median(x)")
    return _between(asked, HALF, descending=False)


def quantile(*, interpolated: bool) -> MadeOfRows:
    """Return how QUANTILE_CONT, QUANTILE_DISC and PERCENTILE_… WITHIN GROUP are made."""

    def made(asked: RowsCall) -> Expression:
        if len(asked.arguments) != 2:
            raise Mistyped("a quantile needs a value and a share", "write quantile_cont(x, 0.9)")
        value, share = asked.arguments
        if not isinstance(share, Constant) or not isinstance(share.type, Number):
            raise Mistyped("the share of a quantile is written down", "write quantile_cont(x, 0.9)", 1)
        if not 0 <= int(share.value or 0) <= 10**share.type.scale:
            raise Mistyped("the share of a quantile lies between 0 and 1", "write quantile_cont(x, 0.9)", 1)
        descending = bool(asked.order) and asked.order[0].descending
        if interpolated:
            return _between(asked, share, descending=descending)
        kept = in_order(value)
        return asked.engine("quantile_disc", (kept, _share(share, descending=descending)), kept.type)

    return made


def _between(asked: RowsCall, share: Constant, *, descending: bool) -> Expression:
    value = asked.argument
    kept, gives = _interpolated(value)
    found = asked.engine(
        "quantile_cont",
        (kept, _share(share, descending=descending)),
        gives,
        mended=isinstance(gives, Float),
    )
    return asked.unless_lost(value, kept, found)


def _interpolated(value: Expression) -> tuple[Expression, Type]:
    match value.type:
        case Number(scale=0) | Boolean() | Null():
            return bring(value, Float()), Float()
        case Number() as kind:
            if kind.digits > INTERPOLATED:
                hint = "cast it: CAST(x AS DECIMAL(18, 3)), or CAST(x AS DOUBLE)"
                raise Mistyped("numbers of so many digits are not interpolated", hint, 0)
            return value, kind
        case Float():
            return value, Float()
        case Date() | Timestamp():
            return within(value, ORDINARY_TIMESTAMP), ORDINARY_TIMESTAMP
    raise Mistyped(
        f"this is {words(value.type)}, and nothing lies between two of them", "write quantile_disc", 0
    )


def _share(share: Constant, *, descending: bool) -> Constant:
    """Return the share as a float; counted from the largest value it is negative, as DuckDB has it."""
    if not isinstance(share.type, Number):
        raise TypeError("a share is a number")
    number = int(share.value or 0) / 10**share.type.scale
    return Constant(-number if descending and number else number, Float())
