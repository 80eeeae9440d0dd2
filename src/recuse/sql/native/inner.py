"""Queries that are run as they are inside of others: a subquery of an expression, an item of FROM."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp

PROVED = "proved"
"""where an `Inner` notes the unique keys that prove whose rows it looks at"""


class Inner(exp.Expression, exp.Func):
    """EXISTS, IN, ANY, ALL or the one value, over a `NativeQuery`.

    `word` is EXISTS, IN, ANY, ALL or VALUE; `query` the NativeQuery; `operator` of ANY and ALL one of
    = <> < <= > >=; `operands` stand on its left; `uses` are the columns of the rows around that the query
    uses, so that looking for the columns of an expression finds them, and none of the query's own; `shown`
    is how it was written.
    """

    arg_types: ClassVar[dict[str, bool]] = {
        "word": True,
        "operator": False,
        "operands": False,
        "uses": False,
        "shown": False,
    }  # "query" is no part that could be written as SQL by itself


class NativeRows(exp.Expression, exp.Func):
    """A `NativeQuery` in FROM: `query`; `shown` is its alias, by which it is told from others.

    `uses` are the columns of the rows around that it uses, as of an `Inner`.
    """

    arg_types: ClassVar[dict[str, bool]] = {"shown": True, "uses": False}
