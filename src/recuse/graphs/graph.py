"""The simple graph: nodes by name, edges as pairs of node indices, and what is known about both."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow

from recuse.arrow import arrow_numbers
from recuse.errors import DatabaseError
from recuse.fold import fold
from recuse.krelation.relation import Integers


@dataclass(frozen=True, slots=True, eq=False)
class Attribute:
    """A column about all nodes or all edges.

    Its type is `declared` by the source (a frame's schema, GraphML's keys). Where the source declares none,
    the values are text, each for itself: a type inferred from all of them would tell about all of them.
    """

    name: str
    values: pyarrow.ChunkedArray | pyarrow.Array
    declared: bool = True

    def at(self, rows: Integers) -> Attribute:
        """Return the attribute of some of the rows."""
        return Attribute(self.name, self.values.take(arrow_numbers(rows)), self.declared)


Attributes = tuple[Attribute, ...]


def untyped(name: str, values: Iterable[object]) -> Attribute:
    """Return values without a declared type, as text."""
    return Attribute(
        name, pyarrow.array([node_text(value) for value in values], pyarrow.string()), declared=False
    )


def node_text(value: Any) -> str | None:
    """Return a value as text; what is missing, and what is no plain value, is NULL.

    >>> node_text("x"), node_text(3), node_text(2.5), node_text(True), node_text(float("nan")), node_text([1])
    ('x', '3', '2.5', 'true', None, None)
    """
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, bool):
        return "true" if plain else "false"
    if isinstance(plain, str):
        return plain.encode("utf-8", "replace").decode()
    if isinstance(plain, float | Decimal):
        return None if plain != plain else str(plain)
    return str(plain) if isinstance(plain, int | date) else None


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """Nodes, isolated ones included, and edges in order, each once: u < v, or from u to v if directed."""

    nodes: Sequence[Hashable] = field(repr=False)
    edges: Integers = field(repr=False)
    directed: bool = False
    about_nodes: Attributes = field(default=(), repr=False)
    about_edges: Attributes = field(default=(), repr=False)

    def __post_init__(self) -> None:
        if self.edges.ndim != 2 or self.edges.shape[1] != 2:
            raise ValueError("edges are pairs")
        if len(self.edges) and not 0 <= self.edges.min() <= self.edges.max() < len(self.nodes):
            raise ValueError("an edge ends at no node")
        for attributes, count in ((self.about_nodes, len(self.nodes)), (self.about_edges, len(self.edges))):
            if any(len(attribute.values) != count for attribute in attributes):
                raise ValueError("an attribute has one value for each")
            names = [fold(attribute.name) for attribute in attributes]
            if len(set(names)) < len(names):
                raise DatabaseError(
                    "two attributes have the same name", hint="upper and lower case are not told apart"
                )
        self.edges.flags.writeable = False

    def degrees(self) -> Integers:
        """Return how many edges each node has."""
        return np.bincount(self.edges.ravel(), minlength=len(self.nodes))


def by_name(graph: Graph) -> Graph:
    """Return the same graph, its nodes in the order of their names.

    Guarantee: a function of nodes and edges as sets: a solver's answer may depend on how they lie (proofs.md,
    lemma P).
    """
    order = sorted(range(len(graph.nodes)), key=lambda place: _sorting(graph.nodes[place]))
    if order == list(range(len(order))):
        return graph
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    about = tuple(attribute.at(np.array(order)) for attribute in graph.about_nodes)
    nodes = [graph.nodes[place] for place in order]
    return simple_graph(
        nodes,
        number[graph.edges],
        directed=graph.directed,
        about_nodes=about,
        about_rows=graph.about_edges,
    )


def _sorting(name: Hashable) -> tuple[str, int, str]:
    """Return by what names are sorted: numbers of one type by size, all else by what they look like."""
    number = name if isinstance(name, int) else 0
    return type(name).__name__, number, repr(name)


def simple_graph(
    nodes: Sequence[Hashable],
    pairs: Integers,
    *,
    directed: bool = False,
    about_nodes: Attributes = (),
    about_rows: Attributes = (),
) -> Graph:
    """Return the graph of arbitrary index pairs: loops dropped, repeats (and directions) merged.

    Of several rows between the same two nodes the first one's attributes stay: that depends on no other
    node's rows, and all of them belong to one participant, be it protected as an edge or by its ends.
    """
    first, second = pairs[:, 0], pairs[:, 1]
    if not directed:
        first, second = np.minimum(first, second), np.maximum(first, second)
    rows = np.flatnonzero(first != second)
    keys, chosen = np.unique(first[rows] * len(nodes) + second[rows], return_index=True)
    ends = np.stack((keys // max(1, len(nodes)), keys % max(1, len(nodes))), axis=1)
    kept = tuple(attribute.at(rows[chosen]) for attribute in about_rows)
    return Graph(nodes, ends, directed, about_nodes, kept)
