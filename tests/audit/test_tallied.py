"""The audit of counts that need no τ, exactly: the joint distribution of all tail counts of tiny graphs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from recuse.graphs.degrees import tail_counts
from recuse.graphs.graph import simple_graph
from recuse.graphs.protect import Protected
from recuse.mechanism.tallied import Tallied
from recuse.mechanism.vector import ManhattanLaplace
from recuse.privacy import Epsilon
from recuse.session.degree_question import DegreeQuestion
from recuse.solver.fast import fast_programs

NODES, EPSILON = 4, Fraction(1)
PAIRS = list(itertools.combinations(range(NODES), 2))
TAILS = [1, 2, 3]
OUTPUTS = np.arange(-6, NODES + 7)


def made(edges) -> list[int]:
    graph = simple_graph(range(NODES), np.array(list(edges), np.int64).reshape(-1, 2))
    return tail_counts(graph, np.array(TAILS)).tolist()


def neighbours() -> Iterator[tuple[list[int], list[int]]]:
    """Yield the counts of all graphs of four nodes, with and without one edge."""
    for size in range(1, len(PAIRS) + 1):
        for edges in itertools.combinations(PAIRS, size):
            for gone in edges:
                yield made(edges), made(edge for edge in edges if edge != gone)


def joint(counts: list[int], sensitivity: int) -> np.ndarray:
    """Return the probability of every vector of outputs, from the scale that the release has."""
    scale = float(ManhattanLaplace(EPSILON, sensitivity, len(counts)).spread())
    q = math.exp(-1 / scale)
    each = [(1 - q) / (1 + q) * q ** np.abs(OUTPUTS - count) for count in counts]
    return np.einsum("i,j,k->ijk", *each)


def worst(sensitivity: int) -> float:
    pairs = {(tuple(one), tuple(other)) for one, other in neighbours()}
    ratios = (np.log(joint(list(a), sensitivity) / joint(list(b), sensitivity)) for a, b in pairs)
    return max(float(np.abs(ratio).max()) for ratio in ratios)


def test_all_tail_counts_of_neighbours_are_alike_exactly():
    graph = simple_graph(range(NODES), np.array(PAIRS, np.int64))
    asked = DegreeQuestion.of(graph, "", Protected.EDGE, TAILS, Epsilon(EPSILON))
    (groups,) = asked.read_private_rows(fast_programs)
    assert isinstance(groups, Tallied)
    assert worst(groups.sensitivity) == pytest.approx(float(EPSILON)), "all of ε is used, and no more"


def test_noise_for_one_step_is_caught():
    """The twin: an edge has two ends."""
    assert worst(1) == pytest.approx(2 * float(EPSILON))
