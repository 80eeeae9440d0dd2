"""The selective mechanism: its penalties move as the lemmas say, and its exact distribution is private."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distributions import worst_log_ratio
from neighbours import clique, level_distribution, penalties, shared, star
from recuse.annotation import Participant, disjunction
from recuse.krelation.build import from_expressions, without
from recuse.krelation.relation import KRelation, Shape
from recuse.mechanism import presets
from recuse.mechanism.mechanisms import run
from recuse.mechanism.parameters import SLACK, Doublings, Parameters, Score
from recuse.mechanism.prepared import Prepared, prepare
from recuse.mechanism.selective import chosen_level
from recuse.privacy import Epsilon
from recuse.solver.reference import reference
from recuse.solver.remember import remembering
from sources import Seeded
from strategies import people, relations

ONE = Epsilon.of(1)
LEVELS = 16


def prepared(relation: KRelation) -> Prepared:
    return prepare(relation, remembering(reference))


def loss(relation: KRelation, parameters: Parameters[Doublings], factor: float = 1.0) -> float:
    """Return the worst log-ratio between the relation and all its neighbours."""
    ours = level_distribution(relation, parameters, LEVELS, factor)
    neighbours = (without(relation, name) for name in relation.names)
    return max(
        (worst_log_ratio(ours, level_distribution(n, parameters, LEVELS, factor)) for n in neighbours),
        default=0.0,
    )


def tight() -> KRelation:
    """With p, low levels lack one withdrawal more (p owns alone), a high one half of one less (p shares)."""
    a, p = Participant("a"), Participant("p")
    return from_expressions([(p, 2**5), (disjunction(a, p), 2**10)], Shape.CLAUSES, signed=False)


def owned(values: int) -> KRelation:
    """One participant alone owns many values: its withdrawal moves a deficit by a whole."""
    rows = [(disjunction(Participant("p")), 1)] * values + [(Participant(i), 1) for i in range(3)]
    return from_expressions(rows, Shape.CLAUSES, signed=False)


# ------------------------------------------------------------------ the lemmas


@settings(max_examples=40)
@given(relations(Shape.CONJUNCTIONS, signed=True, largest=20), people)
def test_a_withdrawal_moves_the_count_of_withdrawals_within_one(relation, leaver):
    parameters = presets.by_withdrawals(ONE)
    for more, less in zip(
        penalties(relation, parameters, LEVELS),
        penalties(without(relation, leaver), parameters, LEVELS),
        strict=True,
    ):
        assert -SLACK <= more - less <= 1 + SLACK


@settings(max_examples=40)
@given(relations(signed=True, largest=20), people, st.sampled_from(["0.1", "1"]))
def test_a_withdrawal_moves_the_deficit_within_three_halves(relation, leaver, epsilon):
    """T1, for every shape."""
    parameters = presets.by_deficit(Epsilon.of(epsilon))
    for more, less in zip(
        penalties(relation, parameters, LEVELS),
        penalties(without(relation, leaver), parameters, LEVELS),
        strict=True,
    ):
        assert -(1 + 3 * SLACK) / 2 <= more - less <= 1 + 3 * SLACK / 2


def test_both_ends_of_the_deficits_range_are_needed():
    """The power of T1: a deficit does rise by nearly 1, and does fall by nearly 1/2."""
    parameters = presets.by_deficit(ONE)
    moves = []
    for relation in (owned(64), tight()):
        for name in relation.names:
            pairs = zip(
                penalties(relation, parameters, LEVELS),
                penalties(without(relation, name), parameters, LEVELS),
                strict=True,
            )
            moves += [more - less for more, less in pairs]
    assert max(moves) > Fraction(9, 10)
    assert min(moves) < Fraction(-2, 5)


@settings(max_examples=40)
@given(relations(rows=4, largest=9))
def test_a_deficit_is_at_most_the_withdrawals(relation):
    """T3: D ≤ N ≤ N_s, up to the certified slack."""
    parameters = presets.by_deficit(ONE)
    signs = prepared(relation).signs
    for k, d in zip(
        range(parameters.rule.first, parameters.rule.first + LEVELS),
        penalties(relation, parameters, LEVELS),
        strict=True,
    ):
        assert d <= Fraction(signs[0].withdrawals(2.0**k, 1e-6).high) + 2 * SLACK


# ------------------------------------------------------------------ the exact distribution


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
@pytest.mark.parametrize("relation", [star(60), clique(7), star(3)], ids=["star", "clique", "small star"])
def test_the_choice_by_withdrawals_is_private(relation, epsilon):
    parameters = presets.by_withdrawals(Epsilon.of(epsilon))
    assert loss(relation, parameters) <= float(parameters.choice_epsilon)


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
@pytest.mark.parametrize(
    "relation", [shared(50), owned(40), star(20), tight()], ids=["shared", "owned", "star", "tight"]
)
def test_the_choice_by_deficit_is_private(relation, epsilon):
    parameters = presets.by_deficit(Epsilon.of(epsilon))
    assert loss(relation, parameters) <= float(parameters.choice_epsilon)


@settings(max_examples=25)
@given(relations(Shape.CONJUNCTIONS, signed=True, largest=30))
def test_the_choice_by_withdrawals_is_private_on_any_relation(relation):
    parameters = presets.by_withdrawals(ONE)
    assert loss(relation, parameters) <= float(parameters.choice_epsilon)


@settings(max_examples=25)
@given(relations(Shape.CLAUSES, Shape.TREES, signed=True, largest=30))
def test_the_choice_by_deficit_is_private_on_any_relation(relation):
    parameters = presets.by_deficit(ONE)
    assert loss(relation, parameters) <= float(parameters.choice_epsilon)


def test_a_score_scaled_by_1_3_is_caught():
    """The broken twins of the two checks above."""
    parameters = presets.by_withdrawals(ONE)
    assert loss(star(60), parameters, 1.3) > float(parameters.choice_epsilon)
    by_deficit = presets.by_deficit(ONE)
    assert loss(tight(), by_deficit) <= float(by_deficit.choice_epsilon)
    assert loss(tight(), by_deficit, 1.3) > float(by_deficit.choice_epsilon)


# ------------------------------------------------------------------ what is released


def test_levels_are_chosen_with_the_exact_probabilities():
    parameters = presets.by_withdrawals(ONE)
    work, source, runs = prepared(star(20)), Seeded(2), 4000
    counts = np.bincount(
        [chosen_level(work.signs, parameters, source) for _ in range(runs)], minlength=LEVELS
    )[:LEVELS]
    expected = np.array(level_distribution(star(20), parameters, LEVELS)) * runs
    big = expected > 5
    assert (((counts - expected) ** 2 / expected)[big]).sum() < 60


def test_epsilon_asked_is_epsilon_spent():
    for parameters in (presets.by_withdrawals(Epsilon.of("0.7")), presets.by_deficit(Epsilon.of("0.7"))):
        assert parameters.epsilon == Fraction(7, 10)
        assert run(prepared(star(5)), parameters, Seeded(1)).epsilon == Fraction(7, 10)


def test_shape_decides_the_score():
    assert presets.selective(ONE, Shape.CONJUNCTIONS).rule.score is Score.WITHDRAWALS
    assert presets.selective(ONE, Shape.CLAUSES).rule.score is Score.DEFICIT
    assert presets.selective(ONE, Shape.TREES).rule.score is Score.DEFICIT


def test_distinct_values_with_many_owners_are_almost_free():
    random = np.random.default_rng(1)
    rows = []
    for _ in range(40):
        owners = random.choice(400, size=120, replace=False)
        rows.append((disjunction(*(Participant(int(i)) for i in owners)), 1))
    relation = from_expressions(rows, Shape.CLAUSES, signed=False)
    work, source = prepared(relation), Seeded(3)
    errors = [abs(run(work, presets.by_deficit(ONE), source).value - 40) for _ in range(40)]
    assert sorted(errors)[20] < 2


def test_nobody_in_the_data():
    nothing = from_expressions([], Shape.CONJUNCTIONS, signed=False)
    for parameters in (presets.by_withdrawals(ONE), presets.by_deficit(ONE)):
        assert abs(run(prepared(nothing), parameters, Seeded(1)).value) < 100
