"""Aggregates: k-stars and k-triangles of a graph as Σ over groups of C(size, k), never listed.

A k-star is a choice of k edges at one node, a k-triangle one of k triangles at one edge. So the units are
edges or triangles, the groups are nodes or edges, and the query holds as many rows as there are units,
whatever k. A unit is there while all its owners are, and a group's owners own its units too:

    pattern      protect   units       their owners   groups   their owners
    k-star       node      edges       2 nodes        nodes    the node
    k-star       edge      edges       the edge       nodes    nobody
    k-triangle   node      triangles   3 nodes        edges    2 nodes
    k-triangle   edge      triangles   3 edges        edges    the edge

`solver.choices` has the programs, proofs.md the theorems (section "Aggregates").
"""

from __future__ import annotations

import numpy as np

from recuse.errors import ParameterError
from recuse.graphs.graph import Graph
from recuse.graphs.protect import Protected
from recuse.krelation.choices import Choices
from recuse.krelation.relation import Growth, Integers


def growth(star: int | None, book: int, protect: Protected) -> Growth:
    """Return how k-stars or k-triangles grow: it follows from what is asked, not from a graph."""
    k, owned = (book, True) if star is None else (star, protect is Protected.NODE)
    return Growth(max(1, k // 2) if owned else 1)


def k_stars(graph: Graph, k: int, protect: Protected) -> Choices:
    """Return the count of stars with k ≥ 2 leaves."""
    _check("star", k, graph)
    nodes, edges = np.arange(len(graph.nodes))[:, None], np.arange(len(graph.edges))
    places = _by_group(graph.edges, edges)
    if protect is Protected.NODE:
        return Choices(k, graph.edges.copy(), nodes, places, len(nodes), graph.nodes)
    return Choices(k, edges[:, None], nodes[:, :0], places, len(edges), _edge_names(graph))


def k_triangles(graph: Graph, k: int, protect: Protected) -> Choices:
    """Return the count of k ≥ 2 triangles that share one edge."""
    _check("k-triangle", k, graph)
    nodes, edges = triangles(graph)
    places = _by_group(edges, np.arange(len(edges)))
    if protect is Protected.NODE:
        return Choices(k, nodes, graph.edges.copy(), places, len(graph.nodes), graph.nodes)
    own = np.arange(len(graph.edges))[:, None]
    return Choices(k, edges, own, places, len(own), _edge_names(graph))


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
