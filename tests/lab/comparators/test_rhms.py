"""RHMS: its scale by hand, and whether that scale does what adversarial privacy asks of it.

The noise must cover what one edge changes, not in every graph but in those that an adversary of bounded
prior expects: edges independent, each with probability at most ln n / n.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from recuse.graphs.graph import Graph
from recuse.graphs.protect import Protected
from recuse.lab.comparators.rhms import RHMS
from recuse.lab.comparators.subgraphs import SubgraphCount
from recuse.privacy import Epsilon
from support.noise import Seeded
from support.small_graphs import EDGE, TRIANGLE, TWO_STAR, codes, counted, graph, pairs

HALF = Epsilon.of("0.5")
GAMMA = 0.1
SIZES = (5, 20, 100, 1000, 10**5, 10**7)


def by_edge(size, code, motif):
    return SubgraphCount(graph(size, code), motif, Protected.EDGE)


def covered(motif, size: int) -> float:
    """Return the change by one edge that the noise makes ε-private: ε times the scale."""
    nobody = Graph(range(size), np.empty((0, 2), np.int64))
    return RHMS(HALF).scale(SubgraphCount(nobody, motif, Protected.EDGE)) / 2


def change(motif, size: int, probability: float):
    """Return the law of what one edge changes: other edges of its ends, or nodes adjacent to both."""
    if motif == TWO_STAR:
        return binom(2 * (size - 2), probability)
    return binom(size - 2, probability**2)


def test_its_scale_by_hand():
    """A triangle has 3 nodes and 3 edges: (27 ln n)²/ε; a 2-star 3 and 2: 12 ln n/ε; an edge 1/ε."""
    scales = [RHMS(HALF).scale(by_edge(5, 0, motif)) for motif in (TRIANGLE, TWO_STAR, EDGE)]
    assert scales == pytest.approx([(27 * math.log(5)) ** 2 / 0.5, 12 * math.log(5) / 0.5, 2])


def test_it_draws_laplace_noise_of_its_scale():
    subject, source = by_edge(5, 33, TWO_STAR), Seeded(2)
    away = [float(RHMS(HALF).release(subject, source).value) - counted(5, 33, TWO_STAR) for _ in range(6000)]
    scale = RHMS(HALF).scale(subject)
    assert np.mean(np.abs(away)) == pytest.approx(scale, rel=0.06)
    assert np.median(np.abs(away)) == pytest.approx(scale * math.log(2), rel=0.08)


@pytest.mark.parametrize("motif", [TRIANGLE, TWO_STAR], ids=str)
@pytest.mark.parametrize("probability", [0.2, 0.7])
def test_what_one_edge_changes_over_all_graphs(motif, probability):
    """The law, from all graphs on five nodes: the first pair's edge, all others by chance."""
    found: dict[int, float] = {}
    for code in codes(5)[::2]:
        others = code.bit_count()
        weight = probability**others * (1 - probability) ** (len(pairs(5)) - 1 - others)
        moved = counted(5, code | 1, motif) - counted(5, code, motif)
        found[moved] = found.get(moved, 0.0) + weight
    for moved, weight in found.items():
        assert change(motif, 5, probability).pmf(moved) == pytest.approx(weight)


@pytest.mark.parametrize("motif", [TRIANGLE, TWO_STAR], ids=str)
@pytest.mark.parametrize("size", SIZES)
def test_the_noise_covers_an_edge_in_what_a_bounded_adversary_expects(motif, size):
    assert change(motif, size, math.log(size) / size).sf(covered(motif, size)) <= GAMMA


def test_without_its_logarithm_it_would_not():
    large = SIZES[-1]
    scale = covered(TWO_STAR, large) / math.log(large)
    assert change(TWO_STAR, large, math.log(large) / large).sf(scale) > GAMMA


def test_it_is_not_differentially_private():
    """One edge between two nodes that know everybody makes 2(n - 2) 2-stars: more than the noise covers."""
    assert covered(TWO_STAR, 10) > 2 * 8
    assert covered(TWO_STAR, 1000) < 2 * 998
