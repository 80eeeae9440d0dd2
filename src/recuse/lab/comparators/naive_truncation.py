"""Naive truncation with smooth sensitivity: for comparison only.

Kasiviswanathan, Nissim, Raskhodnikova and Smith, "Analyzing graphs with node differential privacy" (TCC
2013): nodes of degree above a guessed D are dropped, and the noise covers how many nodes stand near that
threshold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from recuse.errors import ParameterError
from recuse.graphs.graph import Graph
from recuse.graphs.protect import Protected
from recuse.lab.comparators.comparator import Privacy
from recuse.lab.comparators.simulate import cauchy_release
from recuse.lab.comparators.subgraphs import Kind, Motif, SubgraphCount
from recuse.mechanism.release import Release
from recuse.noise import Noise
from recuse.privacy import Epsilon


@dataclass(frozen=True, slots=True)
class NaiveTruncation:
    """The count in the truncated graph + Cauchy noise of scale √2 Δ_D S(G)/ε, S smooth with β = ε/√2."""

    privacy = Privacy.PURE_NODE
    guesses = ("a degree D above which nodes are dropped",)

    epsilon: Epsilon
    degree: int = 32

    def __post_init__(self) -> None:
        if self.degree < 1:
            raise ParameterError("a degree bound is at least 1", found=str(self.degree))

    def scale(self, count: SubgraphCount) -> float:
        """Return the scale of the noise.

        Guarantee: ε-private for one node: with it at most 1 + #{v : D ≤ deg v ≤ D + 1} nodes appear or
        vanish in the truncated graph, each in at most Δ_D occurrences, and that number is made smooth.
        """
        count.demand("naive truncation", tuple(Kind), Protected.NODE)
        beta = float(self.epsilon.value) / math.sqrt(2)
        moved = moved_nodes(count.graph, self.degree, beta)
        return count.motif.most_of_a_node(self.degree) * moved / beta

    def release(self, subject: SubgraphCount, noise: Noise) -> Release:
        """Return the noisy count of the truncated graph."""
        kept = count_truncated(subject.graph, subject.motif, self.degree)
        return cauchy_release(kept, self.scale(subject), self.epsilon, "naive", noise)


def truncated(graph: Graph, degree: int) -> Graph:
    """Return the graph without the edges of nodes of larger degree."""
    kept = graph.degrees() <= degree
    return Graph(graph.nodes, graph.edges[kept[graph.edges].all(axis=1)])


@lru_cache(maxsize=64)
def count_truncated(graph: Graph, motif: Motif, degree: int) -> int:
    """Return the count in the truncated graph."""
    return motif.count(truncated(graph, degree))


@lru_cache(maxsize=64)
def moved_nodes(graph: Graph, degree: int, beta: float) -> float:
    """Return max_s e^{-βs} (1 + s + #{v : D - s ≤ deg v ≤ D + s + 1}), a β-smooth bound for one node."""
    counts = np.bincount(np.abs(2 * graph.degrees() - 2 * degree - 1) // 2)
    steps = np.arange(len(counts) + math.ceil(1 / beta) + 1)
    near = np.cumsum(np.pad(counts, (0, len(steps) - len(counts))))
    return float((np.exp(-beta * steps) * (1 + steps + near)).max())
