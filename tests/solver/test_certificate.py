"""Certificates hold whatever a solver says."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from recuse.annotation import TRUE, Participant, conjunction, kept, usage
from recuse.krelation.build import expressions, from_expressions
from recuse.krelation.evaluate import Evaluation
from recuse.krelation.relation import Shape
from recuse.solver.bounds import dual_bound, enclosed_sum, log_ratio
from recuse.solver.certificate import Checker
from recuse.solver.lp.extended import FullPrograms, power_of_two_near
from recuse.solver.lp.program import LinearProgram, solve
from support.judges import relations as judge
from support.strategies import relations

guesses = st.lists(st.floats(-0.5, 1.5), min_size=6, max_size=6)
levels = st.sampled_from([0.3, 1.0, 2.5])


def checked(relation):
    evaluation = Evaluation.of(relation.positive, relation.participants)
    return Checker.of(evaluation), [(k, q) for k, q in expressions(relation) if k != TRUE]


def named(relation, g):
    return {name: Fraction(value) for name, value in zip(relation.names, g.tolist(), strict=True)}


@given(relations(largest=10**18), guesses)
def test_answers_and_loads_enclose_the_exact_ones(relation, guess):
    check, rows = checked(relation)
    g = check.raised(np.array(guess[: relation.participants]))
    exact = named(relation, g)
    answer = sum(q * kept(k, exact) for k, q in rows)
    assert Fraction(check.answer(g).low) <= answer <= Fraction(check.answer(g).high)
    assert check.answer(g).width <= 1e-12 * float(answer + 1)
    for name, load in zip(relation.names, check.high_loads(g).tolist(), strict=True):
        truth = sum(q * usage(k, name, exact) for k, q in rows)
        assert truth <= Fraction(load) <= truth * (1 + Fraction(1, 10**12))


@given(relations(), guesses, levels)
def test_a_lifted_vector_satisfies_its_constraints_exactly(relation, guess, tau):
    check, rows = checked(relation)
    guess = np.array(guess[: relation.participants])
    for strict, g in ((0, check.within(guess, tau)), (1, check.strictly_within(guess, tau))):
        exact = named(relation, g)
        for name in relation.names:
            load = sum(q * usage(k, name, exact) for k, q in rows)
            assert load <= Fraction(tau) * (1 - strict * exact[name])


@given(relations(largest=10**18), guesses)
def test_a_vector_is_lifted_only_where_a_constraint_fails_exactly(relation, guess):
    """At the least τ that a vector keeps it stays as it is; one double below it does not."""
    check, rows = checked(relation)
    g = check.raised(np.array(guess[: relation.participants]) * 0.5)
    exact = named(relation, g)
    loads = {name: sum(q * usage(k, name, exact) for k, q in rows) for name in relation.names}
    for lift, least in (
        (check.within, max(loads.values(), default=0)),
        (check.strictly_within, max((load / (1 - exact[name]) for name, load in loads.items()), default=0)),
    ):
        if least == 0:
            continue
        near = float(least)
        tau = near if Fraction(near) >= least else math.nextafter(near, math.inf)
        assert (lift(g, tau) == g).all()
        assert (lift(g, math.nextafter(tau, 0.0)) != g).any()


@given(relations(), st.randoms(use_true_random=False), levels)
def test_arbitrary_multipliers_never_overstate(relation, random, tau):
    if len(relation.positive) == 0:
        return
    _, rows = checked(relation)
    programs = FullPrograms(Evaluation.of(relation.positive, relation.participants))
    for program, truth in (
        (programs.truncated(tau), judge.truncated(rows, tau) / power_of_two_near(tau)),
        (programs.withdrawals(tau), judge.withdrawals(rows, tau)),
        (programs.strict_withdrawals(tau), judge.strict_withdrawals(rows, tau)),
    ):
        wild = np.array([random.uniform(-1, 2) * 4 ** random.randint(-3, 3) for _ in program.right])
        good = solve(program).y
        assert dual_bound(program, wild) <= truth + 1e-7
        assert dual_bound(program, good + 0.01 * wild) <= truth + 1e-7
        assert dual_bound(program, good) == pytest.approx(truth, abs=1e-6)
        assert dual_bound(program, np.full(len(program.right), np.nan)) <= truth


@pytest.mark.parametrize("rows", [3, 400])
@given(seed=st.integers(0, 2**32))
def test_a_bound_is_below_what_its_multipliers_prove_in_rationals(rows, seed):
    """Long columns of one sign round the most: a bound that is rounded the other way lies above."""
    random = np.random.default_rng(seed)
    matrix, y = random.random((rows, 3)), random.random(rows)
    right = random.random(rows) * random.integers(0, 2)
    program = LinearProgram(random.random(3), sparse.csr_array(matrix), right, np.zeros(3), np.ones(3))
    exact_y = [Fraction(value) for value in y.tolist()]
    total = sum((Fraction(b) * z for b, z in zip(right.tolist(), exact_y, strict=True)), Fraction(0))
    for cost, column in zip(program.cost.tolist(), matrix.T.tolist(), strict=True):
        reduced = Fraction(cost) - sum(Fraction(a) * z for a, z in zip(column, exact_y, strict=True))
        total += min(Fraction(0), reduced)
    found = Fraction(dual_bound(program, y))
    assert found <= total
    assert total - found <= Fraction(1, 10**8)


@given(relations(), guesses)
def test_withdrawals_are_rounded_to_the_grid_up_or_down_as_said(relation, guess):
    check, _ = checked(relation)
    wanted = np.array(guess)
    inside = np.clip(wanted, 0.0, 1.0)
    up, down = check.raised(wanted), check.lowered(wanted)
    assert ((down <= inside) & (inside <= up)).all()
    assert (up - down <= check.grid).all()
    assert (np.concatenate((up, down)) % check.grid == 0).all()


def test_a_tampered_dual_loses_its_bound():
    """The bound is earned by the multipliers, not echoed from the solver."""
    triangle = conjunction(*map(Participant, "abc"))
    relation = from_expressions([(triangle, 10)], Shape.CONJUNCTIONS)
    program = FullPrograms(Evaluation.of(relation.positive, 3)).withdrawals(4.0)
    good = solve(program).y
    assert dual_bound(program, good) == pytest.approx(0.6)
    assert dual_bound(program, good * 0.5) < 0.4
    assert dual_bound(program, good * 3) < 0.4


@given(st.lists(st.floats(-1e15, 1e15), max_size=50))
def test_enclosed_sums_enclose(values):
    found = enclosed_sum(np.array(values))
    assert Fraction(found.low) <= sum(map(Fraction, values), start=Fraction(0)) <= Fraction(found.high)


@given(st.floats(1e-6, 1e18), st.floats(1e-6, 1e18))
def test_log_ratios_enclose(a, b):
    found = log_ratio(a, b)
    assert found.low <= math.log(a) - math.log(b) + 1e-12
    assert found.high >= math.log(a) - math.log(b) - 1e-12
    assert found.low < found.high


def test_the_grid_stays_exact_for_long_clauses():
    relation = from_expressions([(conjunction(*map(Participant, range(5000))), 1)], Shape.CONJUNCTIONS)
    check, _ = checked(relation)
    g = np.full(5000, check.grid)
    assert Fraction(check.answer(g).low) <= 1 - 5000 * Fraction(check.grid) <= Fraction(check.answer(g).high)


@given(relations(), guesses, st.sampled_from([0.0, 0.3, 1.0, 2.5]))
def test_a_shrunk_vector_is_within_its_size_exactly(relation, guess, s):
    check, _ = checked(relation)
    g = check.shrunk(np.array(guess), s)
    assert sum(map(Fraction, g.tolist()), start=Fraction(0)) <= Fraction(s)
    assert (g <= np.clip(guess, 0.0, 1.0)).all()
