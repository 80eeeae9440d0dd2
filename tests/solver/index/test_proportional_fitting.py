"""A balanced cut is below the weighted loads at every withdrawal, whatever it chooses under an OR."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from recuse.krelation.evaluate import Evaluation
from recuse.krelation.relation import KRelation
from recuse.solver.index.proportional_fitting import Backwards, balanced_cut
from support.neighbours import shared
from support.strategies import relations


def drawn(data: st.DataObject, size: int) -> np.ndarray:
    eighths = data.draw(st.lists(st.integers(0, 8), min_size=size, max_size=size))
    return np.array(eighths, float) / 8


def evaluated(relation: KRelation) -> Evaluation:
    return Evaluation.of(relation.positive, relation.participants)


@given(relations(largest=9), st.data())
def test_it_is_nowhere_above_the_weighted_loads(relation, data):
    assume(len(relation.positive))
    evaluation = evaluated(relation)
    g, multipliers, h = (drawn(data, relation.participants) for _ in range(3))
    cut = balanced_cut(evaluation, evaluation.weights, g, multipliers)
    truth = multipliers @ evaluation.loads(h)
    assert cut.constant - cut.slope @ h <= truth + 1e-9 * (1 + abs(cut.constant))


@given(relations(largest=9), st.data())
def test_any_preference_proves_something_true(relation, data):
    assume(len(relation.positive))
    evaluation = evaluated(relation)
    g, multipliers, h = (drawn(data, relation.participants) for _ in range(3))
    preference = drawn(data, relation.participants) + 1 / 16
    cut = Backwards.of(evaluation, evaluation.weights, g, multipliers).cut(preference)
    assert cut.constant - cut.slope @ h <= multipliers @ evaluation.loads(h) + 1e-9 * (1 + abs(cut.constant))


def test_ties_are_shared_so_that_nobody_is_charged_for_more_than_they_must_be():
    """Forty tuples a_i ∨ p at equal withdrawals: a choice of the first alternative could charge p for all."""
    relation = shared(40)
    evaluation = evaluated(relation)
    half = np.full(relation.participants, 0.5)
    multipliers = np.full(relation.participants, 1 / 40)
    cut = balanced_cut(evaluation, evaluation.weights, half, multipliers)
    assert cut.constant - cut.slope @ half == pytest.approx(multipliers @ evaluation.loads(half), rel=1e-6)
    own = Backwards.of(evaluation, evaluation.weights, half, multipliers)
    greedy = own.cut(np.where(np.arange(relation.participants) == relation.names.index("p"), 1.0, 1e-12))
    assert np.maximum(0, cut.slope - 1).sum() <= np.maximum(0, greedy.slope - 1).sum() + 1e-12
