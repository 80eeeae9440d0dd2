"""What graph mechanisms work on: a graph, the motif to count in it, and who is protected."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.special import comb

from recuse.errors import ParameterError
from recuse.graphs.graph import Graph
from recuse.graphs.names import SINGLES, read_pattern
from recuse.graphs.pattern import Pattern
from recuse.graphs.protect import Protected


class Kind(Enum):
    """The families of motifs that have mechanisms of their own."""

    EDGE = "edge"
    STAR = "star"
    """a node with k of its neighbours"""
    TRIANGLES = "triangle"
    """an edge with k of its ends' common neighbours: k triangles that share an edge"""
    RECTANGLE = "rectangle"


@dataclass(frozen=True, slots=True)
class Motif:
    """A connected subgraph to be counted, not necessarily induced.

    >>> Motif.named("2-star"), Motif.named("k-triangle(2)") == Motif.named("2-triangle")
    (Motif(kind=<Kind.STAR: 'star'>, k=2), True)
    """

    kind: Kind
    k: int = 1

    @classmethod
    def of(cls, pattern: Pattern) -> Self:
        """Return the motif that a pattern is, if any comparator counts it."""
        if pattern.star is not None:
            return cls(Kind.STAR, pattern.star)
        if pattern.book is not None:
            return cls(Kind.TRIANGLES, pattern.book)
        if not pattern.directed:
            for kind in (Kind.EDGE, Kind.RECTANGLE):
                if SINGLES[kind.value].canonical() == pattern.canonical():
                    return cls(kind)
        raise ParameterError(
            "comparators for graphs do not count this pattern",
            found=str(pattern),
            accepted="edge, triangle, rectangle, star(k), k-triangle(k)",
        )

    @classmethod
    def named(cls, name: str) -> Self:
        """Return the motif of a pattern's name."""
        return cls.of(read_pattern(name))

    @property
    def nodes(self) -> int:
        """How many nodes it has."""
        return {Kind.EDGE: 2, Kind.STAR: self.k + 1, Kind.TRIANGLES: self.k + 2, Kind.RECTANGLE: 4}[self.kind]

    @property
    def edges(self) -> int:
        """How many edges it has."""
        sizes = {Kind.EDGE: 1, Kind.STAR: self.k, Kind.TRIANGLES: 2 * self.k + 1, Kind.RECTANGLE: 4}
        return sizes[self.kind]

    def count(self, graph: Graph) -> int:
        """Return how often it occurs in a graph."""
        return _count(self, graph)

    def most_of_a_node(self, degree: int) -> int:
        """Return how many occurrences a node can be in, where no degree exceeds `degree`."""
        rest, k = degree - 1, self.k
        match self.kind:
            case Kind.EDGE:
                found = degree
            case Kind.STAR:
                found = comb(degree, k) + degree * comb(rest, k - 1)
            case Kind.TRIANGLES if k == 1:
                found = comb(degree, 2)
            case Kind.TRIANGLES:
                found = degree * comb(rest, k) + comb(degree, 2) * comb(degree - 2, k - 1)
            case Kind.RECTANGLE:
                found = comb(degree, 2) * rest
        return round(float(found))

    def __str__(self) -> str:
        if self.kind in (Kind.EDGE, Kind.RECTANGLE) or self == Motif(Kind.TRIANGLES):
            return self.kind.value
        return f"{self.k}-{self.kind.value}"


@dataclass(frozen=True, slots=True)
class SubgraphCount:
    """A count of subgraphs, as a question to a graph mechanism."""

    graph: Graph
    motif: Motif
    protect: Protected

    def demand(self, mechanism: str, kinds: tuple[Kind, ...], protect: Protected) -> None:
        """Refuse if the mechanism does not count this motif, or does not protect whom it shall protect."""
        if self.protect is not protect:
            raise ParameterError(
                f"{mechanism} protects one {protect.value} only", found=f"--protect {self.protect.value}"
            )
        if self.motif.kind not in kinds:
            accepted = ", ".join("k-triangle" if kind is Kind.TRIANGLES else kind.value for kind in kinds)
            raise ParameterError(
                f"{mechanism} does not count this pattern", found=str(self.motif), accepted=accepted
            )


# ------------------------------------------------------------------ counting

Adjacency = Any
"""A sparse matrix of scipy, which has no types."""


@lru_cache(maxsize=64)
def _count(motif: Motif, graph: Graph) -> int:
    match motif.kind:
        case Kind.EDGE:
            return len(graph.edges)
        case Kind.STAR:
            return round(float(comb(graph.degrees(), motif.k).sum()))
        case Kind.TRIANGLES:
            total = float(comb(common_on_edges(graph), motif.k).sum())
            return round(total / 3 if motif.k == 1 else total)
        case Kind.RECTANGLE:
            shared = sparse.triu(common_neighbours(graph), 1).data
            return round(float(comb(shared, 2).sum()) / 2)


@lru_cache(maxsize=16)
def adjacency(graph: Graph) -> Adjacency:
    """Return the symmetric adjacency matrix."""
    size, (first, second) = len(graph.nodes), graph.edges.T
    ones = np.ones(len(first), np.int64)
    half = sparse.csr_array((ones, (first, second)), shape=(size, size))
    return (half + half.T).tocsr()


@lru_cache(maxsize=4)
def common_neighbours(graph: Graph) -> Adjacency:
    """Return a_ij, how many neighbours i and j share, for i ≠ j."""
    square = (adjacency(graph) @ adjacency(graph)).tocsr()
    square.setdiag(0)
    square.eliminate_zeros()
    return square


def common_on_edges(graph: Graph) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return a_ij of every edge that is in a triangle."""
    found: np.ndarray[Any, np.dtype[np.int64]] = sparse.triu(
        common_neighbours(graph).multiply(adjacency(graph)), 1
    ).data
    return found


def most_common_neighbours(graph: Graph) -> int:
    """Return a_max, the largest a_ij of any two nodes."""
    return int(common_neighbours(graph).data.max(initial=0))
