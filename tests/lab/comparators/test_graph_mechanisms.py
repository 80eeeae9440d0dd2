"""Mechanisms for graphs: their noise against brute force over all graphs on a few nodes, and broken twins."""

from __future__ import annotations

import math
from functools import cache
from itertools import product

import numpy as np
import pytest

from recuse.errors import ParameterError
from recuse.graphs.protect import Protected
from recuse.lab.comparators.distance import profile
from recuse.lab.comparators.k_triangles import KTriangles, local_sensitivity, second_sensitivity
from recuse.lab.comparators.ladder import Ladder, Rungs
from recuse.lab.comparators.naive_truncation import NaiveTruncation, moved_nodes, truncated
from recuse.lab.comparators.rhms import RHMS
from recuse.lab.comparators.smooth_sensitivity import SmoothSensitivity
from recuse.lab.comparators.subgraphs import SubgraphCount, most_common_neighbours
from recuse.privacy import Epsilon
from support.noise import Seeded
from support.profiles import some
from support.small_graphs import (
    EDGE,
    RECTANGLE,
    THREE_STAR,
    THREE_TRIANGLE,
    TRIANGLE,
    TWO_STAR,
    TWO_TRIANGLE,
    codes,
    counted,
    edge_neighbours,
    graph,
    local,
    pairs,
    without_node,
)

HALF = Epsilon.of("0.5")
SMOOTH = (TRIANGLE, TWO_STAR, THREE_STAR, EDGE)
ALL = (*SMOOTH, TWO_TRIANGLE, THREE_TRIANGLE, RECTANGLE)


def by_edge(size, code, motif):
    return SubgraphCount(graph(size, code), motif, Protected.EDGE)


def by_node(size, code, motif):
    return SubgraphCount(graph(size, code), motif, Protected.NODE)


def edge_pairs(size):
    return ((code, other) for code in codes(size) for other in edge_neighbours(size, code) if other > code)


# ------------------------------------------------------------------ smooth sensitivity


def cauchy_loss(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Return the largest log-ratio of two Cauchy densities (centre, scale): their hyperbolic distance."""
    (m, s), (m2, s2) = one, other
    return math.acosh(1 + ((m - m2) ** 2 + (s - s2) ** 2) / (2 * s * s2))


def worst_cauchy_loss(motif, scale_of, size=4):
    return max(
        cauchy_loss(
            (counted(size, code, motif), scale_of(size, code)),
            (counted(size, other, motif), scale_of(size, other)),
        )
        for code, other in edge_pairs(size)
    )


def test_the_loss_of_cauchy_noise_is_a_hyperbolic_distance():
    z = np.tan(np.linspace(-1.5707, 1.5707, 200_001))
    for m, s in [(0.7, 1.0), (0.0, 2.5), (1.3, 0.4)]:
        ratio = np.log((s * (1 + z**2)) / (s**2 + (z - m) ** 2))
        assert np.abs(ratio).max() == pytest.approx(cauchy_loss((0, 1), (m, s)), rel=1e-4)


@pytest.mark.parametrize("divisor", [math.sqrt(2), 6])
@pytest.mark.parametrize("motif", SMOOTH, ids=str)
@pytest.mark.parametrize("epsilon", some(["0.1", "0.5", "2"], 0.4))
def test_smooth_sensitivity_is_private(motif, epsilon, divisor):
    mechanism = SmoothSensitivity(Epsilon.of(epsilon), divisor)
    worst = worst_cauchy_loss(motif, lambda n, code: mechanism.scale(by_edge(n, code, motif)))
    assert worst <= float(epsilon) + 1e-9


def test_noise_by_local_sensitivity_alone_is_not_private():
    twin = worst_cauchy_loss(
        TRIANGLE, lambda n, code: max(1e-3, local(n, code, TRIANGLE)) * math.sqrt(2) / 0.5, size=5
    )
    assert twin > 1


def test_a_scale_that_is_a_third_smaller_is_not_private():
    mechanism = SmoothSensitivity(HALF)
    twin = worst_cauchy_loss(EDGE, lambda n, code: mechanism.scale(by_edge(n, code, EDGE)) / 1.5)
    assert twin > 0.5


@pytest.mark.parametrize("motif", SMOOTH, ids=str)
def test_the_answers_have_the_stated_spread(motif):
    code = codes(5)[-1] ^ 0b1010
    subject, mechanism, source = by_edge(5, code, motif), SmoothSensitivity(HALF), Seeded(4)
    away = [float(mechanism.release(subject, source).value) - counted(5, code, motif) for _ in range(4000)]
    median = np.median(np.abs(away))
    scale = mechanism.scale(subject)
    assert 0.9 * scale < median < 1.1 * scale  # the median of |Cauchy| is its scale
    assert abs(np.median(away)) < 0.1 * scale


# ------------------------------------------------------------------ ladder


@pytest.mark.parametrize("motif", SMOOTH, ids=str)
@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_the_ladder_is_private(motif, epsilon):
    assert worst_ladder_loss(motif, epsilon, lambda found: found) <= epsilon + 1e-9


def test_a_ladder_without_distance_is_not_private():
    """The twin keeps I_0 on every rung."""
    assert worst_ladder_loss(TWO_STAR, 1.0, lambda found: np.maximum(1, found[:1])) > 1.2


def worst_ladder_loss(motif, epsilon, alter):
    worst = 0.0
    for code, other in edge_pairs(4):
        one, two = (Rungs(alter(profile(graph(4, c), motif)), epsilon) for c in (code, other))
        centres = counted(4, code, motif), counted(4, other, motif)
        weights = one.weights.sum(), two.weights.sum()
        for answer in range(-60, 80):
            rungs = [r.rung(abs(answer - c)) for r, c in zip((one, two), centres, strict=True)]
            loss = epsilon / 2 * (rungs[1] - rungs[0]) - math.log(weights[0] / weights[1])
            worst = max(worst, abs(loss))
    return worst


@pytest.mark.parametrize("widths", [[1.0], [0, 2, 3.0], [3, 5, 5, 8.0]])
def test_rungs_are_a_distribution_and_drawn_from(widths):
    rungs = Rungs(np.array(widths), 0.8)
    assert sum((1 if d == 0 else 2) * rungs.probability(d) for d in range(2000)) == pytest.approx(1, abs=1e-9)
    source = Seeded(7)
    drawn = np.array([rungs.draw(source) for _ in range(20_000)])
    for value in (-4, -1, 0, 1, 2, 6, 11):
        expected = rungs.probability(abs(value))
        assert np.mean(drawn == value) == pytest.approx(expected, abs=5 * math.sqrt(expected / len(drawn)))
    assert np.mean(np.abs(drawn) <= rungs.reach()) >= 0.94


def test_a_ladder_answers_with_integers():
    found = Ladder(HALF).release(by_edge(5, 777, TRIANGLE), Seeded(1))
    assert found.value.denominator == 1


# ------------------------------------------------------------------ k-triangles


@pytest.mark.parametrize("motif", [TWO_TRIANGLE, THREE_TRIANGLE], ids=str)
def test_local_sensitivity_of_k_triangles(motif):
    some = codes(5)[::5]
    assert all(local_sensitivity(graph(5, code), motif.k) == local(5, code, motif) for code in some)


@cache
def shared(code: int) -> int:
    """Return a_max of a graph on five nodes."""
    return most_common_neighbours(graph(5, code))


def test_every_bound_of_k_triangles_moves_as_far_as_stated():
    caught = False
    for code, other in edge_pairs(5):
        assert abs(shared(code) - shared(other)) <= 1
        for motif in (TWO_TRIANGLE, THREE_TRIANGLE):
            bound = second_sensitivity(max(shared(code), shared(other)), motif.k)
            change = abs(local(5, code, motif) - local(5, other, motif))
            assert change <= bound
            caught |= change > bound / 2
    assert caught


class Fixed:
    """Uniform bits in the middle: Laplace noise is 0, so that scales can be read off."""

    def bits(self, count):
        return 1 << (count - 1)

    def laplace(self, scale):
        raise AssertionError("comparators of graphs draw bits")


def test_the_scale_of_k_triangles_by_hand():
    """All five nodes joined: a_max = 3, LS = C(3,2) + 3·2·2 = 15 for k = 2."""
    subject = by_edge(5, codes(5)[-1], TWO_TRIANGLE)
    found = KTriangles(HALF, delta=0.1).release(subject, Fixed())
    share, margin = 0.5 / 3, math.log(10)
    common = 3 + 1 + margin / share
    bound = 15 + (3 * common + common) / share * margin
    assert float(found.noise_scale) == pytest.approx(bound / share, rel=1e-6)
    assert float(found.value) == pytest.approx(counted(5, codes(5)[-1], TWO_TRIANGLE), abs=1e-6)


# ------------------------------------------------------------------ naive truncation


def node_pairs(size):
    for code, node in product(codes(size), range(size)):
        other = without_node(size, code, node)
        if other != code:
            yield code, other


@cache
def kept(size: int, code: int, degree: int) -> int:
    """Return the code of the truncated graph."""
    return sum(
        1 << pairs(size).index(tuple(edge)) for edge in truncated(graph(size, code), degree).edges.tolist()
    )


def truncated_count(code, degree, motif, size=5):
    return counted(size, kept(size, code, degree), motif)


@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("motif", [EDGE, TWO_STAR, TRIANGLE, TWO_TRIANGLE, RECTANGLE], ids=str)
def test_naive_truncation_is_private(motif, degree):
    mechanism = NaiveTruncation(Epsilon.of(1), degree)
    worst = 0.0
    for code, other in node_pairs(4):
        ends = [
            (truncated_count(c, degree, motif, 4), mechanism.scale(by_node(4, c, motif)))
            for c in (code, other)
        ]
        if min(scale for _, scale in ends) > 0:
            worst = max(worst, cauchy_loss(*ends))
        else:
            assert ends[0] == ends[1]  # nothing of the kind fits below the bound
    assert worst <= 1 + 1e-9


@cache
def degrees_of(code: int) -> np.ndarray:
    return graph(5, code).degrees()


def test_the_truncated_count_moves_by_no_more_than_stated():
    """|f(T(G)) - f(T(G'))| ≤ Δ_D (1 + nodes of degree D or D+1), and half of that would be caught."""
    caught = False
    for motif, degree, (code, other) in product((EDGE, TWO_STAR, TRIANGLE), (1, 2, 3), node_pairs(5)):
        change = abs(truncated_count(code, degree, motif) - truncated_count(other, degree, motif))
        degrees = degrees_of(other)
        bound = motif.most_of_a_node(degree) * (
            1 + int(((degrees == degree) | (degrees == degree + 1)).sum())
        )
        assert change <= bound
        caught |= change > bound / 2
    assert caught


def test_moved_nodes_by_definition():
    for code in codes(4):
        degrees = graph(4, code).degrees()
        terms = [
            math.exp(-0.3 * s) * (1 + s + sum(2 - s <= d <= 2 + s + 1 for d in degrees)) for s in range(40)
        ]
        assert moved_nodes(graph(4, code), 2, 0.3) == pytest.approx(max(terms))


@pytest.mark.parametrize("motif", ALL, ids=str)
def test_what_a_node_can_be_in(motif):
    """In no graph on five nodes is a node in more occurrences than its degrees allow; some are in as many."""
    most = dict.fromkeys(range(5), 0)
    for code in codes(5):
        top = int(graph(5, code).degrees().max())
        for node in range(5):
            lost = counted(5, code, motif) - counted(5, without_node(5, code, node), motif)
            most[top] = max(most[top], lost)
    assert all(lost <= motif.most_of_a_node(degree) for degree, lost in most.items())
    if motif in (EDGE, TWO_STAR, TRIANGLE):
        assert most[4] in (motif.most_of_a_node(4), counted(5, codes(5)[-1], motif))


# ------------------------------------------------------------------ who may ask


@pytest.mark.parametrize(
    ("mechanism", "subject"),
    [
        (SmoothSensitivity(HALF), by_node(4, 7, TRIANGLE)),
        (SmoothSensitivity(HALF), by_edge(4, 7, TWO_TRIANGLE)),
        (SmoothSensitivity(HALF), by_edge(4, 7, RECTANGLE)),
        (Ladder(HALF), by_node(4, 7, TRIANGLE)),
        (Ladder(HALF), by_edge(4, 7, TWO_TRIANGLE)),
        (KTriangles(HALF), by_edge(4, 7, TRIANGLE)),
        (KTriangles(HALF), by_edge(4, 7, TWO_STAR)),
        (NaiveTruncation(HALF), by_edge(4, 7, TRIANGLE)),
        (RHMS(HALF), by_node(4, 7, TRIANGLE)),
    ],
)
def test_what_does_not_apply_is_refused(mechanism, subject):
    with pytest.raises(ParameterError):
        mechanism.release(subject, Seeded(1))


def test_parameters_must_make_sense():
    with pytest.raises(ParameterError):
        KTriangles(HALF, delta=0.0)
    with pytest.raises(ParameterError):
        NaiveTruncation(HALF, degree=0)


def test_each_says_what_it_promises_and_needs():
    assert SmoothSensitivity(HALF).privacy == Ladder(HALF).privacy
    for mechanism in (
        SmoothSensitivity(HALF),
        Ladder(HALF),
        KTriangles(HALF),
        RHMS(HALF),
        NaiveTruncation(HALF),
    ):
        assert isinstance(mechanism.guesses, tuple)
        assert mechanism.privacy.value
