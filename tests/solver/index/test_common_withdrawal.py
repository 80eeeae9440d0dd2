"""Products of ORs: cuts that choose among equal alternatives are valid, balanced, and close r alone."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.annotation import TRUE, usage
from recuse.krelation.build import expressions
from recuse.krelation.evaluate import Evaluation
from recuse.krelation.relation import Shape, Tuples
from recuse.solver.certificate import Checker
from recuse.solver.index.common_withdrawal import shared_index
from recuse.solver.index.proportional_fitting import Backwards, balanced_cut
from recuse.solver.lp.master import Tally
from recuse.solver.reference import reference
from support.strategies import relations

vectors = st.lists(st.floats(0, 1), min_size=6, max_size=6)
THETA, BETA, WIDTH = 1.0, 0.1, 0.01


def products(count: int, ors: int, people: int, seed: int = 3) -> Tuples:
    """Return random conjunctions of ORs of three participants each."""
    generator = np.random.default_rng(seed)
    leaves = np.array([np.sort(generator.choice(people, 3, replace=False)) for _ in range(count * ors)])
    levels = (
        np.arange(count + 1),
        np.arange(count + 1) * ors,
        np.arange(count * ors + 1) * 3,
        np.arange(count * ors * 3 + 1),
    )
    return Tuples(generator.integers(1, 3, count), levels, leaves.ravel())


@given(relations(Shape.TREES, Shape.CLAUSES, largest=10**12), vectors, vectors, vectors)
def test_a_balanced_cut_lies_below_the_loads_and_touches_them(relation, point, other, multipliers):
    if len(relation.positive) == 0:
        return
    evaluation = Evaluation.of(relation.positive, relation.participants)
    check = Checker.of(evaluation)
    g, h = (check.raised(np.array(some[: relation.participants])) for some in (point, other))
    weights = np.array(multipliers[: relation.participants])
    cut = balanced_cut(evaluation, check.low_weights, g, weights)
    rows = [(k, q) for k, q in expressions(relation) if k != TRUE]

    def weighted_loads(at):
        named = {name: Fraction(value) for name, value in zip(relation.names, at.tolist(), strict=True)}
        return sum(
            Fraction(nu) * q * usage(k, name, named)
            for name, nu in zip(relation.names, weights.tolist(), strict=True)
            for k, q in rows
        )

    def cut_at(at):
        spent = sum(Fraction(c) * Fraction(x) for c, x in zip(cut.slope.tolist(), at.tolist(), strict=True))
        return Fraction(cut.constant) - spent

    assert cut_at(h) <= weighted_loads(h)
    assert cut_at(g) <= weighted_loads(g)
    scale = 1 + sum(q for _, q in rows) * len(rows)
    assert float(weighted_loads(g) - cut_at(g)) <= 1e-9 * scale


def test_balancing_charges_nobody_for_much_more_than_one():
    people = 60
    evaluation = Evaluation.of(products(60, 4, people), people)
    check = Checker.of(evaluation)
    g, multipliers = check.raised(np.full(people, 0.01)), np.ones(people)
    fair = Backwards.of(evaluation, check.low_weights, g, multipliers).cut(np.ones(people))
    multipliers /= fair.slope.mean()

    def excess(cut):
        return np.maximum(0.0, cut.slope - 1).sum()

    even = Backwards.of(evaluation, check.low_weights, g, multipliers).cut(np.ones(people))
    balanced = balanced_cut(evaluation, check.low_weights, g, multipliers)
    assert even.slope.sum() == pytest.approx(balanced.slope.sum())
    assert excess(balanced) < 0.2 * excess(even)


@pytest.mark.parametrize("ors", [2, 4, 6])
def test_the_index_closes_by_itself_around_what_the_reference_finds(ors):
    people = 40
    tuples = products(40, ors, people)
    judge = reference(tuples, people)
    found = shared_index(judge.evaluation, judge.loads, THETA, BETA, WIDTH, Tally())
    wanted = judge.index(THETA, BETA, WIDTH)
    assert found is not None
    assert found.width <= WIDTH
    assert found.low <= wanted.high
    assert wanted.low <= found.high
