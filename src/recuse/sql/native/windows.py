"""Functions that need OVER: numbers, ranks, neighbours, the first and last of a frame."""

from __future__ import annotations

from dataclasses import replace

from recuse.scalars.alike import alike
from recuse.scalars.build import bring
from recuse.scalars.expression import Constant, Expression
from recuse.scalars.function import Mistyped
from recuse.scalars.types import BIGINT, Float, Number, Type, whole
from recuse.sql.native.asked import MadeOfRows, Over, RowsCall, Sorted, in_order

RANKED = whole(1, BIGINT.high)
FARTHEST = 2**31 - 1
"""Rows that LAG and LEAD reach, and groups of NTILE."""


def over(asked: RowsCall) -> Over:
    """Return the window of a function that needs one."""
    if asked.over is None:
        raise TypeError("a call without its window was refused before")
    return asked.over


def numbered(function: str) -> MadeOfRows:
    """Return how ROW_NUMBER is made: rows that tie are numbered by all their columns."""
    return lambda asked: replace(asked, over=over(asked).total()).engine(function, (), RANKED)


def ranked(function: str, gives: Type = RANKED) -> MadeOfRows:
    """Return how RANK and its like are made: rows that tie have one rank."""

    def made(asked: RowsCall) -> Expression:
        over(asked)
        return asked.engine(function, (), gives)

    return made


def parted(asked: RowsCall) -> Expression:
    """Return NTILE(n)."""
    count = _written(asked, 0, 1, "write NTILE(4)")
    found = replace(asked, over=over(asked).total())
    return found.engine("ntile", (count,), RANKED)


def neighbour(function: str) -> MadeOfRows:
    """Return how LAG or LEAD is made."""

    def made(asked: RowsCall) -> Expression:
        value, *more = asked.arguments
        found = replace(asked, over=over(asked).total())
        arguments: list[Expression] = [value]
        kind = value.type
        if more:
            arguments.append(_written(asked, 1, 0, f"write {function}(x, 1)"))
        if len(more) > 1:
            kind = alike([value, more[1]])
            arguments[0] = bring(value, kind)
            arguments.append(bring(more[1], kind))
        return found.engine(function, tuple(arguments), kind, ignore_nulls=asked.ignore_nulls)

    return made


def of_frame(function: str) -> MadeOfRows:
    """Return how FIRST_VALUE, LAST_VALUE or NTH_VALUE is made.

    A frame of rows follows an order without ties; in any other the rows that tie stay together, and those of
    the frame are ordered by themselves.
    """

    def made(asked: RowsCall) -> Expression:
        window = over(asked)
        value = in_order(asked.argument)
        arguments = [value]
        if function == "nth_value":
            arguments.append(_written(asked, 1, 1, "write nth_value(x, 2)"))
        order = () if window.by_rows else (*(asked.order or window.order), Sorted(value))
        return asked.engine(
            function, tuple(arguments), value.type, order=order, ignore_nulls=asked.ignore_nulls
        )

    return made


def _written(asked: RowsCall, place: int, least: int, hint: str) -> Constant:
    """Return a number of rows that must be written down."""
    if len(asked.arguments) <= place:
        raise Mistyped("a number of rows is missing", hint)
    found = asked.arguments[place]
    right = isinstance(found, Constant) and isinstance(found.type, Number) and found.type.scale == 0
    if not right or not isinstance(found, Constant) or not least <= int(found.value or 0) <= FARTHEST:
        raise Mistyped("a number of rows is written down, and not negative", hint, place)
    return Constant(int(found.value or 0), BIGINT)


WINDOWS: dict[str, MadeOfRows] = {
    "row_number": numbered("row_number"),
    "rank": ranked("rank"),
    "dense_rank": ranked("dense_rank"),
    "percent_rank": ranked("percent_rank", Float()),
    "cume_dist": ranked("cume_dist", Float()),
    "ntile": parted,
    "lag": neighbour("lag"),
    "lead": neighbour("lead"),
    "first_value": of_frame("first_value"),
    "last_value": of_frame("last_value"),
    "nth_value": of_frame("nth_value"),
}
