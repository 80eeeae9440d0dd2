"""Every copy of a pattern in a graph, listed by an engine, and the K-relation of their count."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np
import pyarrow

from recuse.arrow import arrow_numbers
from recuse.engines.binding import unbound
from recuse.engines.engine import Engine
from recuse.engines.open import open_tables
from recuse.errors import QueryError
from recuse.fold import fold
from recuse.graphs.compile import compile_pattern
from recuse.graphs.graph import Attributes, Graph, untyped
from recuse.graphs.names import clique, cycle, star
from recuse.graphs.pattern import Pattern
from recuse.graphs.protect import Protected
from recuse.graphs.where import UNTYPED, AttributeSchema, Condition
from recuse.krelation.build import from_owners
from recuse.krelation.codes import integers
from recuse.krelation.relation import Integers, KRelation

EDGES, TWO_STARS, TRIANGLES, RECTANGLES = clique(2), star(2), clique(3), cycle(4)


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
    copies this is so of nodes only (proofs.md, theorem S1).
    """
    sql = compile_pattern(pattern, {protect}, condition, induced=induced)
    found, order = _run(graph, sql, attributes=condition is not None)
    if protect is Protected.NODE:
        return _by_nodes(graph, _node_columns(found, order, pattern))
    return _by_edges(graph, _edge_columns(found, pattern))


def _run(graph: Graph, sql: str, *, attributes: bool) -> tuple[dict[str, Integers], Integers]:
    """Return the columns of a statement over the graph's tables, and the nodes in the order of their rank."""
    order = np.argsort(graph.degrees(), kind="stable")
    with closing(_engine(graph, order, attributes=attributes)) as engine:
        (found,) = engine.run([sql])
    return {name: integers(found[name]) for name in found.column_names}, order


def _node_columns(found: dict[str, Integers], order: Integers, pattern: Pattern) -> Integers:
    return np.stack([order[found[f"v{i}"]] for i in range(len(pattern.nodes))], axis=1)


def _edge_columns(found: dict[str, Integers], pattern: Pattern) -> Integers:
    return np.stack([np.asarray(found[f"e{j}"]) for j in range(len(pattern.edges))], axis=1)


def check(graph: Graph, pattern: Pattern, condition: Condition | None, *, induced: bool) -> None:
    """Refuse what the engine cannot bind. Nothing depends on the data: it is tried on an empty graph."""
    sql = compile_pattern(pattern, set(Protected), condition, induced=induced)
    with closing(_nothing(graph)) as engine:
        reason = unbound(engine, [sql])
        if reason is not None:
            raise QueryError(f"{engine.dialect.name} refuses the condition: {reason}")


def schema_of(graph: Graph) -> AttributeSchema:
    """Return the attributes that a condition may name."""
    with closing(_nothing(graph)) as engine:
        catalogue = engine.catalogue()

    def columns(table: str, attributes: Attributes) -> tuple[tuple[str, str], ...]:
        found = catalogue.table(table)
        types = [column.type for column in found.columns[1:]] if found is not None else []
        pairs = zip(attributes, types, strict=True)
        return tuple((held.name, kind if held.declared else UNTYPED) for held, kind in pairs)

    return AttributeSchema(columns("nodes", _about_nodes(graph)), columns("edges", graph.about_edges))


def _nothing(graph: Graph) -> Engine:
    """Return an engine with the tables of the graph, and nothing in them."""
    return _engine(_emptied(graph), np.empty(0, np.int64), attributes=True)


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


def _engine(graph: Graph, order: Integers, *, attributes: bool) -> Engine:
    """Return an engine with the graph's tables: nodes by their rank, in which `order` lists them."""
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
    return open_tables(tables)


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
