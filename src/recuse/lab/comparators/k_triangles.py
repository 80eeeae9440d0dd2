"""k-triangles with noise calibrated to a noisy bound on the local sensitivity: (ε, δ), for comparison only.

Karwa, Raskhodnikova, Smith and Yaroslavtsev, "Private analysis of graph structure" (VLDB 2011),
k-triangles. a_max, the most common neighbours of two nodes, moves by 1 with an edge; given a bound on it,
the local sensitivity moves by at most LS' = 3 C(a, k-1) + a C(a, k-2); given a bound on that, the count
moves by at most LS.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import comb

from recuse.errors import ParameterError
from recuse.graphs.graph import Graph
from recuse.graphs.protect import Protected
from recuse.lab.comparators.comparator import Privacy
from recuse.lab.comparators.simulate import laplace, laplace_release
from recuse.lab.comparators.subgraphs import (
    Adjacency,
    Kind,
    SubgraphCount,
    adjacency,
    common_neighbours,
    most_common_neighbours,
)
from recuse.mechanism.release import Release
from recuse.noise import Noise
from recuse.privacy import Epsilon


@dataclass(frozen=True, slots=True)
class KTriangles:
    """A third of ε for each of a_max, the local sensitivity and the count; half of δ for each bound."""

    epsilon: Epsilon
    delta: float = 0.1

    guesses = ("δ",)
    privacy = Privacy.APPROXIMATE_EDGE

    def __post_init__(self) -> None:
        if not 0 < self.delta < 1:
            raise ParameterError("δ is a probability", found=str(self.delta))

    @property
    def share(self) -> float:
        """The part of ε that each of the three steps has."""
        return float(self.epsilon.value) / 3

    @property
    def margin(self) -> float:
        """How many scales above the truth a bound is put, so that noise exceeds it with probability δ/2."""
        return math.log(1 / self.delta)

    def release(self, subject: SubgraphCount, noise: Noise) -> Release:
        """Return the noisy count.

        Guarantee: (ε, O(δ))-private for one edge: except with probability δ both bounds hold for both
        neighbours, and then each step has its third of ε. One is added to a_max so that the bound serves
        the neighbour too.
        """
        subject.demand("k-triangle", (Kind.TRIANGLES,), Protected.EDGE)
        graph, k = subject.graph, subject.motif.k
        if k < 2:
            raise ParameterError("one triangle has a pure mechanism", found="triangle", hint="use smooth")
        common = most_common_neighbours(graph) + 1 + (laplace(noise) + self.margin) / self.share
        step = second_sensitivity(max(0.0, common), k) / self.share
        bound = local_sensitivity(graph, k) + step * (laplace(noise) + self.margin)
        scale = max(0.0, bound) / self.share
        return laplace_release(subject.motif.count(graph), scale, self.epsilon, "k-triangle", noise)


def second_sensitivity(common: float, k: int) -> float:
    """Return how far one edge moves the local sensitivity if no two nodes share more than `common`."""
    return float(3 * _choose(common, k - 1) + common * _choose(common, k - 2))


def _choose(value: float, k: int) -> float:
    """Return the binomial coefficient value(value-1)…/k!, also between integers."""
    return math.prod(max(0.0, value - i) for i in range(k)) / math.factorial(k)


@lru_cache(maxsize=16)
def local_sensitivity(graph: Graph, k: int) -> float:
    """Return the most k-triangles that appear or vanish with one edge of the graph.

    Edge ij is the base of C(a_ij, k), and a side of C(a_ih, k-1) + C(a_jh, k-1) for each common neighbour
    h, all counted without ij itself.
    """
    edges, common = adjacency(graph), common_neighbours(graph)
    sides = common.multiply(edges).tocsr()
    base = _chosen(common, k)
    present, absent = _chosen(sides, k - 1, without=1), _chosen(sides, k - 1)
    adjacent = (base + present @ edges + edges @ present).multiply(edges)
    anywhere = base + absent @ edges + edges @ absent
    apart = (anywhere - anywhere.multiply(edges)).tocsr()
    apart.setdiag(0)
    return float(max(adjacent.max(), apart.max(), 0))


def _chosen(matrix: Adjacency, k: int, without: int = 0) -> Adjacency:
    """Return C(x - without, k) of every entry x."""
    found = matrix.astype(np.float64)
    found.data = comb(found.data - without, k)
    return found
