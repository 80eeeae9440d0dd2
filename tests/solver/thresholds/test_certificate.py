"""Certificates of thresholds hold whatever a solver says."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.annotation import TRUE, kept, missing
from recuse.krelation.build import expressions
from recuse.krelation.relation import Quorums, Shape
from recuse.krelation.thresholds import ThresholdEvaluation
from recuse.solver.bounds import dual_bound
from recuse.solver.lp.extended import power_of_two_near, truncated_program
from recuse.solver.thresholds.certificate import ThresholdChecker, largest_load, proven_losses
from recuse.solver.thresholds.exact import exact_answer, exact_truncated
from support.strategies import relations, withdrawals

guesses = st.lists(st.floats(0, 1), min_size=6, max_size=6)
multipliers = st.lists(st.floats(0, 8), min_size=1, max_size=6)
nodes = st.lists(
    st.tuples(st.sampled_from([0.0, 1 / 52, 3 / 52, 0.25, 1 / 3, 0.7, 1.0]), st.integers(1, 3)),
    min_size=1,
    max_size=6,
)


@given(relations(Shape.THRESHOLDS, largest=10**18), guesses)
def test_an_upper_end_is_not_below_the_exact_answer_and_near_it(relation, guess):
    evaluation = ThresholdEvaluation.of(relation.positive, relation.participants)
    g = np.array(guess[: relation.participants])
    exact = {name: Fraction(value) for name, value in zip(relation.names, g.tolist(), strict=True)}
    for (k, _), high in zip(
        [(k, q) for k, q in expressions(relation) if k != TRUE],
        ThresholdChecker.of(evaluation).kept_high(g).tolist() if len(relation.positive) else [],
        strict=True,
    ):
        assert kept(k, exact) <= Fraction(high) <= kept(k, exact) + Fraction(1, 10**9)


@given(relations(Shape.THRESHOLDS), withdrawals)
def test_the_exact_answer_by_the_inequality_is_that_of_the_best_sets(relation, g):
    at = [g[name] for name in relation.names]
    assert exact_answer(relation.positive, at) == sum(
        q * kept(k, g) for k, q in expressions(relation) if k != TRUE
    )


@given(nodes, st.integers(1, 9), st.floats(0, 1))
def test_whoever_guesses_a_loss_what_is_proven_is_not_above_it(children, least, guess):
    losses, weights = [w for w, _ in children], [u for _, u in children]
    least = min(least, sum(weights))
    truth = missing([Fraction(w) for w in losses], weights, least)
    quorums = Quorums(np.array([least]), np.array(weights))
    level = np.array([0, len(losses)])
    for guessed in (guess, float(truth), 1.0):
        (found,) = proven_losses(np.array([guessed]), np.array(losses), level, quorums).tolist()
        assert Fraction(found) <= truth
    (near,) = proven_losses(np.array([float(truth)]), np.array(losses), level, quorums).tolist()
    assert near == pytest.approx(float(truth), abs=1e-12)


@given(relations(Shape.THRESHOLDS), multipliers, st.sampled_from([0.25, 1.0, 3.0]))
def test_any_multipliers_prove_a_lower_end(relation, chosen, tau):
    if len(relation.positive) == 0:
        return
    program = truncated_program(relation.positive, relation.participants, tau)
    y = np.resize(np.array(chosen), program.rows.shape[0])
    truth = exact_truncated(relation.positive, relation.participants, Fraction(tau))
    assert power_of_two_near(tau) * dual_bound(program, y) <= truth.high


@given(relations(Shape.THRESHOLDS))
def test_nobody_takes_anything_away_from_the_largest_load_on(relation):
    load = largest_load(ThresholdEvaluation.of(relation.positive, relation.participants))
    if load:
        found = exact_truncated(relation.positive, relation.participants, Fraction(load))
        assert found.high == relation.positive.total()
