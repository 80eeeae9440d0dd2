"""One suite for every solver: the reference and the fast one answer alike."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse.annotation import TRUE, Participant, conjunction, disjunction
from recuse.krelation.build import expressions, from_expressions, from_owners, without
from recuse.krelation.relation import NO_TUPLES, Shape
from recuse.solver.fast import fast_programs
from recuse.solver.reference import reference
from support.judges import relations as judge
from support.profiles import examples
from support.strategies import people, relations

SOLVERS = pytest.mark.parametrize("solver", [reference, fast_programs], ids=["reference", "cutting"])
WIDTH = 1e-3
levels = st.sampled_from([0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0])


def rows_of(relation):
    return [(k, q) for k, q in expressions(relation) if k != TRUE]


@SOLVERS
@given(relation=relations(), tau=levels)
def test_every_interval_holds_what_the_judge_finds(solver, relation, tau):
    programs, rows = solver(relation.positive, relation.participants), rows_of(relation)
    for found, truth in (
        (programs.truncated(tau, WIDTH), judge.truncated(rows, tau)),
        (programs.withdrawals(tau, WIDTH), judge.withdrawals(rows, tau)),
        (programs.strict_withdrawals(tau, WIDTH), judge.strict_withdrawals(rows, tau)),
    ):
        assert found.low <= truth + 1e-7
        assert found.high >= truth - 1e-7
        assert found.width <= WIDTH


@SOLVERS
@given(relation=relations(), tau=levels, other=levels, stop_above=st.sampled_from([0.0, 0.5, 1.0]))
def test_a_question_may_be_left_when_it_is_decided(solver, relation, tau, other, stop_above):
    programs, rows = solver(relation.positive, relation.participants), rows_of(relation)
    programs.withdrawals(other, WIDTH)  # whatever it keeps from before must not matter
    for ask, truth in (
        (programs.withdrawals, judge.withdrawals(rows, tau)),
        (programs.strict_withdrawals, judge.strict_withdrawals(rows, tau)),
    ):
        found = ask(tau, WIDTH, stop_above)
        assert found.low <= truth + 1e-7
        assert found.high >= truth - 1e-7
        assert found.width <= WIDTH or found.low > stop_above


@settings(max_examples=examples(30))
@given(relation=relations(rows=8, largest=30), theta=st.sampled_from([0.5, 1.0, 3.0]))
def test_both_solvers_find_the_same_index(relation, theta):
    fast, full = (solver(relation.positive, relation.participants) for solver in (fast_programs, reference))
    one, other = fast.index(theta, 0.25, WIDTH), full.index(theta, 0.25, WIDTH)
    assert one.width <= WIDTH
    assert max(one.low, other.low) <= min(one.high, other.high)
    exact = (Fraction(theta), Fraction(1, 4), 2)
    assert fast.integer_index(*exact) == full.integer_index(*exact)


@given(relation=relations(), leaver=people, tau=levels)
def test_the_fast_solver_keeps_the_laws_of_neighbours(relation, leaver, tau):
    left = without(relation, leaver)
    small, large = (fast_programs(part.positive, part.participants) for part in (left, relation))
    one, two = small.truncated(tau, WIDTH), large.truncated(tau, WIDTH)
    assert one.low <= two.high
    assert two.low - one.high <= tau
    one, two = small.strict_withdrawals(tau, WIDTH), large.strict_withdrawals(tau, WIDTH)
    assert one.low <= two.high
    assert two.low <= one.high + 1
    one, two = small.index(1.0, 0.3, WIDTH), large.index(1.0, 0.3, WIDTH)
    assert one.low <= two.high
    assert two.low <= one.high + 1


# ------------------------------------------------------------------ degenerate relations


@SOLVERS
def test_no_tuples(solver):
    programs = solver(NO_TUPLES, 0)
    for found in (
        programs.truncated(1.0, WIDTH),
        programs.withdrawals(1.0, WIDTH),
        programs.strict_withdrawals(1.0, WIDTH),
        programs.index(1.0, 0.1, WIDTH),
    ):
        assert (found.low, found.high) == (0.0, 0.0)
    assert programs.integer_index(Fraction(1), Fraction(1, 10), 2) == 0
    assert programs.largest_load() == 0.0


@SOLVERS
def test_one_participant_in_all_tuples(solver):
    leaves = np.arange(1, 101)
    owners = np.stack((np.zeros(100, np.int64), leaves), axis=1)
    relation = from_owners(np.ones(100, np.int64), owners, participants=101)
    programs = solver(relation.positive, 101)
    assert programs.truncated(10.0, WIDTH).high == pytest.approx(10.0, abs=WIDTH)
    assert programs.withdrawals(10.0, WIDTH).high == pytest.approx(0.9, abs=WIDTH)
    assert programs.strict_withdrawals(10.0, WIDTH).high == pytest.approx(1.0, abs=WIDTH)
    assert programs.integer_index(Fraction(1), Fraction(1, 10), 1) == 1


@SOLVERS
def test_duplicate_tuples_are_one_heavier_tuple(solver):
    triangle = conjunction(*map(Participant, "abc"))
    many = from_expressions([(triangle, 1)] * 50, Shape.CONJUNCTIONS)
    programs = solver(many.positive, 3)
    assert len(many.positive) == 1
    assert programs.truncated(5.0, WIDTH).high == pytest.approx(5.0, abs=WIDTH)
    assert programs.withdrawals(5.0, WIDTH).high == pytest.approx(0.9, abs=WIDTH)


@SOLVERS
@pytest.mark.parametrize("tau", [1.0, 1e3, 1e6, 1e9, 1e12])
def test_weights_from_one_to_a_trillion(solver, tau):
    rows = [(conjunction(Participant(i), Participant(i + 1)), 10**i) for i in range(13)]
    relation = from_expressions(rows, Shape.CONJUNCTIONS)
    programs = solver(relation.positive, relation.participants)
    found = programs.truncated(tau, WIDTH * tau)
    truth = judge.truncated([(k, q / tau) for k, q in rows], 1.0) * tau
    assert found.low <= truth * (1 + 1e-6)
    assert found.high >= truth * (1 - 1e-6)
    for ask in (programs.withdrawals, programs.strict_withdrawals):
        assert ask(tau, WIDTH).width <= WIDTH


@SOLVERS
def test_weights_beyond_64_bits(solver):
    relation = from_expressions([(Participant("a"), 10**30), (Participant("b"), 3)], Shape.CONJUNCTIONS)
    programs = solver(relation.positive, 2)
    assert programs.truncated(2.0, WIDTH).high == pytest.approx(4.0, abs=WIDTH)
    assert programs.withdrawals(2.0, WIDTH).high == pytest.approx(1 + 1 / 3, abs=WIDTH)


@pytest.mark.parametrize(("solver", "nodes"), [(reference, 18), (fast_programs, 18), (fast_programs, 60)])
def test_a_clique(solver, nodes):
    """Every node in C(n-1, 2) triangles, all alike: equal withdrawals are optimal."""
    i, j, k = np.array([(a, b, c) for a in range(nodes) for b in range(a) for c in range(b)]).T
    relation = from_owners(np.ones(len(i), np.int64), np.stack((i, j, k), axis=1), participants=nodes)
    programs = solver(relation.positive, nodes)
    tau = math.comb(nodes - 1, 2) / 2
    assert programs.withdrawals(tau, WIDTH).high == pytest.approx(nodes / 6, abs=WIDTH)
    assert programs.truncated(tau, WIDTH * tau).high == pytest.approx(tau * nodes / 3, abs=WIDTH * tau)


@SOLVERS
def test_long_clauses(solver):
    rng = np.random.default_rng(5)
    owners = np.array([rng.choice(200, 50, replace=False) for _ in range(60)])
    relation = from_owners(np.ones(60, np.int64), owners, participants=200)
    programs = solver(relation.positive, 200)
    found = programs.truncated(4.0, WIDTH)
    assert found.width <= WIDTH
    assert programs.withdrawals(8.0, WIDTH).high == pytest.approx(
        reference(relation.positive, 200).withdrawals(8.0, WIDTH).high, abs=2 * WIDTH
    )


@SOLVERS
def test_tuples_of_a_thousand_clauses(solver):
    rows = [
        (disjunction(*(Participant(j + 100) for j in range(1000))), 5),
        (disjunction(*(conjunction(Participant(j), Participant(j + 1)) for j in range(1000))), 7),
    ]
    relation = from_expressions(rows, Shape.CLAUSES)
    programs = solver(relation.positive, relation.participants)
    assert programs.truncated(1.0, WIDTH).high == pytest.approx(12.0, abs=WIDTH)
    assert programs.withdrawals(20.0, WIDTH).high == 0.0
    assert programs.truncated(2.0**-10, WIDTH * 2.0**-10).width <= WIDTH * 2.0**-10


LARGE = pytest.mark.parametrize("size", [10**5, pytest.param(10**6, marks=pytest.mark.slow)])
"""ten times as many take the same way through the code, and ten times as long: for the night"""


@LARGE
def test_a_star_of_a_million_leaves(size):
    owners = np.stack((np.zeros(size, np.int64), np.arange(1, size + 1)), axis=1)
    relation = from_owners(np.ones(size, np.int64), owners, participants=size + 1)
    programs = fast_programs(relation.positive, size + 1)
    assert programs.index(1.0, 0.1, 1e-2).high == pytest.approx(1.0, abs=2e-2)
    assert programs.truncated(1000.0, 10.0).high == pytest.approx(1000.0, abs=10.0)


@LARGE
def test_a_million_tuples_of_one_participant_each(size):
    weights = np.arange(1, size + 1) % 100 + 1
    relation = from_owners(weights, np.arange(size)[:, None], participants=size)
    programs = fast_programs(relation.positive, size)
    expected = float(np.minimum(weights, 50).sum())
    assert programs.truncated(50.0, 0.5).high == pytest.approx(expected, abs=0.5)
    assert programs.withdrawals(99.0, WIDTH).high == pytest.approx(size / 100 / 100, abs=WIDTH)


def test_nothing_is_built_when_nobody_is_overloaded(monkeypatch):
    relation = from_expressions([(Participant("a"), 3), (Participant("b"), 4)], Shape.CONJUNCTIONS)
    programs = fast_programs(relation.positive, 2)
    monkeypatch.setattr("recuse.solver.fast.Truncation", None)
    monkeypatch.setattr("recuse.solver.fast.CutPool", None)
    assert programs.truncated(4.0, WIDTH).high == 7.0
    assert programs.index(4.0, 0.1, WIDTH).high == 0.0
    assert programs.strict_withdrawals(4.0, WIDTH).high == 0.0


@given(relation=relations(), tau=levels)
def test_the_reference_takes_over_unseen(relation, tau):
    """With no rounds at all the fast solver still answers, and as narrowly as asked."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("recuse.solver.limits.TRUNCATION_ROUNDS", 0)
        patch.setattr("recuse.solver.limits.COUNT_ROUNDS", 0)
        patch.setattr("recuse.solver.limits.NEWTON_STEPS", 0)
        programs = fast_programs(relation.positive, relation.participants)
        assert programs.truncated(tau, WIDTH).width <= WIDTH
        assert programs.withdrawals(tau, WIDTH).width <= WIDTH
        assert programs.index(tau, 0.5, 0.05).width <= 0.05
