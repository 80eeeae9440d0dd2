"""Every occurrence of a pattern in a graph, found by DuckDB.

Nodes are ranked by degree, so that no join runs over the pairs of neighbours of a hub when the pattern
allows to avoid it.
"""

from __future__ import annotations

from dataclasses import dataclass

import duckdb
import numpy as np
import pyarrow as pa

from recuse.graphs.graph import Graph, Integers
from recuse.krelation.build import from_owners
from recuse.krelation.relation import KRelation


@dataclass(frozen=True, slots=True)
class Pattern:
    """A query over `up(u, v, e)`, edges from lower to higher rank, and `ways(u, v, e)`, edges both ways."""

    nodes: tuple[str, ...]
    edges: tuple[str, ...]
    query: str


EDGES = Pattern(("u", "v"), ("e",), "FROM up")
TWO_STARS = Pattern(
    ("a.u", "a.v", "b.v"), ("a.e", "b.e"), "FROM ways a JOIN ways b ON a.u = b.u AND a.v < b.v"
)
TRIANGLES = Pattern(
    ("a.u", "a.v", "b.v"),
    ("a.e", "b.e", "c.e"),
    "FROM up a JOIN up b ON b.u = a.v JOIN up c ON c.u = a.u AND c.v = b.v",
)
RECTANGLES = Pattern(
    ("x.top", "x.side", "x.opposite", "y.side"),
    ("x.first", "x.second", "y.first", "y.second"),
    # the corner of highest rank, the two sides next to it, the opposite corner
    "FROM wedge x JOIN wedge y ON x.top = y.top AND x.opposite = y.opposite AND x.side < y.side",
)
WEDGES = """CREATE TEMP TABLE wedge AS
SELECT a.v AS top, a.u AS side, b.v AS opposite, a.e AS first, b.e AS second
FROM up a JOIN ways b ON b.u = a.u AND b.v < a.v"""


@dataclass(frozen=True, slots=True, eq=False)
class Occurrences:
    """The occurrences of a pattern: their nodes and their edges, one row each."""

    graph: Graph
    nodes: Integers
    edges: Integers

    def __len__(self) -> int:
        return len(self.nodes)


def occurrences(graph: Graph, pattern: Pattern) -> Occurrences:
    """Return each occurrence of the pattern once."""
    order = np.argsort(graph.degrees(), kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    ends = np.sort(rank[graph.edges], axis=1)
    names = np.arange(len(ends))
    up = pa.table({"u": ends[:, 0], "v": ends[:, 1], "e": names})
    ways = pa.table(
        {
            "u": np.concatenate((ends[:, 0], ends[:, 1])),
            "v": np.concatenate((ends[:, 1], ends[:, 0])),
            "e": np.concatenate((names, names)),
        }
    )
    with duckdb.connect() as connection:
        connection.register("up", up)
        connection.register("ways", ways)
        if "wedge" in pattern.query:
            connection.execute(WEDGES)
        columns = ", ".join(f"{c} AS c{i}" for i, c in enumerate(pattern.nodes + pattern.edges))
        found = connection.execute(f"SELECT {columns} {pattern.query}").fetchnumpy()
    size = len(pattern.nodes)
    width = size + len(pattern.edges)
    nodes = np.stack([order[found[f"c{i}"]] for i in range(size)], axis=1)
    edges = np.stack([np.asarray(found[f"c{i}"]) for i in range(size, width)], axis=1)
    return Occurrences(graph, nodes, edges)


def owned_by_nodes(found: Occurrences) -> KRelation:
    """Return the count of the occurrences, every node a participant."""
    weights = np.ones(len(found), np.int64)
    return from_owners(weights, found.nodes, names=found.graph.nodes, signed=False)


def owned_by_edges(found: Occurrences) -> KRelation:
    """Return the count of the occurrences, every edge a participant."""
    weights = np.ones(len(found), np.int64)
    names = [tuple(edge) for edge in found.graph.edges.tolist()]
    return from_owners(weights, found.edges, names=names, signed=False)
