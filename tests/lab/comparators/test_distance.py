"""Local sensitivity at a distance and smooth sensitivity, against all graphs within that distance."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse.errors import ParameterError
from recuse.graphs.graph import Graph
from recuse.lab.comparators.distance import profile, smooth_sensitivity
from recuse.lab.comparators.subgraphs import Motif
from support.profiles import examples
from support.small_graphs import (
    EDGE,
    RECTANGLE,
    THREE_STAR,
    THREE_TRIANGLE,
    TRIANGLE,
    TWO_STAR,
    TWO_TRIANGLE,
    at_distance,
    codes,
    counted,
    edge_neighbours,
    graph,
    local,
)

SMOOTH = (TRIANGLE, TWO_STAR, THREE_STAR, EDGE)


@pytest.mark.parametrize("motif", [*SMOOTH, RECTANGLE, TWO_TRIANGLE, THREE_TRIANGLE], ids=str)
def test_counts_of_all_graphs_on_five_nodes(motif):
    assert all(motif.count(graph(5, code)) == counted(5, code, motif) for code in codes(5)[::3])


@pytest.mark.parametrize("motif", SMOOTH, ids=str)
@pytest.mark.parametrize("size", [3, 4])
def test_profile_is_local_sensitivity_at_a_distance(motif, size):
    for code in codes(size):
        check_profile(size, code, motif)


@pytest.mark.parametrize("motif", SMOOTH, ids=str)
@settings(max_examples=examples(25))
@given(code=st.sampled_from(codes(5)))
def test_profile_on_five_nodes(motif, code):
    check_profile(5, code, motif)


def check_profile(size, code, motif):
    found = profile(graph(size, code), motif)
    for s, true in enumerate(at_distance(size, code, motif)):
        assert found[min(s, len(found) - 1)] == true


@pytest.mark.parametrize("motif", SMOOTH, ids=str)
@pytest.mark.parametrize("beta", [0.05, 0.35, 2.0])
def test_smooth_sensitivity_by_definition(motif, beta):
    """S(G) = max over all graphs G' of e^{-β·distance} LS(G')."""
    for code in codes(4):
        brute = max(
            math.exp(-beta * (code ^ other).bit_count()) * local(4, other, motif) for other in codes(4)
        )
        assert smooth_sensitivity(graph(4, code), motif, beta) == pytest.approx(brute)


def test_a_profile_that_starts_too_late_is_caught():
    """The judge can tell: I_{s-1} in place of I_s is wrong somewhere."""
    late = [
        np.concatenate(([0.0], profile(graph(4, code), TRIANGLE)))[1] != at_distance(4, code, TRIANGLE)[1]
        for code in codes(4)
    ]
    assert any(late)


@pytest.mark.parametrize("motif", [TRIANGLE, TWO_STAR, THREE_STAR], ids=str)
def test_a_larger_graph(motif):
    """Beyond brute force: I_s is smooth between neighbours and at least the local sensitivity."""
    rng = np.random.default_rng(3)
    dense = np.triu(rng.random((12, 12)) < 0.3, 1)
    for u, v in zip(*np.triu_indices(12, 1), strict=True):
        other = dense.copy()
        other[u, v] ^= True
        one, two = (profile(Graph(tuple(range(12)), np.argwhere(m)), motif) for m in (dense, other))
        steps = range(max(len(one), len(two)))
        assert all(one[min(s, len(one) - 1)] <= two[min(s + 1, len(two) - 1)] for s in steps)
        change = motif.count(Graph(tuple(range(12)), np.argwhere(dense))) - motif.count(
            Graph(tuple(range(12)), np.argwhere(other))
        )
        assert abs(change) <= one[0]


def test_tiny_graphs():
    nothing = Graph((), np.empty((0, 2), np.int64))
    for motif in (TRIANGLE, TWO_STAR):
        assert smooth_sensitivity(nothing, motif, 1.0) == 0
        assert smooth_sensitivity(Graph((1, 2), np.array([[0, 1]])), motif, 1.0) == 0
    assert smooth_sensitivity(nothing, EDGE, 1.0) == 1


def test_neighbours_are_one_edge_apart():
    assert all((code ^ other).bit_count() == 1 for code in codes(4) for other in edge_neighbours(4, code))


@pytest.mark.parametrize("name", ["pentagon", "0-star", "cycle(5)", "star(x)", "", "a->b"])
def test_unknown_motifs(name):
    with pytest.raises(ParameterError):
        Motif.named(name)


def test_motifs_by_name():
    assert Motif.named("star(3)") == Motif.named("3-star") == THREE_STAR
    assert Motif.named("k-triangle(1)") == Motif.named("triangle") == TRIANGLE
    assert [(m.nodes, m.edges) for m in (EDGE, TRIANGLE, TWO_STAR, TWO_TRIANGLE, RECTANGLE)] == [
        (2, 1), (3, 3), (3, 2), (4, 5), (4, 4)
    ]  # fmt: skip
