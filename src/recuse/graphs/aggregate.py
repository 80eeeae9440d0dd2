"""Aggregates: k-stars and k-triangles of a graph as Σ over groups of C(size, k), never listed.

A k-star is a choice of k edges at one node, a k-triangle one of k triangles at one edge. So the units are
edges or triangles, the groups are nodes or edges, and the query holds as many rows as there are units,
whatever k. A unit is there while all its owners are, and a group's owners own its units too:

    pattern      protect   units       their owners   groups   their owners
    k-star       node      edges       2 nodes        nodes    the node
    k-star       edge      edges       the edge       nodes    nobody
    k-triangle   node      triangles   3 nodes        edges    2 nodes
    k-triangle   edge      triangles   3 edges        edges    the edge

`solver.aggregate` has the programs, docs/proofs.md the theorems (section "Aggregates").
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from math import comb
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from recuse.errors import ParameterError
from recuse.graphs.graph import Graph, Integers
from recuse.graphs.protect import Protected
from recuse.krelation.relation import Growth, frozen


@dataclass(frozen=True, slots=True, eq=False)
class Aggregate:
    """The number of ways to choose k units of one group, k ≥ 2.

    `places` has a row (group, unit) for each unit of each group, in order; the owners are one row a unit
    and one row a group. Nobody but its owners can take a unit away.
    """

    k: int
    unit_owners: Integers = field(repr=False)
    group_owners: Integers = field(repr=False)
    places: Integers = field(repr=False)
    participants: int
    names: Sequence[Hashable] = field(default=(), repr=False)

    signed: ClassVar[bool] = False
    constant: ClassVar[int] = 0

    def __post_init__(self) -> None:
        if self.k < 2:
            raise ValueError("a choice of one is a plain count")
        for array in (self.unit_owners, self.group_owners, self.places):
            frozen(array)

    @property
    def shape(self) -> Growth:
        """How its loads grow: a group's owner is in C(m, k) of its choices.

        Where groups have no owners (edges of stars) participants are many, and fine levels affordable.
        """
        return Growth(max(1, self.k // 2) if self.group_owners.shape[1] else 1)

    def sizes(self) -> Integers:
        """Return how many units each group has."""
        return np.bincount(self.places[:, 0], minlength=len(self.group_owners))

    def without(self, leavers: NDArray[np.bool_]) -> Aggregate:
        """Return what is left when some participants leave: their units are gone."""
        gone = np.any(leavers[self.unit_owners], axis=1)
        return replace(self, places=self.places[~gone[self.places[:, 1]]])

    def true_answer(self) -> int:
        """Return the answer without noise. Never release it; tests and demonstrations only."""
        return choices(self.sizes(), self.k)


def choices(sizes: Integers, k: int) -> int:
    """Return Σ C(size, k), exactly.

    >>> choices(np.array([3, 4, 0]), 2)
    9
    """
    values, counts = np.unique(sizes, return_counts=True)
    return sum(comb(m, k) * times for m, times in zip(values.tolist(), counts.tolist(), strict=True))


def k_stars(graph: Graph, k: int, protect: Protected) -> Aggregate:
    """Return the count of stars with k ≥ 2 leaves."""
    _check("star", k, graph)
    nodes, edges = np.arange(len(graph.nodes))[:, None], np.arange(len(graph.edges))
    places = _by_group(graph.edges, edges)
    if protect is Protected.NODE:
        return Aggregate(k, graph.edges.copy(), nodes, places, len(nodes), graph.nodes)
    return Aggregate(k, edges[:, None], nodes[:, :0], places, len(edges), _edge_names(graph))


def k_triangles(graph: Graph, k: int, protect: Protected) -> Aggregate:
    """Return the count of k ≥ 2 triangles that share one edge."""
    _check("k-triangle", k, graph)
    nodes, edges = triangles(graph)
    places = _by_group(edges, np.arange(len(edges)))
    if protect is Protected.NODE:
        return Aggregate(k, nodes, graph.edges.copy(), places, len(graph.nodes), graph.nodes)
    own = np.arange(len(graph.edges))[:, None]
    return Aggregate(k, edges, own, places, len(own), _edge_names(graph))


def triangles(graph: Graph) -> tuple[Integers, Integers]:
    """Return every triangle once: its three nodes and its three edges, a row each.

    Edges point from the end of lower degree, so that no node has many edges out and few pairs are tried.
    """
    count = len(graph.nodes)
    rank = np.empty(count, np.int64)
    rank[np.argsort(graph.degrees(), kind="stable")] = np.arange(count)
    tail, head = np.sort(rank[graph.edges], axis=1).T
    order = np.lexsort((head, tail))
    tail, head = tail[order], head[order]
    out = np.searchsorted(tail, np.arange(count + 1))
    times = out[head + 1] - out[head]
    first = np.repeat(np.arange(len(tail)), times)
    second = np.arange(len(first)) - np.repeat(np.cumsum(times) - times, times) + out[head[first]]
    keys = tail * count + head
    wanted = tail[first] * count + head[second]
    third = np.searchsorted(keys, wanted)
    found = np.append(keys, -1)[third] == wanted
    first, second, third = first[found], second[found], third[found]
    named = np.argsort(rank)
    nodes = np.stack((named[tail[first]], named[head[first]], named[head[second]]), axis=1)
    return nodes, np.stack((order[first], order[second], order[third]), axis=1)


def _by_group(groups: Integers, units: Integers) -> Integers:
    """Return the rows (group, unit), in order; unit i is in every group of row i."""
    places = np.stack((groups.ravel(), np.repeat(units, groups.shape[1])), axis=1)
    return places[np.lexsort((places[:, 1], places[:, 0]))]


def _edge_names(graph: Graph) -> list[tuple[int, ...]]:
    return [tuple(edge) for edge in graph.edges.tolist()]


def _check(pattern: str, k: int, graph: Graph) -> None:
    if k < 2:
        raise ParameterError(f"a {pattern} is aggregated from k = 2 on", found=str(k))
    if graph.directed:
        raise ParameterError(f"a {pattern} is aggregated in undirected graphs only")
