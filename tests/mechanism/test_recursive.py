"""The efficient mechanism: sensitivities of what it adds noise to, signs, constants, utility."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse.annotation import TRUE, Participant, conjunction, disjunction, participants
from recuse.krelation.build import expressions, from_expressions, without
from recuse.krelation.evaluate import Evaluation
from recuse.krelation.relation import KRelation, Shape
from recuse.mechanism import presets
from recuse.mechanism.general import sequences, subset_answers
from recuse.mechanism.parameters import INDEX_GRID
from recuse.mechanism.prepared import prepare, truncated
from recuse.mechanism.recursive import index_steps
from recuse.privacy import Epsilon
from recuse.sensitivity import linear_query
from recuse.solver.memo import memoising
from recuse.solver.reference import reference
from support.mechanisms import run
from support.noise import NoNoise, Scripted, Seeded
from support.profiles import examples
from support.strategies import people, relations

HALF = Epsilon.of("0.5")
PRESETS = [presets.paper(HALF), presets.tuned(HALF)]


def prepared(relation: KRelation):
    return prepare(relation, memoising(reference))


@pytest.mark.parametrize("parameters", PRESETS, ids=lambda p: p.name)
def test_a_withdrawal_moves_the_released_index_by_its_sensitivity(parameters):
    @settings(max_examples=examples(60))
    @given(relations(signed=True, largest=40), people)
    def law(relation, leaver):
        larger, sensitivity = index_steps(prepared(relation).signs, parameters)
        smaller, _ = index_steps(prepared(without(relation, leaver)).signs, parameters)
        assert abs(larger - smaller) <= sensitivity

    law()


def test_that_sensitivity_is_needed():
    """The power of the law: one participant does move the index by nearly a whole unit."""
    rows = [(conjunction(Participant("hub"), Participant(i)), 1) for i in range(200)]
    relation = from_expressions(rows, Shape.CONJUNCTIONS)
    larger, sensitivity = index_steps(prepared(relation).signs, PRESETS[1])
    smaller, _ = index_steps(prepared(without(relation, "hub")).signs, PRESETS[1])
    assert larger - smaller > 0.7 * sensitivity


@settings(max_examples=examples(60))
@given(
    relations(signed=True, largest=40),
    people,
    st.integers(1, 160).map(lambda quarters: Fraction(quarters, 4)),
)
def test_a_withdrawal_moves_the_truncated_answer_by_its_sensitivity(relation, leaver, tau):
    larger, slack = truncated(prepared(relation), tau)
    smaller, _ = truncated(prepared(without(relation, leaver)), tau)
    assert abs(larger - smaller) <= (1 + slack) * tau


def test_a_whole_tau_is_needed():
    rows = [(Participant(name), 50) for name in "ab"]
    relation = from_expressions(rows, Shape.CONJUNCTIONS)
    tau = Fraction(10)
    larger, _ = truncated(prepared(relation), tau)
    smaller, _ = truncated(prepared(without(relation, "a")), tau)
    assert larger - smaller >= tau * Fraction(99, 100)


@given(relations(Shape.CONJUNCTIONS, Shape.CLAUSES, Shape.TREES, rows=4))
def test_general_and_efficient_agree_at_integral_points(relation):
    """F at a 0/1 withdrawal is the query on who is left; the least of them is the general H."""
    rows = dict(enumerate(expressions(relation)))
    names = list(relation.names)
    query = linear_query({t: k for t, (k, _) in rows.items()}, {t: weight for t, (_, weight) in rows.items()})
    found = Evaluation.of(relation.positive, relation.participants)
    general = sequences(subset_answers(lambda there: float(query(there)), names))
    least = [math.inf] * (len(names) + 1)
    for gone in product((0.0, 1.0), repeat=len(names)):
        there = frozenset(name for name, g in zip(names, gone, strict=True) if not g)
        value = found.objective(np.array(gone))
        assert value == query(there)
        least[len(there)] = min(least[len(there)], value)
    assert tuple(map(Fraction, least)) == general.h


@given(relations(Shape.CONJUNCTIONS, rows=4))
def test_loads_of_conjunctions_are_the_empirical_sensitivity(relation):
    rows = dict(enumerate(expressions(relation)))
    query = linear_query({t: k for t, (k, _) in rows.items()}, {t: weight for t, (_, weight) in rows.items()})
    everybody = frozenset(relation.names)
    loads = Evaluation.of(relation.positive, relation.participants).loads(np.zeros(relation.participants))
    assert loads.tolist() == [query(everybody) - query(everybody - {name}) for name in relation.names]


# ------------------------------------------------------------------ what is released


def triangle_fans(count: int) -> KRelation:
    rows = [(conjunction(*(Participant(f"{i}{corner}") for corner in "abc")), 1) for i in range(count)]
    return from_expressions(rows, Shape.CONJUNCTIONS, signed=False)


@pytest.mark.parametrize("parameters", PRESETS, ids=lambda p: p.name)
def test_noise_is_asked_for_at_the_scales_of_the_theorem(parameters):
    source = Scripted([0, 0])
    run(prepared(triangle_fans(5)), parameters, source)
    slack = 0 if parameters.name == "paper" else 1
    assert source.scales[0] == (INDEX_GRID + slack) / parameters.choice_epsilon
    assert source.scales[1] == (1000 + 10) / parameters.answer_epsilon
    signed = Scripted([0, 0])
    run(prepared(replace(triangle_fans(5), signed=True)), parameters, signed)
    assert signed.scales[1] == (1000 + 20) / parameters.answer_epsilon


@pytest.mark.parametrize("parameters", PRESETS, ids=lambda p: p.name)
def test_epsilon_asked_is_epsilon_spent(parameters):
    assert run(prepared(triangle_fans(3)), parameters, NoNoise()).epsilon == Fraction(1, 2)


def test_public_tuples_are_added_exactly():
    rows = [(Participant("a"), 1), (TRUE, 1000)]
    with_public = run(prepared(from_expressions(rows, Shape.CONJUNCTIONS)), PRESETS[1], NoNoise())
    without_public = run(prepared(from_expressions(rows[:1], Shape.CONJUNCTIONS)), PRESETS[1], NoNoise())
    assert with_public.value - without_public.value == 1000


def test_signs_are_answered_together():
    rows = [(Participant(i), 3) for i in range(20)] + [(Participant(i), -1) for i in range(10)]
    found = run(prepared(from_expressions(rows, Shape.CONJUNCTIONS)), PRESETS[1], NoNoise())
    assert abs(found.value - 50) <= found.noise_scale


def test_nobody_in_the_data():
    nothing = KRelation(Shape.CONJUNCTIONS, from_expressions([], Shape.CONJUNCTIONS).positive)
    for parameters in PRESETS:
        assert run(prepared(nothing), parameters, NoNoise()).value == 0


@pytest.mark.parametrize("parameters", PRESETS, ids=lambda p: p.name)
def test_extreme_noise_on_the_index_is_survived(parameters):
    for extreme in (-(10**9), 10**9):
        found = run(prepared(triangle_fans(3)), parameters, Scripted([extreme, 0]))
        assert math.isfinite(found.value)


def test_accuracy_theorem_covers():
    """Theorem E: the error bound holds at least as often as it says; a tenth of it does not."""
    rows = [(conjunction(Participant(("hub", i % 3)), Participant(i)), 1) for i in range(90)]
    relation = from_expressions(rows, Shape.CONJUNCTIONS, signed=False)
    parameters = presets.tuned(Epsilon.of(1))
    work = prepared(relation)
    largest = float(
        Evaluation.of(relation.positive, relation.participants).loads(np.zeros(relation.participants)).max()
    )
    r = work.positive.index(1.0, float(parameters.beta), 0.001).high
    assert r <= math.log(largest) / float(parameters.beta) + 0.001
    k = 2.0
    most = (
        k * math.exp(2 * float(parameters.mu)) * max(1.0, largest) / float(parameters.answer_epsilon)
        + r * largest
    )
    failure = math.exp(-float(parameters.mu * parameters.choice_epsilon / parameters.beta)) + math.exp(-k)
    source, runs = Seeded(7), 400
    errors = [abs(float(run(work, parameters, source).value) - 90) for _ in range(runs)]
    assert sum(error > most for error in errors) / runs <= failure
    assert sum(error > most / 20 for error in errors) / runs > failure


def test_the_interval_covers_the_truncated_answer():
    relation = triangle_fans(40)
    work, parameters, source = prepared(relation), PRESETS[1], Seeded(3)
    covered = 0
    for _ in range(400):
        found = run(work, parameters, source)
        low, high = found.interval
        covered += low <= 40 <= high  # every load is 1 ≤ τ almost always, so X is the answer
    assert 0.91 <= covered / 400 <= 0.98


def test_counts_are_rounded_and_clamped_after_the_noise():
    found = run(prepared(triangle_fans(2)), PRESETS[0], Scripted([0, -100_000])).rounded(signed=False)
    assert found.value == 0
    assert found.interval[0] == 0
    assert found.interval[1].denominator == 1


def test_or_is_truncated_over_its_derivations():
    """A value with two owners survives either's withdrawal: X spreads its weight."""
    k = disjunction(Participant("a"), Participant("b"))
    relation = from_expressions([(k, 1)], Shape.CLAUSES)
    assert participants(k) == {"a", "b"}
    value, _ = truncated(prepared(relation), Fraction(1, 2))
    assert abs(value - 1) <= Fraction(1, 100)
