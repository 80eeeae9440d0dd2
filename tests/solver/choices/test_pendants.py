"""Stars whose edges are protected: what is settled, and what the matching proves, against brute force."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse.graphs.choices import k_stars, k_triangles
from recuse.graphs.protect import Protected
from recuse.solver.choices.exact import exactly_truncated
from recuse.solver.choices.matching import Matching, by_matching, colours
from recuse.solver.choices.pendants import Edges, Settled
from recuse.solver.choices.programs import by_full_program
from support.judges.choices import graph_of, graphs, judge
from support.profiles import examples

levels = st.sampled_from([0.5, 1.0, 2.0, 3.3, 5.0, 8.0, 21.0])
FUZZ = 1e-6
PAIRS = list(combinations(range(8), 2))
dense = st.sets(st.sampled_from(PAIRS), max_size=14).map(lambda gone: (8, sorted(set(PAIRS) - gone)))
"""graphs of which more is left to be solved"""


def settled(nodes: int, edges, k: int, tau: float) -> Settled:
    return Edges.of(k_stars(graph_of(nodes, edges), k, Protected.EDGE)).settled(tau)


def low(part: Settled, prices: np.ndarray, tau: float) -> float:
    return (Matching.of(part.focus, part.table).low(prices) + part.gone) * tau + part.focus.rest


@settings(max_examples=examples(300))
@given(graphs(8), st.integers(2, 5), levels)
def test_what_is_settled_leaves_the_judges_answer(graph, k, tau):
    nodes, edges = graph
    part = settled(nodes, edges, k, tau)
    expected = judge(range(nodes), edges, "star", "edge", k).truncated(tau)
    found = exactly_truncated(part.focus, part.table, Fraction(tau))
    assert abs(found.high + part.gone * tau - expected) <= FUZZ * (1 + expected)


@settings(max_examples=examples(200))
@given(dense, st.integers(2, 4), st.sampled_from([1.5, 2.0, 3.3, 5.0]))
def test_the_matching_closes_on_the_judges_answer(graph, k, tau):
    nodes, edges = graph
    part = settled(nodes, edges, k, tau)
    found = by_matching(part.focus, part.table, tau, tau * FUZZ)
    assert found is not None
    expected = judge(range(nodes), edges, "star", "edge", k).truncated(tau)
    assert found.low - FUZZ <= expected - part.gone * tau <= found.high + FUZZ


@given(dense, st.integers(2, 4), levels, st.data())
def test_any_prices_prove_a_lower_end(graph, k, tau, data):
    nodes, edges = graph
    part = settled(nodes, edges, k, tau)
    size = len(part.focus.fixed)
    prices = np.array(data.draw(st.lists(st.floats(0, 1), min_size=size, max_size=size)))
    expected = judge(range(nodes), edges, "star", "edge", k).truncated(tau)
    assert low(part, prices, tau) <= expected + FUZZ


def test_the_twin_that_forgets_what_nodes_charge_is_caught():
    """A price without B*, the other half of weak duality, proves too much."""
    wheel = [(0, i) for i in range(1, 7)] + [(i, i % 6 + 1) for i in range(1, 7)]
    part = settled(7, wheel, 2, 2.0)
    expected = judge(range(7), wheel, "star", "edge", 2).truncated(2.0)
    matching = Matching.of(part.focus, part.table)
    generous = Matching(matching.fixed, matching.ends, matching.node, matching.slope, 0.0, matching.colour)
    prices = np.ones(len(part.focus.fixed))
    assert low(part, prices, 2.0) <= expected
    assert (generous.low(prices) + part.gone) * 2.0 + part.focus.rest > expected


def test_hubs_with_leaves_of_their_own_leave_only_what_joins_them():
    edges = [(0, 1)] + [(0, i) for i in range(2, 50)] + [(1, i) for i in range(50, 98)]
    part = settled(98, edges, 3, 2.0)
    assert len(part.focus.people) == 0
    assert Edges.of(k_stars(graph_of(98, edges), 3, Protected.EDGE)).pendants.tolist() == [48, 48]


def test_alike_nodes_have_one_colour():
    ends = np.array([(hub, leaf) for hub in (0, 1) for leaf in range(2, 40)])
    named = colours(ends, np.zeros(40, np.int64), np.bincount(ends.ravel()))
    assert sorted(np.bincount(named).tolist()) == [2, 38]


def test_other_aggregates_are_left_alone():
    graph = graph_of(4, [(0, 1), (0, 2), (1, 2), (2, 3)])
    assert Edges.of(k_stars(graph, 2, Protected.NODE)) is None
    assert Edges.of(k_triangles(graph, 2, Protected.EDGE)) is None


@settings(max_examples=examples(30))
@given(dense, st.sampled_from([1.5, 2.0, 3.3]))
def test_the_plain_program_agrees(graph, tau):
    part = settled(*graph, 2, tau)
    one = by_matching(part.focus, part.table, tau, tau * FUZZ)
    other = by_full_program(part.focus, part.table, tau, tau * FUZZ)
    assert max(one.low, other.low) <= min(one.high, other.high)
