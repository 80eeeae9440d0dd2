"""The selective mechanism: its penalties move as the lemmas say, and its exact distribution is private."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse.annotation import Annotation, Participant, disjunction
from recuse.krelation.build import expressions, from_expressions, without
from recuse.krelation.relation import KRelation, Shape
from recuse.mechanism import presets, selective
from recuse.mechanism.parameters import SLACK, Score
from recuse.mechanism.selective import Selective, choose_level
from recuse.privacy import Epsilon
from support.distributions import worst_log_ratio
from support.mechanisms import run
from support.neighbours import clique, level_distribution, penalties, shared, star
from support.noise import Seeded
from support.prepared import prepared
from support.profiles import examples
from support.strategies import people, relations

ONE = Epsilon.of(1)
LEVELS = 16


def loss(relation: KRelation, parameters: Selective, factor: float = 1.0) -> float:
    """Return the worst log-ratio between the relation and all its neighbours, one of each that are alike."""

    def chances(one: KRelation) -> list[float]:
        return level_distribution(one, parameters.levels, parameters.choice_epsilon, LEVELS, factor)

    ours = chances(relation)
    neighbours = (without(relation, name) for name in unlike(relation))
    return max((worst_log_ratio(ours, chances(other)) for other in neighbours), default=0.0)


def unlike(relation: KRelation) -> list[Hashable]:
    """Return one participant of every kind: two are of a kind if exchanging them leaves the rows as they are.

    All leaves of a star are, and all members of a clique: what is left without one is what is left without
    another, so it is solved once.
    """
    rows = expressions(relation)

    def exchanged(one: Hashable, other: Hashable) -> list[tuple[str, int]]:
        names = {one: other, other: one}
        return sorted((said(k, names), q) for k, q in rows)

    found: list[Hashable] = []
    for name in relation.names:
        if not any(exchanged(name, other) == exchanged(name, name) for other in found):
            found.append(name)
    return found


def said(k: Annotation, names: Mapping[Hashable, Hashable]) -> str:
    """Return an annotation in words that do not depend on the order of its parts, its people renamed."""
    if isinstance(k, Participant):
        return repr(names.get(k.name, k.name))
    return f"{type(k).__name__}({sorted(said(child, names) for child in k.children)})"


def tight() -> KRelation:
    """With p, low levels lack one withdrawal more (p owns alone), a high one half of one less (p shares)."""
    a, p = Participant("a"), Participant("p")
    return from_expressions([(p, 2**5), (disjunction(a, p), 2**10)], Shape.CLAUSES, signed=False)


def owned(values: int) -> KRelation:
    """One participant alone owns many values: its withdrawal moves a deficit by a whole."""
    rows = [(disjunction(Participant("p")), 1)] * values + [(Participant(i), 1) for i in range(3)]
    return from_expressions(rows, Shape.CLAUSES, signed=False)


# ------------------------------------------------------------------ the lemmas


@settings(max_examples=examples(40))
@given(relations(Shape.CONJUNCTIONS, signed=True, largest=20), people)
def test_a_withdrawal_moves_the_count_of_withdrawals_within_one(relation, leaver):
    parameters = presets.by_withdrawals(ONE)
    for more, less in zip(
        penalties(relation, parameters.levels, LEVELS),
        penalties(without(relation, leaver), parameters.levels, LEVELS),
        strict=True,
    ):
        assert -SLACK <= more - less <= 1 + SLACK


@settings(max_examples=examples(40))
@given(relations(signed=True, largest=20), people, st.sampled_from(["0.1", "1"]))
def test_a_withdrawal_moves_the_deficit_within_three_halves(relation, leaver, epsilon):
    """T1, for every shape."""
    parameters = presets.by_deficit(Epsilon.of(epsilon))
    for more, less in zip(
        penalties(relation, parameters.levels, LEVELS),
        penalties(without(relation, leaver), parameters.levels, LEVELS),
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
                penalties(relation, parameters.levels, LEVELS),
                penalties(without(relation, name), parameters.levels, LEVELS),
                strict=True,
            )
            moves += [more - less for more, less in pairs]
    assert max(moves) > Fraction(9, 10)
    assert min(moves) < Fraction(-2, 5)


@settings(max_examples=examples(40))
@given(relations(rows=4, largest=9))
def test_a_deficit_is_at_most_the_withdrawals(relation):
    """T3: D ≤ N ≤ N_s, up to the certified slack."""
    parameters = presets.by_deficit(ONE)
    signs = prepared(relation).signs
    for k, d in zip(
        parameters.levels.ladder.levels[:LEVELS],
        penalties(relation, parameters.levels, LEVELS),
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


@settings(max_examples=examples(25))
@given(relations(Shape.CONJUNCTIONS, signed=True, largest=30))
def test_the_choice_by_withdrawals_is_private_on_any_relation(relation):
    parameters = presets.by_withdrawals(ONE)
    assert loss(relation, parameters) <= float(parameters.choice_epsilon)


@settings(max_examples=examples(25))
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
        [choose_level(work.signs, parameters.levels, parameters.choice_epsilon, source) for _ in range(runs)],
        minlength=LEVELS,
    )[:LEVELS]
    chances = level_distribution(star(20), parameters.levels, parameters.choice_epsilon, LEVELS)
    expected = np.array(chances) * runs
    big = expected > 5
    assert (((counts - expected) ** 2 / expected)[big]).sum() < 60


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
@pytest.mark.parametrize(
    ("settings_of", "moves"),
    [(presets.by_withdrawals, (0, 1)), (presets.by_deficit, (Fraction(-1, 2), 1))],
    ids=["withdrawals", "deficit"],
)
def test_scores_are_weighed_by_epsilon_over_the_range_of_a_penalty(monkeypatch, settings_of, moves, epsilon):
    """Lemma 2': exp(weight · range) is the whole loss, so the weight is ε1 over the range, slack included."""
    parameters, weights = settings_of(Epsilon.of(epsilon)), []
    original = selective.noisy_maximum

    def recorded(rule, levels, top, weight, penalty, noise):
        weights.append(weight)
        return original(rule, levels, top, weight, penalty, noise)

    monkeypatch.setattr(selective, "noisy_maximum", recorded)
    choose_level(prepared(star(5)).signs, parameters.levels, parameters.choice_epsilon, Seeded(1))
    slack = 2 * SLACK * (moves[1] - moves[0])
    assert weights == [parameters.choice_epsilon / (moves[1] - moves[0] + slack)]


def test_epsilon_asked_is_epsilon_spent():
    for parameters in (presets.by_withdrawals(Epsilon.of("0.7")), presets.by_deficit(Epsilon.of("0.7"))):
        assert parameters.epsilon == Fraction(7, 10)
        assert run(prepared(star(5)), parameters, Seeded(1)).epsilon == Fraction(7, 10)


def test_only_participants_of_a_kind_stand_for_one_another():
    assert [len(unlike(relation)) for relation in (star(9), clique(5), shared(9), owned(4), tight())] == [
        2,
        1,
        2,
        2,
        2,
    ]
    apart = from_expressions([(Participant("a"), 1), (Participant("b"), 2)], Shape.CONJUNCTIONS)
    assert len(unlike(apart)) == 2


def test_shape_decides_the_score():
    for preset in (presets.selective, presets.split):
        assert preset(ONE, Shape.CONJUNCTIONS).levels.score is Score.WITHDRAWALS
        assert preset(ONE, Shape.CLAUSES).levels.score is Score.DEFICIT
        assert preset(ONE, Shape.TREES).levels.score is Score.DEFICIT


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
