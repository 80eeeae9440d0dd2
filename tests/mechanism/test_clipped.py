"""Rows with one owner: vectors are clipped in ℓ1, and every group has the whole noise budget (theorem E0)."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse.krelation.contributions import Contributions
from recuse.mechanism import presets
from recuse.mechanism.clipped import MOST_STEPS, clipped, clipped_parts, clipping_grid
from recuse.mechanism.groups import OneOwner
from recuse.mechanism.parameters import ANSWER_GRID
from recuse.privacy import Epsilon
from recuse.solver.reference import reference
from support.noise import Scripted, Seeded
from support.profiles import examples

GROUPS = 3
TAUS = [Fraction(1, 7), Fraction(1), Fraction(4), Fraction(37, 5), Fraction(1024), Fraction(2**40)]

rows = st.lists(st.tuples(st.integers(0, 4), st.integers(0, GROUPS - 1), st.integers(-40, 40)), max_size=12)


def contributions(rows, *, constants=(0,) * GROUPS, signed=True) -> Contributions:
    owners, groups, weights = (
        np.array(column, np.int64) for column in (zip(*rows, strict=True) if rows else ((),) * 3)
    )
    return Contributions.of(
        owners, groups, weights, participants=5, constants=np.array(constants, object), signed=signed
    )


def brute_force(rows, tau: Fraction) -> list[Fraction]:
    """Return Y_G without any grid, straight from the definition."""
    found = [Fraction(0)] * GROUPS
    for person in {owner for owner, _, _ in rows}:
        own = [sum(w for p, g, w in rows if (p, g) == (person, group)) for group in range(GROUPS)]
        load = sum(map(abs, own))
        for group in range(GROUPS):
            found[group] += own[group] * min(Fraction(1), tau / load) if load else 0
    return found


def vector(rows, tau: Fraction):
    return clipped(contributions(rows), reference).at(tau)


def grid(tau: Fraction):
    return clipped(contributions([]), reference).grid(tau)


@given(rows, st.sampled_from(TAUS))
def test_the_vector_is_the_definition_up_to_the_grid(rows, tau):
    step = grid(tau).step
    for steps, exact in zip(vector(rows, tau), brute_force(rows, tau), strict=True):
        assert abs(steps * step - exact) < (len(rows) + 5) * step, "a step a row, one a participant"


@settings(max_examples=examples(200))
@given(rows, st.sampled_from(TAUS), st.integers(0, 4))
def test_a_participant_moves_all_groups_by_tau_in_all(rows, tau, leaver):
    with_all, without = vector(rows, tau), vector([row for row in rows if row[0] != leaver], tau)
    assert grid(tau).sensitivity * grid(tau).step <= tau
    moves = [abs(a - b) for a, b in zip(with_all, without, strict=True)]
    assert sum(moves) <= grid(tau).sensitivity


def test_rounding_away_from_zero_is_caught():
    """The twin: three groups of one third each, every part rounded up, is more than τ."""
    rows = [(0, group, 7) for group in range(GROUPS)]
    tau = Fraction(1)
    step, most = clipping_grid(tau)
    rounded_up = [-(-7 * most // 21) for _ in range(GROUPS)]
    assert sum(rounded_up) > most
    assert sum(vector(rows, tau)) <= most
    assert step * most <= tau


@given(rows)
def test_whoever_is_not_truncated_is_counted_exactly(rows):
    found = contributions(rows)
    tau = Fraction(int(max(found.loads, default=0)) or 1)
    steps = clipped(found, reference).at(tau)
    assert [one * grid(tau).step for one in steps] == found.true_answers().tolist()


@pytest.mark.parametrize("tau", [*TAUS, Fraction(2**1000), Fraction(1, 2**30)])
def test_the_grid_is_fine_and_never_too_fine(tau):
    step, most = clipping_grid(tau)
    assert 0 <= tau - step * most < step
    assert ANSWER_GRID / 2 <= most <= 2 * MOST_STEPS


@given(st.lists(st.integers(1, 2**61), min_size=1, max_size=5), st.integers(1, 2**32))
def test_shares_in_64_bits_are_exact(sizes, most):
    load = sum(sizes) if sum(sizes) < 2**62 else max(sizes)
    tau = Fraction(1, 2)  # below every load: all are truncated
    arrays = np.array(sizes, np.int64), np.full(len(sizes), load, np.int64)
    fast = clipped_parts(*arrays, tau, Fraction(1), most)
    assert fast.tolist() == [size * most // load for size in sizes]
    wide = clipped_parts(*(array.astype(object) for array in arrays), tau, Fraction(1), most)
    assert wide.tolist() == fast.tolist()


def test_sums_beyond_64_bits_are_exact():
    big = 2**62 + 3
    found = contributions([(0, 0, big), (0, 0, big), (0, 1, -big), (1, 1, 5)])
    assert found.loads.tolist()[:2] == [3 * big, 5]
    assert found.true_answers().tolist() == [2 * big, 5 - big, 0]
    for tau in TAUS:
        at = clipped(found, reference).at(tau)
        assert sum(map(abs, at)) <= 2 * grid(tau).sensitivity


@given(rows, st.permutations(range(12)))
def test_a_group_is_a_function_of_the_rows_as_a_set(rows, order):
    shuffled = [rows[place] for place in order if place < len(rows)]
    assert vector(rows, Fraction(4)) == vector(shuffled, Fraction(4))


@given(rows, st.sampled_from([0.5, 1, 2, 8]))
def test_tau_is_chosen_by_how_many_exceed_it(rows, tau):
    programs = clipped(contributions(rows), reference).programs
    loads = contributions(rows).loads
    found = programs.strict_withdrawals(tau, 0.001)
    assert abs(found.high - (loads > tau).sum()) < 0.01


# ------------------------------------------------------------------ released

ONE = Epsilon.of(1)


def one_owner(rows, **more) -> OneOwner:
    return OneOwner(clipped(contributions(rows, **more), reference))


def test_every_group_has_the_whole_rest_of_epsilon():
    people = [(p, g, 1) for p, g in product(range(5), range(GROUPS))]
    source = Scripted([0] * (1 + GROUPS))
    mechanism = presets.tuned(ONE)
    answers = one_owner(people, signed=False, constants=(0, 10, 0)).release(mechanism, source)
    (scale,) = set(source.scales[1:])
    assert len(source.scales) == 1 + GROUPS, "one index, one noise a group"
    assert (scale * mechanism.answer_epsilon).denominator == 1
    assert scale * mechanism.answer_epsilon >= ANSWER_GRID - 1
    assert all(answer.noise_epsilon == mechanism.answer_epsilon for answer in answers)
    assert all(answer.epsilon == 1 for answer in answers)
    assert answers[1].value - answers[0].value == 10, "what nobody owns is added exactly"


def test_the_interval_holds_the_truncated_answer():
    rows = [(p % 5, p % GROUPS, 1 + p) for p in range(12)]
    subject, mechanism, inside, runs = one_owner(rows), presets.by_withdrawals(ONE), 0, 400
    for seed in range(runs):
        for group, answer in enumerate(subject.release(mechanism, Seeded(seed))):
            tau = answer.noise_scale * mechanism.answer_epsilon
            exact = subject.vectors.at(tau)[group] * subject.vectors.grid(tau).step
            inside += answer.interval[0] <= exact <= answer.interval[1]
    assert inside >= 0.93 * runs * GROUPS


def test_two_thousand_groups_of_twenty_thousand_people():
    """The judge of the theorem: half of the groups are off by 60 rows at most; split, it was 20,000."""
    random = np.random.default_rng(7)
    people, groups, each = 20_000, 2_000, 9
    found = Contributions.of(
        np.repeat(np.arange(people), each),
        random.integers(0, groups, people * each),
        np.ones(people * each, np.int64),
        participants=people,
        constants=np.zeros(groups, object),
        signed=False,
    )
    answers = OneOwner(clipped(found, reference)).release(presets.by_withdrawals(ONE), Seeded(1))
    errors = [abs(a.value - exact) for a, exact in zip(answers, found.true_answers(), strict=True)]
    assert sorted(errors)[groups // 2] <= 60
