"""Losses, F and derivations of columnar thresholds equal the reference semantics of `annotation`."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from recuse.annotation import TRUE, Participant, kept, threshold
from recuse.krelation.build import canonical_rows, expressions, from_expressions, without
from recuse.krelation.evaluate import Evaluation
from recuse.krelation.relation import KRelation, Quorums, Shape, Tuples
from recuse.krelation.thresholds import ThresholdEvaluation
from support.strategies import people, relations, withdrawals

A, B, C = map(Participant, "abc")
TWO_OF_THREE = from_expressions([(threshold([A, B, C], [1, 1, 1], 2), 5)], Shape.THRESHOLDS, signed=False)


def evaluated(relation: KRelation) -> tuple[ThresholdEvaluation, list]:
    rows = [(k, weight) for k, weight in expressions(relation) if k != TRUE]
    return ThresholdEvaluation.of(relation.positive, relation.participants), rows


@given(relations(Shape.THRESHOLDS), withdrawals)
def test_the_answer_matches_the_reference(relation, g):
    found, rows = evaluated(relation)
    at = np.array([float(g[name]) for name in relation.names])
    truth = float(sum(weight * kept(k, g) for k, weight in rows))
    assert found.objective(at) == pytest.approx(truth, abs=1e-9)


@given(relations(Shape.THRESHOLDS), withdrawals, withdrawals)
def test_derivations_lie_below_the_answer_everywhere_and_touch_it(relation, g, h):
    found, rows = evaluated(relation)
    at, other = (np.array([float(x[name]) for name in relation.names]) for x in (g, h))
    losses = found.losses(at)
    cut = 1 - found.derivations(losses) @ other
    truth = np.array([float(kept(k, h)) for k, _ in rows])
    assert (cut <= truth + 1e-9).all()
    touching = 1 - found.derivations(losses) @ at
    assert (np.abs(np.maximum(0, touching) - (1 - losses[0])) < 1e-9).all()
    assert (1 - found.even() @ other <= truth + 1e-9).all()


@given(relations(Shape.THRESHOLDS), people, withdrawals)
def test_the_neighbour_is_the_relation_with_a_participant_withdrawn(relation, leaver, g):
    left = without(relation, leaver)
    assert left.shape is Shape.THRESHOLDS
    assert leaver not in left.names
    f = g | {leaver: Fraction(1)}
    assert sum(q * kept(k, f) for k, q in expressions(relation)) == sum(
        q * kept(k, f) for k, q in expressions(left)
    )
    again = from_expressions(expressions(relation), Shape.THRESHOLDS, signed=False)
    assert canonical_rows(again) == canonical_rows(relation)


def test_loads_of_thresholds_are_not_computed():
    with pytest.raises(TypeError, match="no loads"):
        Evaluation.of(TWO_OF_THREE.positive, 3)


def test_thresholds_are_a_shape_of_their_own():
    with pytest.raises(ValueError, match="shape of their own"):
        KRelation(Shape.TREES, TWO_OF_THREE.positive, participants=3)
    plain = from_expressions([(A, 1)], Shape.TREES)
    with pytest.raises(ValueError, match="shape of their own"):
        KRelation(Shape.THRESHOLDS, plain.positive, participants=1)


@pytest.mark.parametrize(("least", "weights"), [([4], [1, 1, 1]), ([0], [1, 1, 1]), ([1], [1, 0, 1])])
def test_a_threshold_out_of_reach_is_no_tuple(least, weights):
    part = TWO_OF_THREE.positive
    quorums = (Quorums(np.array(least), np.array(weights)),)
    with pytest.raises(ValueError, match="threshold"):
        Tuples(part.weights, part.levels, part.members, quorums)


def test_weights_that_do_not_fit_in_64_bits_together_are_added_exactly():
    heavy = 2**50
    rows = [(threshold([Participant(i) for i in range(5000)], [heavy] * 5000, heavy), 1)]
    relation = from_expressions(rows, Shape.THRESHOLDS, signed=False)
    found = ThresholdEvaluation.of(relation.positive, 5000)
    assert relation.positive.quorums[0].totals(relation.positive.levels[0]).tolist() == [5000 * heavy]
    g = np.full(5000, 0.5)
    assert found.objective(g) == pytest.approx(float(kept(rows[0][0], dict.fromkeys(range(5000), 0.5))))
