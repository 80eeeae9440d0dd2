"""Pattern: the small connected graph whose copies are counted, and the symmetries that make copies one.

Every copy is found once: of all namings of its nodes, exactly one has the ranks in the order that
`comparisons` asks for (Grochow and Kellis, 2007).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

from recuse.errors import ParameterError

MOST_NODES = 6
MOST_COPIES = 100
"""The largest k of star(k) and k-triangle(k), which are counted without being enumerated."""

Edge = tuple[str, str]
Renaming = dict[str, str]


@dataclass(frozen=True, slots=True)
class Pattern:
    """A connected graph of 2 to 6 nodes without loops; only stars and k-triangles may be larger.

    An undirected edge stands here once, in the order in which it was written.
    """

    nodes: tuple[str, ...]
    edges: tuple[Edge, ...]
    directed: bool = False

    def __post_init__(self) -> None:
        known = set(self.nodes)
        if len(known) < len(self.nodes) or any(not {u, v} <= known for u, v in self.edges):
            raise ValueError("nodes stand once, and edges end at them")
        if any(u == v for u, v in self.edges):
            raise ParameterError("a pattern has no loops", hint="an edge joins two different nodes")
        if len({self._unordered(edge) for edge in self.edges}) < len(self.edges):
            raise ParameterError("an edge of the pattern is written twice", hint="write it once")
        if len(self.nodes) < 2:
            raise ParameterError("a pattern has at least one edge", accepted="a-b")
        if len(self._reached()) < len(self.nodes):
            raise ParameterError(
                "the pattern is not connected",
                hint="count each part by itself; two counts can be multiplied afterwards",
            )
        if len(self.nodes) > MOST_NODES and self.star is None and self.book is None:
            raise ParameterError(
                "the pattern has too many nodes",
                found=str(len(self.nodes)),
                accepted=f"at most {MOST_NODES}, except star(k) and k-triangle(k)",
            )
        if len(self.nodes) > MOST_COPIES + 2:
            raise ParameterError("k is too large", accepted=f"at most {MOST_COPIES}")

    def _unordered(self, edge: Edge) -> Edge | frozenset[str]:
        return edge if self.directed else frozenset(edge)

    def _reached(self) -> set[str]:
        """Return the nodes that can be reached from the first one, whatever the directions."""
        reached, fresh = set(self.nodes[:1]), set(self.nodes[:1])
        while fresh:
            fresh = {b for edge in self.edges for a, b in (edge, edge[::-1]) if a in fresh} - reached
            reached |= fresh
        return reached

    def joined(self, first: str, second: str) -> bool:
        """Return whether there is an edge: in this direction, if directions matter."""
        return (first, second) in self.edges or (not self.directed and (second, first) in self.edges)

    @property
    def complete(self) -> bool:
        """Whether every two nodes are joined, both ways if directions matter: nothing can be added."""
        pairs = len(self.nodes) * (len(self.nodes) - 1)
        return len(self.edges) == (pairs if self.directed else pairs // 2)

    # ------------------------------------------------------------------ two families

    @property
    def star(self) -> int | None:
        """The k of which this is the undirected star: one centre, k ≥ 2 leaves."""
        leaves = len(self.nodes) - 1
        if self.directed or leaves < 2 or len(self.edges) != leaves:
            return None
        return leaves if max(self._degrees().values()) == leaves else None

    @property
    def book(self) -> int | None:
        """The k of which this is the k-triangle: k triangles on one common edge."""
        pages, spine = len(self.nodes) - 2, len(self.nodes) - 1
        if self.directed or pages < 1 or len(self.edges) != 2 * pages + 1:
            return None
        return pages if sorted(self._degrees().values())[-2:] == [spine, spine] else None

    def _degrees(self) -> dict[str, int]:
        ends = [node for edge in self.edges for node in edge]
        return {node: ends.count(node) for node in self.nodes}

    # ------------------------------------------------------------------ symmetries

    def _as_set(self, renaming: Renaming) -> frozenset[Edge | frozenset[str]]:
        return frozenset(self._unordered((renaming[u], renaming[v])) for u, v in self.edges)

    def automorphisms(self) -> Iterator[Renaming]:
        """Yield every renaming of the nodes under which the edges stay the same; for small patterns."""
        same = {node: node for node in self.nodes}
        for images in permutations(self.nodes):
            renaming = dict(zip(self.nodes, images, strict=True))
            if self._as_set(renaming) == self._as_set(same):
                yield renaming

    def canonical(self) -> Pattern:
        """Return the pattern that all renamings of this one have in common, its nodes called a, b, c …."""
        if len(self.nodes) > MOST_NODES:
            degrees = self._degrees()
            return self._renamed(sorted(self.nodes, key=lambda node: -degrees[node]))
        return min(map(self._renamed, permutations(self.nodes)), key=lambda pattern: pattern.edges)

    def _renamed(self, order: tuple[str, ...] | list[str]) -> Pattern:
        """Return the pattern with its nodes called a, b, c … in this order, and its edges sorted."""
        names = letters(len(order))
        renaming = dict(zip(order, names, strict=True))
        edges = [(renaming[u], renaming[v]) for u, v in self.edges]
        place = {name: i for i, name in enumerate(names)}
        if not self.directed:
            edges = [(u, v) if place[u] < place[v] else (v, u) for u, v in edges]
        return Pattern(names, tuple(sorted(edges, key=lambda e: (place[e[0]], place[e[1]]))), self.directed)

    def comparisons(self) -> tuple[Edge, ...]:
        """Return pairs (lower, higher): of all namings of a copy, exactly one has its ranks in this order.

        One node of an orbit is made the highest, then the symmetries that keep it are broken in turn. An
        orbit that holds an edge comes first: its order directs the edge, so that fewer rows are joined.
        """
        found: list[Edge] = []
        group = list(self.automorphisms())
        while len(group) > 1:
            orbits = {node: frozenset(renaming[node] for renaming in group) for node in self.nodes}
            top = max(self.nodes, key=lambda node: (self._inner_edges(orbits[node]), len(orbits[node])))
            found += [(node, top) for node in self.nodes if node in orbits[top] and node != top]
            group = [renaming for renaming in group if renaming[top] == top]
        return tuple(found)

    def _inner_edges(self, nodes: frozenset[str]) -> int:
        return sum({u, v} <= nodes for u, v in self.edges)

    def __str__(self) -> str:
        arrow = "->" if self.directed else "-"
        return ", ".join(f"{u}{arrow}{v}" for u, v in self.edges)


def letters(count: int) -> tuple[str, ...]:
    """Return names for nodes: a, b, c …, and n0, n1, … if there are too many."""
    return (
        tuple("abcdefghijklmnopqrstuvwxyz"[:count]) if count <= 26 else tuple(f"n{i}" for i in range(count))
    )
