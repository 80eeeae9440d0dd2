"""The oracle: it looks at falling τ only as long as one may still win, and loses nothing by that."""

from __future__ import annotations

import math

import numpy as np
import pytest

from recuse.annotation import Participant
from recuse.krelation.build import from_expressions
from recuse.krelation.relation import Shape
from recuse.lab.experiments.oracle import SAMPLES, candidates, oracle_error, signed_oracle_distance
from recuse.mechanism.prepared import prepare
from recuse.privacy import Epsilon
from recuse.solver.reference import reference
from support.neighbours import clique, star


@pytest.mark.parametrize("relation", [star(60), clique(12)], ids=["star", "clique"])
@pytest.mark.parametrize("epsilon", ["0.1", "1", "10"])
def test_it_is_the_least_over_all_candidates(relation, epsilon):
    work = prepare(relation, reference)
    truth, loss = float(relation.true_answer()), Epsilon.of(epsilon)
    half = (np.arange(SAMPLES) + 0.5) / SAMPLES - 0.5
    laplace = -np.sign(half) * np.log(1 - 2 * np.abs(half)) / float(loss.value)
    errors = [
        float(np.median(np.abs(work.positive.truncated(tau, tau / 100).high - truth + tau * laplace)))
        for tau in candidates(work)
    ]
    assert oracle_error(work, loss) == pytest.approx(min(errors) / truth)


def test_it_leaves_low_tau_alone_once_the_bias_alone_is_too_large():
    work, asked = prepare(clique(12), reference), []

    class Watched:
        def largest_load(self):
            return work.positive.largest_load()

        def truncated(self, tau, width):
            asked.append(tau)
            return work.positive.truncated(tau, width)

    class Subject:
        relation, positive = work.relation, Watched()

    oracle_error(Subject(), Epsilon.of(10))
    assert asked == sorted(asked, reverse=True)
    assert len(asked) < len(candidates(work)) / 2
    assert math.isclose(asked[0], work.positive.largest_load())


def test_without_a_sign_the_oracle_of_both_signs_is_the_oracle():
    relation = star(60)
    work, loss = prepare(relation, reference), Epsilon.of("1")
    distance = signed_oracle_distance(work, loss)
    assert distance == pytest.approx(oracle_error(work, loss) * relation.true_answer())


def test_a_sign_is_taken_from_the_other_at_the_same_tau():
    """Everything that is counted is taken away again: without noise nothing is off."""
    from_both = [(Participant(name), weight) for name in range(50) for weight in (3, -2)]
    relation = from_expressions(from_both, Shape.CLAUSES)
    work = prepare(relation, reference)
    assert relation.true_answer() == 50
    assert signed_oracle_distance(work, Epsilon.of("1000")) < 0.01
