"""Local sensitivity at a distance: I_s(G), the most that one edge matters in any graph s edges away from G.

Neighbours differ in one edge; the set of nodes is public. I_s grows with s up to its value in the worst
graph on as many nodes, and a profile is the list I_0, I_1, … up to there. Smooth sensitivity and ladders
are made of it.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy import sparse
from scipy.special import comb

from recuse.graphs.graph import Graph
from recuse.krelation.relation import Floats, Integers
from recuse.lab.comparators.subgraphs import Adjacency, Kind, Motif, adjacency, common_neighbours

COUNTED = (Kind.EDGE, Kind.STAR, Kind.TRIANGLES)


@lru_cache(maxsize=64)
def profile(graph: Graph, motif: Motif) -> Floats:
    """Return I_0, I_1, … of a motif; the last value holds from there on."""
    if motif.kind is Kind.EDGE:
        return np.ones(1)
    size = len(graph.nodes)
    if size < 3:
        return np.zeros(1)
    distances = np.arange(2 * size + 1)
    if motif.kind is Kind.TRIANGLES:
        rows = (_triangles(a, b, distances, size) for a, b in _front(_triangle_pairs(graph)))
    else:
        rows = (_stars(high, low, distances, size, motif.k) for high, low in _front(_star_pairs(graph)))
    found: Floats = np.max(list(rows), axis=0)
    return found[: int(np.argmax(found == found[-1])) + 1]


def smooth_sensitivity(graph: Graph, motif: Motif, beta: float) -> float:
    """Return max_s e^{-βs} I_s: the least β-smooth upper bound on the local sensitivity.

    Nissim, Raskhodnikova and Smith (STOC 2007), the definition of smooth sensitivity.
    """
    found = profile(graph, motif)
    return float((found * np.exp(-beta * np.arange(len(found)))).max())


# ------------------------------------------------------------------ one pair of nodes


def _triangles(common: int, half: int, distances: Integers, size: int) -> Floats:
    """Return how many triangles the edge of a pair can be in after s changes.

    A node adjacent to one of the pair costs one edge, a node adjacent to neither two (Nissim, Raskhodnikova
    and Smith 2007, the number of triangles: c_ij(s) = min(a_ij + ⌊(s + min(s, b_ij))/2⌋, n - 2)).
    """
    return np.minimum(common + (distances + np.minimum(distances, half)) // 2, size - 2).astype(np.float64)


def _stars(high: int, low: int, distances: Integers, size: int, k: int) -> Floats:
    """Return how many k-stars the edge of a pair can be in after s changes.

    C(·, k-1) is convex, so all edges go to the end of larger degree until it is full, then to the other
    (Karwa, Raskhodnikova, Smith and Yaroslavtsev, VLDB 2011, the smooth sensitivity of k-stars).
    """
    full = size - 2
    first = np.minimum(high + distances, full)
    second = np.minimum(low + np.maximum(0, distances - (full - high)), full)
    found: Floats = comb(first, k - 1) + comb(second, k - 1)
    return found


# ------------------------------------------------------------------ which pairs matter


def _front(pairs: Integers) -> list[tuple[int, int]]:
    """Return the pairs of numbers that no other pair exceeds in both."""
    order = np.lexsort((-pairs[:, 1], -pairs[:, 0]))
    sorted_pairs = pairs[order]
    best = np.maximum.accumulate(sorted_pairs[:, 1])
    kept = np.concatenate(([True], sorted_pairs[1:, 1] > best[:-1]))
    return [(int(x), int(y)) for x, y in sorted_pairs[kept]]


def _triangle_pairs(graph: Graph) -> Integers:
    """Return (a_ij, b_ij): common neighbours, and nodes adjacent to exactly one of the two.

    Of the pairs that are not adjacent and share no neighbour only the best are listed.
    """
    degrees = graph.degrees()
    near = (2 * common_neighbours(graph) + adjacency(graph)).tocsr()
    upper = sparse.triu(near, 1).tocoo()
    common, adjacent = upper.data // 2, upper.data % 2
    half = degrees[upper.row] + degrees[upper.col] - 2 * common - 2 * adjacent
    apart = [[0, high + low] for high, low in _apart(near, degrees)]
    return np.concatenate((np.stack((common, half), axis=1), np.array(apart, np.int64).reshape(-1, 2)))


def _star_pairs(graph: Graph) -> Integers:
    """Return the degrees of pairs without the edge between them, the larger first."""
    degrees = graph.degrees()
    adjacent = -np.sort(1 - degrees[graph.edges], axis=1)
    apart = np.array(_apart(adjacency(graph), degrees), np.int64).reshape(-1, 2)
    return np.concatenate((adjacent, apart))


def _apart(near: Adjacency, degrees: Integers) -> list[tuple[int, int]]:
    """Return the degrees of pairs of nodes that are not near each other, the larger first.

    Only pairs that may matter are listed: the smaller degree must exceed that of all pairs before.
    """
    order = np.argsort(-degrees, kind="stable")
    found: list[tuple[int, int]] = []
    for place, node in enumerate(order.tolist()):
        if found and degrees[node] <= found[-1][1]:
            break
        beside = set(near.indices[near.indptr[node] : near.indptr[node + 1]].tolist())
        other = next((other for other in order[place + 1 :].tolist() if other not in beside), None)
        if other is not None and (not found or degrees[other] > found[-1][1]):
            found.append((int(degrees[node]), int(degrees[other])))
    return found
