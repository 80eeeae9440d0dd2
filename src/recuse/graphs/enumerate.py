"""Every copy of a pattern in a graph, found by DuckDB, and the K-relation of their count."""

from __future__ import annotations

from dataclasses import dataclass, replace

import duckdb
import numpy as np
import pyarrow

from recuse.errors import DatabaseError, QueryError
from recuse.fold import fold
from recuse.graphs.compile import compile_pattern
from recuse.graphs.graph import Attributes, Graph, Integers, arrow_numbers, untyped
from recuse.graphs.names import clique, cycle, star
from recuse.graphs.pattern import Pattern
from recuse.graphs.protect import Protected
from recuse.graphs.where import UNTYPED, Condition, Schema
from recuse.krelation.build import from_owners
from recuse.krelation.relation import KRelation

EDGES, TWO_STARS, TRIANGLES, RECTANGLES = clique(2), star(2), clique(3), cycle(4)
CONFIGURATION: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "enable_external_access": False,
    "disabled_optimizers": "join_order",  # the plan's order is kept: the optimizer knows nothing of ranks
}


@dataclass(frozen=True, slots=True, eq=False)
class Occurrences:
    """The copies of a pattern: their nodes and their edges, one row each."""

    graph: Graph
    nodes: Integers
    edges: Integers

    def __len__(self) -> int:
        return len(self.nodes)


def occurrences(
    graph: Graph, pattern: Pattern, condition: Condition | None = None, *, induced: bool = False
) -> Occurrences:
    """Return each copy of the pattern once, with its nodes and its edges."""
    sql = compile_pattern(pattern, set(Protected), condition, induced=induced)
    found, order = _run(graph, sql, attributes=condition is not None)
    return Occurrences(graph, _node_columns(found, order, pattern), _edge_columns(found, pattern))


def count_copies(
    graph: Graph,
    pattern: Pattern,
    protect: Protected,
    condition: Condition | None = None,
    *,
    induced: bool = False,
) -> KRelation:
    """Return the count of the copies, each owned by its nodes or by its edges.

    Guarantee: with a node (an edge) withdrawn it is the relation of the graph without it; for induced
    copies this is so of nodes only (docs/proofs.md, theorem S1).
    """
    sql = compile_pattern(pattern, {protect}, condition, induced=induced)
    found, order = _run(graph, sql, attributes=condition is not None)
    if protect is Protected.NODE:
        return _by_nodes(graph, _node_columns(found, order, pattern))
    return _by_edges(graph, _edge_columns(found, pattern))


def _run(graph: Graph, sql: str, *, attributes: bool) -> tuple[dict[str, Integers], Integers]:
    """Return the columns of a statement over the graph's tables, and the nodes in the order of their rank."""
    order = np.argsort(graph.degrees(), kind="stable")
    with _tables(graph, order, attributes=attributes) as connection:
        try:
            return connection.execute(sql).fetchnumpy(), order
        except duckdb.Error:  # no part of the message: it may quote a value
            raise DatabaseError(
                "the copies could not be listed", hint="is there enough memory and disk space?"
            ) from None


def _node_columns(found: dict[str, Integers], order: Integers, pattern: Pattern) -> Integers:
    return np.stack([order[found[f"v{i}"]] for i in range(len(pattern.nodes))], axis=1)


def _edge_columns(found: dict[str, Integers], pattern: Pattern) -> Integers:
    return np.stack([np.asarray(found[f"e{j}"]) for j in range(len(pattern.edges))], axis=1)


def check(graph: Graph, pattern: Pattern, condition: Condition | None, *, induced: bool) -> None:
    """Refuse what DuckDB cannot bind. Nothing depends on the data: it is tried on an empty graph."""
    sql = compile_pattern(pattern, set(Protected), condition, induced=induced)
    with _tables(_emptied(graph), np.empty(0, np.int64), attributes=True) as connection:
        try:
            connection.execute(sql).fetchall()
        except duckdb.Error as error:
            reason = str(error).splitlines()[0].partition(": ")[2] or "it does not bind"
            raise QueryError(f"DuckDB refuses the condition: {reason}") from None


def schema_of(graph: Graph) -> Schema:
    """Return the attributes that a condition may name."""
    with _tables(_emptied(graph), np.empty(0, np.int64), attributes=True) as connection:

        def columns(table: str, attributes: Attributes) -> tuple[tuple[str, str], ...]:
            types = [kind for _, kind, *_ in connection.sql(f"DESCRIBE {table}").fetchall()[1:]]
            pairs = zip(attributes, types, strict=True)
            return tuple((found.name, kind if found.declared else UNTYPED) for found, kind in pairs)

        return Schema(columns("nodes", _about_nodes(graph)), columns("edges", graph.about_edges))


def _about_nodes(graph: Graph) -> Attributes:
    """Return the attributes of nodes, the node's own name among them."""
    if any(fold(attribute.name) == "id" for attribute in graph.about_nodes):
        return graph.about_nodes
    return (*graph.about_nodes, untyped("id", graph.nodes))


def _emptied(graph: Graph) -> Graph:
    """Return a graph with the same attributes and nothing in it."""

    def emptied(attributes: Attributes) -> Attributes:
        return tuple(replace(attribute, values=attribute.values[:0]) for attribute in attributes)

    return Graph(
        (), np.empty((0, 2), np.int64), graph.directed, emptied(graph.about_nodes), emptied(graph.about_edges)
    )


def _tables(graph: Graph, order: Integers, *, attributes: bool) -> duckdb.DuckDBPyConnection:
    """Return a database of the graph's tables; nodes stand in it by their rank, `order` lists them by it."""
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    ends, names = rank[graph.edges], np.arange(len(graph.edges))
    low, high = np.sort(ends, axis=1).T
    tables = {}
    if attributes:
        tables["nodes"] = _with_attributes("n", rank, _about_nodes(graph))
        tables["edges"] = _with_attributes("e", names, graph.about_edges)
    if graph.directed:
        tables["arcs"] = _edge_table(ends[:, 0], ends[:, 1], names)
    else:
        both = np.concatenate((low, high)), np.concatenate((high, low)), np.concatenate((names, names))
        tables["up"], tables["ways"] = _edge_table(low, high, names), _edge_table(*both)
    connection = duckdb.connect(config=CONFIGURATION)
    for name, table in tables.items():
        connection.register("arriving", table)
        connection.execute(f"CREATE TABLE {name} AS FROM arriving")  # tables have statistics, views have none
        connection.unregister("arriving")
    return connection


def _edge_table(u: Integers, v: Integers, e: Integers) -> pyarrow.Table:
    return pyarrow.table({"u": arrow_numbers(u), "v": arrow_numbers(v), "e": arrow_numbers(e)})


def _with_attributes(key: str, keys: Integers, attributes: Attributes) -> pyarrow.Table:
    columns = {key: arrow_numbers(keys)}
    return pyarrow.table(columns | {f"c{k}": found.values for k, found in enumerate(attributes)})


def owned_by_nodes(found: Occurrences) -> KRelation:
    """Return the count of the copies, every node a participant."""
    return _by_nodes(found.graph, found.nodes)


def owned_by_edges(found: Occurrences) -> KRelation:
    """Return the count of the copies, every edge a participant."""
    return _by_edges(found.graph, found.edges)


def _by_nodes(graph: Graph, owners: Integers) -> KRelation:
    return from_owners(np.ones(len(owners), np.int64), owners, names=graph.nodes, signed=False)


def _by_edges(graph: Graph, owners: Integers) -> KRelation:
    names = [tuple(edge) for edge in graph.edges.tolist()]
    return from_owners(np.ones(len(owners), np.int64), owners, names=names, signed=False)
