"""The framework of the paper's section 4.1: its lemmas on the sequences of the general mechanism."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.mechanism import presets
from recuse.mechanism.framework import Sequences, index, release, truncated
from recuse.mechanism.general import sequences
from recuse.mechanism.parameters import INDEX_GRID
from recuse.privacy import Epsilon
from support.monotone import monotone_answers, withdrawn
from support.noise import NoNoise, Scripted, Seeded

HALF = presets.paper(Epsilon.of("0.5"))
parameters = st.sampled_from([HALF, presets.paper(Epsilon.of(2)), presets.tuned(Epsilon.of(1))])
taus = st.integers(0, 40).map(lambda quarters: Fraction(quarters, 4))


@given(monotone_answers(), parameters, st.data())
def test_a_withdrawal_moves_the_index_by_at_most_one(answers, chosen, data):
    """Lemma 1, with the direction: the larger database has the larger index."""
    leaver = data.draw(st.integers(0, answers.size.bit_length() - 2))
    smaller = index(sequences(withdrawn(answers, leaver)), chosen)
    larger = index(sequences(answers), chosen)
    assert smaller <= larger <= smaller + 1


@given(monotone_answers(), parameters)
def test_delta_is_at_most_theta_or_the_last_bound(answers, chosen):
    """Lemmas 2 and 3."""
    pair = sequences(answers)
    j = index(pair, chosen)
    delta = float(chosen.theta) * math.exp(float(chosen.beta) * j)
    last = float(pair.g[-1])
    assert delta <= max(float(chosen.theta), math.exp(float(chosen.beta)) * last) * (1 + 1e-12)
    assert float(pair.g[pair.participants - j]) <= delta * (1 + 1e-12)


@given(monotone_answers(), taus, st.data())
def test_a_withdrawal_moves_the_truncated_answer_by_at_most_tau(answers, tau, data):
    """Lemma 7, and X never exceeds the true answer (lemma 8)."""
    leaver = data.draw(st.integers(0, answers.size.bit_length() - 2))
    smaller = truncated(sequences(withdrawn(answers, leaver)), tau)
    larger = truncated(sequences(answers), tau)
    assert smaller <= larger <= smaller + tau
    assert larger <= Fraction(float(answers[-1]))


@given(monotone_answers(), parameters)
def test_above_delta_little_is_lost(answers, chosen):
    """Lemma 8 with g = 1: H at the index bounds X from below."""
    pair = sequences(answers)
    j = index(pair, chosen)
    delta = chosen.theta * Fraction(math.exp(float(chosen.beta) * j) * (1 + 1e-12))
    assert pair.h[pair.participants - j] <= truncated(pair, delta)


def test_the_index_of_a_broken_bound_can_jump():
    """The broken twin: without recursive monotonicity one participant moves the index by more than one."""
    before = index(Sequences([0, 0, 0, 0], [0, 0, 0, 0]), HALF)
    after = index(Sequences([0, 0, 0, 0, 0], [0, 9, 9, 9, 9]), HALF)
    assert after > before + 1


def test_noise_is_asked_for_at_the_scales_of_the_theorem():
    source = Scripted([0, 0])
    release(Sequences([0, 5], [0, 5]), HALF, source)
    assert source.scales == [INDEX_GRID / HALF.choice_epsilon, 1000 / HALF.answer_epsilon]


def test_without_noise_the_answer_is_the_truncated_one_on_its_grid():
    pair = Sequences([0, 1, 2, 3], [0, 1, 1, 1])
    found = release(pair, HALF, NoNoise())
    tau = HALF.bound(Fraction(index(pair, HALF)))
    assert 0 <= found.value - 3 < tau / 1000
    assert found.epsilon == Fraction(1, 2)


def test_accuracy_theorem_covers():
    """The paper's theorem 1 (g = 1): the error bound holds at least as often as it says."""
    people, each, c = 60, 3, 2.0
    pair = Sequences([max(0, each * i) for i in range(people + 1)], [0] + [each] * people)
    chosen = presets.paper(Epsilon.of(1))
    largest = max(1.0, math.exp(float(chosen.beta)) * each)
    most = (
        math.exp(2 * float(chosen.mu)) * largest * c / float(chosen.answer_epsilon)
        + math.ceil(math.log(largest) / float(chosen.beta)) * each
    )
    failure = math.exp(-float(chosen.mu * chosen.choice_epsilon / chosen.beta)) + math.exp(-c)
    source, runs = Seeded(1), 2000
    errors = [abs(release(pair, chosen, source).value - each * people) for _ in range(runs)]
    failures = sum(error > most for error in errors) / runs
    assert failures <= failure
    eighth = most / 8
    assert sum(error > eighth for error in errors) / runs > failure, "an eighth of the bound must not hold"


def test_sequences_must_match():
    with pytest.raises(ValueError, match="one entry"):
        Sequences([0, 1], [0])


def test_a_sequence_that_bounds_nothing_ends_at_everybody():
    """G_0 is 0 for a bounding sequence; where it is not, the index is as large as it can be."""
    huge = Sequences([0, 1, 2], [10**9] * 3)
    assert index(huge, presets.paper(Epsilon.of(1))) == 2
