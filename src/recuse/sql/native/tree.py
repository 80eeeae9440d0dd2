"""A query of any form as it was understood: names resolved, aliases unique, ready to be run natively.

    NativeSelect   SELECT with everything that SQL allows in it
    NativeSet      UNION, INTERSECT or EXCEPT of two queries, with or without equal rows
    NativeItem     one item of FROM: a table or a query, how it is joined, and its ON

`Block`s say what may be annotated row by row; this says what an engine is to run as it is, because nobody
can withdraw what it looks at, or because all of it belongs to owners that the row around has anyway
(`own`). Expressions are sqlglot trees over resolved columns, and never changed in place; a subquery in one is
an `inner.Inner`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from sqlglot import exp

from recuse.scalars.expression import Variable
from recuse.scalars.types import Opaque, Type, stored
from recuse.sql.elaborate import Lookup
from recuse.sql.native.inner import Inner
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
    """The operations on two queries; whether equal rows are one is said beside them."""

    UNION = "UNION"
    INTERSECT = "INTERSECT"
    EXCEPT = "EXCEPT"


@dataclass(frozen=True, slots=True)
class NativeItem:
    """One item of FROM under its alias."""

    alias: str
    rows: Scan | NativeQuery
    kind: JoinKind = JoinKind.INNER
    on: tuple[Scalar, ...] = ()
    """the conjuncts of ON and USING; the first item has none"""
    lateral: bool = False
    """whether its query may use the items before it"""


@dataclass(frozen=True, slots=True)
class Sorting:
    """One item of ORDER BY."""

    value: Scalar
    descending: bool = False
    nulls_first: bool = False
    """as the dialect has it where the query says nothing"""


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
    """Two queries made into one."""

    word: SetWord
    left: NativeQuery
    right: NativeQuery
    names: tuple[str, ...]
    """of the outputs, with their types: both sides are brought to these"""
    types: tuple[Type, ...]
    every: bool = False
    """whether equal rows are kept: ALL"""
    order: tuple[Sorting, ...] = ()
    limit: int | None = None
    offset: int = 0


NativeQuery = NativeSelect | NativeSet


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


# ------------------------------------------------------------------ making others of them


def with_scalars(query: NativeQuery, change: Callable[[Scalar], Scalar]) -> NativeQuery:
    """Return a query with every expression of it and of all below it changed, subqueries in FROM included.

    `change` sees an expression whose inner queries are as they were; see `with_inner`.
    """
    if isinstance(query, NativeSet):
        return replace(query, left=with_scalars(query.left, change), right=with_scalars(query.right, change))
    items = tuple(
        replace(
            item,
            rows=item.rows if isinstance(item.rows, Scan) else with_scalars(item.rows, change),
            on=tuple(map(change, item.on)),
        )
        for item in query.items
    )
    return replace(
        query,
        items=items,
        outputs=tuple(Output(output.name, change(output.value)) for output in query.outputs),
        where=tuple(map(change, query.where)),
        keys=None if query.keys is None else tuple(map(change, query.keys)),
        having=tuple(map(change, query.having)),
        qualify=tuple(map(change, query.qualify)),
        once_by=tuple(map(change, query.once_by)),
        order=tuple(replace(sorting, value=change(sorting.value)) for sorting in query.order),
    )


def with_inner(node: Inner, change: Callable[[Scalar], Scalar]) -> Inner:
    """Return a subquery with every expression in it changed."""
    query = with_scalars(node.args["query"], change)
    found = inner(node.args["word"], query, [change(one) for one in node.args.get("operands") or ()],
                  node.args.get("operator"), node.args.get("shown") or "")  # fmt: skip
    found.meta.update(node.meta)
    return found


def inner(
    word: str,
    query: NativeQuery,
    operands: Sequence[Scalar] = (),
    operator: str | None = None,
    shown: str = "",
) -> Inner:
    """Return a query as a part of an expression."""
    free = [one.copy() for one in outer_columns(query)]
    return Inner(
        word=word, query=query, operator=operator, operands=[*operands], uses=free, shown=f"({shown})"
    )


def outer_columns(query: NativeQuery) -> list[exp.Column]:
    """Return the columns that a query uses of the rows around it, each once."""
    own = {
        item.alias for found in native_below(query) if isinstance(found, NativeSelect) for item in found.items
    }
    used: dict[tuple[str, str], exp.Column] = {}
    for found in native_below(query):
        if isinstance(found, NativeSelect):
            for scalar in native_scalars(found):
                for part in scalar.find_all(exp.Column):
                    if part.table and part.table not in own:
                        used.setdefault((part.table, part.name), part)
    return list(used.values())


def names_of(query: NativeQuery) -> tuple[str, ...]:
    """Return the names of a query's columns."""
    if isinstance(query, NativeSet):
        return query.names
    return tuple(output.name for output in query.outputs)


def named(query: NativeQuery, names: Sequence[str]) -> NativeQuery:
    """Return a query whose columns are called by these names."""
    if isinstance(query, NativeSet):
        return replace(query, names=tuple(names))
    pairs = zip(names, query.outputs, strict=True)
    return replace(query, outputs=tuple(Output(name, output.value) for name, output in pairs))


def native_lookup(items: Iterable[NativeItem], around: Lookup) -> Lookup:
    """Return the function that says of which type a column is: of these items, or of the rows around."""
    known = {item.alias: item.rows for item in items}

    def lookup(node: Scalar) -> Variable:
        if not isinstance(node, exp.Column) or node.table not in known:
            return around(node)
        rows = known[node.table]
        if isinstance(rows, Scan):
            held = rows.table.column(node.name)
            if held is not None:
                return Variable(node.table, held.name, stored(held.type), held.type)
        else:
            for name, kind in zip(names_of(rows), rows.types, strict=True):
                if name == node.name:
                    return Variable(node.table, name, kind)
        return Variable(node.table, node.name, Opaque("unknown"))

    return lookup


def nowhere(node: Scalar) -> Variable:
    """Return a column of no known type: there are no rows around."""
    return Variable("", node.name, Opaque("unknown"))
