"""A query of any form as it was understood: names resolved, aliases unique, ready to be run natively.

    NativeSelect   SELECT with everything that SQL allows in it
    NativeSet      UNION, INTERSECT or EXCEPT of two queries, with or without equal rows
    NativeItem     one item of FROM: a table or a query, how it is joined, and its ON
    Inner          a subquery inside an expression

`Block`s say what may be annotated row by row; this says what an engine is to run as it is, because nobody
can withdraw what it looks at, or because all of it belongs to owners that the row around has anyway
(`own`). Expressions are sqlglot trees over resolved columns, and never changed in place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

from sqlglot import exp

from recuse.scalars.types import Type
from recuse.sql.query import Output, Scalar, Scan


class JoinKind(Enum):
    """How an item of FROM is joined with those before it."""

    INNER = "INNER"
    LEFT = "LEFT"
    RIGHT = "RIGHT"
    FULL = "FULL"
    SEMI = "SEMI"
    ANTI = "ANTI"


class SetWord(Enum):
    """The operations on two queries."""

    UNION = "UNION"
    INTERSECT = "INTERSECT"
    EXCEPT = "EXCEPT"


@dataclass(frozen=True, slots=True)
class NativeItem:
    """One item of FROM under its alias; `on` are the conjuncts of ON and USING (none of the first item)."""

    alias: str
    rows: Scan | NativeQuery
    kind: JoinKind = JoinKind.INNER
    on: tuple[Scalar, ...] = ()
    lateral: bool = False
    """whether its query may use the items before it"""


@dataclass(frozen=True, slots=True)
class Sorting:
    """One item of ORDER BY."""

    value: Scalar
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True, slots=True)
class NativeSelect:
    """A SELECT; `keys` is None without GROUP BY and aggregates, () where all rows are one group.

    `where`, `having` and `qualify` are conjuncts. `once_by` are the expressions of DISTINCT ON. `types` are
    those of the outputs, in their order.
    """

    items: tuple[NativeItem, ...]
    outputs: tuple[Output, ...]
    types: tuple[Type, ...]
    where: tuple[Scalar, ...] = ()
    keys: tuple[Scalar, ...] | None = None
    having: tuple[Scalar, ...] = ()
    qualify: tuple[Scalar, ...] = ()
    distinct: bool = False
    once_by: tuple[Scalar, ...] = ()
    order: tuple[Sorting, ...] = ()
    limit: int | None = None
    offset: int = 0


@dataclass(frozen=True, slots=True)
class NativeSet:
    """Two queries made into one, under the names and types of the outputs that are given."""

    word: SetWord
    left: NativeQuery
    right: NativeQuery
    names: tuple[str, ...]
    types: tuple[Type, ...]
    every: bool = False
    """whether equal rows are kept: ALL"""
    order: tuple[Sorting, ...] = ()
    limit: int | None = None
    offset: int = 0


NativeQuery = NativeSelect | NativeSet


class Inner(exp.Expression):
    """A subquery inside an expression: EXISTS, IN, ANY, ALL or the one value, over a `NativeQuery`.

    `word` is EXISTS, IN, ANY, ALL or VALUE; `query` the NativeQuery; `operator` of ANY and ALL one of
    = <> < <= > >=; `operands` stand on its left; `uses` are the columns of the rows around that the query
    uses, so that looking for the columns of an expression finds them, and none of the query's own.
    """

    arg_types: ClassVar[dict[str, bool]] = {
        "word": True,
        "query": True,
        "operator": False,
        "operands": False,
        "uses": False,
    }


def native_scans(query: NativeQuery) -> Iterator[Scan]:
    """Yield every table that a query looks at, in FROM and in subqueries of expressions."""
    for found in native_below(query):
        for item in found.items if isinstance(found, NativeSelect) else ():
            if isinstance(item.rows, Scan):
                yield item.rows


def native_below(query: NativeQuery) -> Iterator[NativeQuery]:
    """Yield a query and all queries below it, outermost first."""
    yield query
    if isinstance(query, NativeSet):
        yield from native_below(query.left)
        yield from native_below(query.right)
        return
    for item in query.items:
        if not isinstance(item.rows, Scan):
            yield from native_below(item.rows)
    for scalar in native_scalars(query):
        for inner in scalar.find_all(Inner):
            yield from native_below(inner.args["query"])


def native_scalars(query: NativeSelect) -> Iterator[Scalar]:
    """Yield every expression of a SELECT itself."""
    for item in query.items:
        yield from item.on
    yield from query.where
    yield from (output.value for output in query.outputs)
    yield from query.keys or ()
    yield from query.having
    yield from query.qualify
    yield from query.once_by
    yield from (item.value for item in query.order)
