"""Tail counts of degrees: what each relation is, how far a participant moves them, how they are shown."""

from __future__ import annotations

import itertools
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse.errors import ParameterError
from recuse.graphs.degrees import tail_counts, tail_relation
from recuse.graphs.graph import Graph, simple_graph
from recuse.graphs.protect import Protected
from recuse.krelation.relation import Shape
from recuse.krelation.thresholds import ThresholdEvaluation
from recuse.mechanism.mechanisms import DEFAULT, mechanism_for
from recuse.mechanism.tallied import Tallied
from recuse.privacy import Epsilon
from recuse.session.degree_question import DegreeQuestion
from recuse.session.graph import graph as open_graph
from recuse.session.monotone import falling
from recuse.session.parts import Parts
from recuse.session.plot import svg, text_bars
from recuse.session.truth import truth_of
from recuse.solver.fast import fast_programs
from support.noise import Seeded
from support.profiles import examples

TAILS = np.arange(1, 6)


@st.composite
def graphs(draw, most: int = 6) -> Graph:
    size = draw(st.integers(1, most))
    pairs = list(itertools.combinations(range(size), 2))
    kept = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return simple_graph(range(size), np.array(kept, np.int64).reshape(-1, 2))


def without_edge(graph: Graph, place: int) -> Graph:
    return simple_graph(graph.nodes, np.delete(graph.edges, place, axis=0))


@settings(max_examples=examples(40))
@given(graphs(), st.data())
def test_with_nodes_withdrawn_it_is_the_relation_of_the_graph_without_them(graph, data):
    """Theorem S3, by brute force: whoever leaves, as many nodes have as many neighbours."""
    gone = data.draw(st.sets(st.sampled_from(range(len(graph.nodes)))))
    left = np.array([u not in gone and v not in gone for u, v in graph.edges.tolist()], bool)
    rest = simple_graph(graph.nodes, graph.edges[left] if len(left) else graph.edges)
    g = np.isin(np.arange(len(graph.nodes)), list(gone)).astype(float)
    for tail, expected in zip(TAILS, tail_counts(rest, TAILS), strict=True):
        relation = tail_relation(graph, int(tail))
        assert relation.true_answer() == tail_counts(graph, np.array([tail]))[0]
        found = ThresholdEvaluation.of(relation.positive, relation.participants)
        assert found.objective(g) == pytest.approx(expected) if len(relation.positive) else expected == 0


def moved(graph: Graph) -> int:
    """Return how far the leaving of one edge moves all tail counts together, at most."""
    every = np.arange(1, len(graph.nodes) + 1)
    whole = tail_counts(graph, every)
    return max(
        (int(abs(whole - tail_counts(without_edge(graph, e), every)).sum()) for e in range(len(graph.edges))),
        default=0,
    )


@given(graphs())
def test_an_edge_moves_all_tail_counts_by_two(graph):
    """Theorem S4; a twin that says 1 is caught wherever there is an edge."""
    assert moved(graph) == (2 if len(graph.edges) else 0)


@given(graphs())
def test_the_noise_is_for_as_many_steps_as_an_edge_moves(graph):
    asked = DegreeQuestion.of(graph, "a graph", Protected.EDGE, TAILS.tolist(), Epsilon.of(1))
    (groups,) = asked.read_private_rows(fast_programs)
    assert isinstance(groups, Tallied)
    assert groups.sensitivity >= moved(graph)


def test_the_noise_is_that_of_two_steps_and_the_interval_holds_the_truth():
    """Noise test: the mean is that of ε/2, and not 30 % off; every interval is about the truth."""
    noise, mechanism = Seeded(3), mechanism_for(DEFAULT, Epsilon.of("0.2"), Shape.THRESHOLDS)
    counts = [50] * 4000
    found = Tallied(counts, 2).release(mechanism, noise)
    mean = np.mean([abs(float(one.value) - 50) for one in found])
    assert 0.93 < mean / 10 < 1.07
    held = np.mean([one.interval[0] <= 50 <= one.interval[1] for one in found])
    assert held >= 0.94
    assert truth_of(found[0]).ends == found[0].interval
    assert {one.noise_epsilon for one in found} == {Fraction(1, 5)}
    assert Tallied(counts, 2).true_answers()[:1] == Tallied(counts, 2).counts[:1]


@given(st.lists(st.integers(0, 50).map(Fraction), max_size=9))
def test_what_is_made_to_fall_falls_and_is_nearest(values):
    found = falling(values)
    assert all(a >= b for a, b in itertools.pairwise(found))
    assert sum(found) == sum(values)
    assert found == values or any(a < b for a, b in itertools.pairwise(values))


@pytest.mark.parametrize("protect", ["node", "edge"])
def test_degrees_are_one_question_for_one_epsilon(protect):
    with open_graph(nx.karate_club_graph(), parts=Parts(noise=Seeded(4)), budget=100) as session:
        found = session.degrees(protect=protect, epsilon=20, tails=[3, 1, 2, 20])
        assert session.budget.spent == 20
        again = session.degrees(protect=protect, epsilon=20, tails=[1, 2, 3, 20])
        assert again.stored
        assert again.rows == found.rows
    assert [row.keys for row in found] == [(1,), (2,), (3,), (20,)]
    values = [row.cells[0].value for row in found]
    assert values == sorted(values, reverse=True)
    assert all(row.cells[0].interval[0] <= many for row, many in zip(found, (34, 33, 22, 0), strict=True))
    assert svg(found).count("<rect") == 1 + 4
    assert len(text_bars(found)) == 1 + 4


@pytest.mark.parametrize("tails", [[], [0], [10**10], range(1, 300)])
def test_other_degrees_are_refused_before_the_charge(tails):
    with open_graph(nx.path_graph(3)) as session:
        with pytest.raises(ParameterError):
            session.degrees(protect="node", epsilon=1, tails=tails)
        assert session.budget.spent == 0


def test_directions_are_refused():
    with open_graph(nx.DiGraph([(0, 1)])) as session, pytest.raises(ParameterError, match="undirected"):
        session.degrees(protect="node", epsilon=1)


def test_counts_that_need_no_bound_have_no_programs():
    assert list(Tallied([3, 1], 2).signs) == []
    assert Tallied([3, 1], 2).signed is False
    assert Tallied([3, 1], 2).constants() == [0, 0]
