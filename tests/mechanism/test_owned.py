"""Values of rows with one owner: what one participant has is scaled over all groups (theorem V6)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse.krelation.owned import NOBODY, OwnedRows, everybody, owned_rows
from recuse.mechanism import owned, presets
from recuse.mechanism.axis import NUMBERS, Stretch
from recuse.mechanism.clipped import load_programs
from recuse.mechanism.middle import Weighing
from recuse.mechanism.ordered import AtRank, Largest, MostFrequent, Ordered
from recuse.mechanism.owned import STEPS, OwnedGroup
from recuse.mechanism.quantile import distance
from recuse.privacy import Epsilon
from recuse.solver.reference import reference
from support.noise import Seeded
from support.profiles import examples

GROUPS, PEOPLE = 3, 5
TAUS = [Fraction(1, 7), Fraction(1), Fraction(4), Fraction(37, 5), Fraction(2**40)]
HALF = Fraction(1, 2)

rows = st.lists(
    st.tuples(
        st.integers(NOBODY, PEOPLE - 1), st.integers(0, GROUPS - 1), st.integers(-9, 9), st.integers(1, 40)
    ),
    max_size=14,
)
leavers = st.integers(0, PEOPLE - 1)


def arranged(rows) -> list[OwnedRows]:
    owners, places, values, weights = (
        np.array(column, np.int64) for column in (zip(*rows, strict=True) if rows else ((),) * 4)
    )
    return owned_rows(values, weights, owners, places, PEOPLE, GROUPS)


def grouped(rows) -> list[OwnedGroup]:
    return [OwnedGroup(group, reference) for group in arranged(rows)]


def without(rows, leaver):
    return [row for row in rows if row[0] != leaver]


def brute_force(rows, group: int, tau: Fraction, least: int) -> Fraction:
    """Return what the rows of a group with values above a number weigh, straight from the definition."""
    found = Fraction(0)
    for owner, place, value, weight in rows:
        if place == group and value > least:
            load = sum(other[3] for other in rows if other[0] == owner)
            found += weight * (1 if owner == NOBODY else min(Fraction(1), tau / load))
    return found


@given(rows, st.sampled_from(TAUS), st.integers(-10, 9))
def test_rows_weigh_what_the_definition_says(rows, tau, least):
    for place, group in enumerate(grouped(rows)):
        exact = brute_force(rows, place, tau, least)
        found = group.counting(tau).weigh(group.values > least)
        whole = tau / math.ceil(tau)
        assert whole * exact - len(rows) * tau / STEPS <= found <= exact


def moves(rows, leaver, weigh, least) -> list[Fraction]:
    """Return by how much every group grows with a participant, each above its own number."""
    both = [
        [weigh(group, group.values > t) for group, t in zip(grouped(some), least, strict=True)]
        for some in (rows, without(rows, leaver))
    ]
    return [more - less for more, less in zip(*both, strict=True)]


@settings(max_examples=examples(100))
@given(rows, leavers, st.sampled_from(TAUS), st.tuples(*[st.integers(-10, 9)] * GROUPS))
def test_a_participant_moves_all_groups_together_by_tau_at_most(rows, leaver, tau, least):
    found = moves(rows, leaver, lambda group, some: group.counting(tau).weigh(some), least)
    load = sum(row[3] for row in rows if row[0] == leaver)
    here = [sum(row[3] for row in rows if row[:2] == (leaver, place)) for place in range(GROUPS)]
    assert all(0 <= move <= (tau * own / load if load else 0) for move, own in zip(found, here, strict=True))
    assert sum(found) <= tau


@settings(max_examples=examples(100))
@given(rows, leavers, st.tuples(*[st.integers(-10, 9)] * GROUPS))
def test_a_participant_counts_once_in_all_groups(rows, leaver, least):
    found = moves(rows, leaver, lambda group, some: group.covering().weigh(some), least)
    assert min(found) >= 0
    assert sum(found) <= 1
    for group, t in zip(grouped(rows), least, strict=True):
        above = group.covers()(t)
        assert above.low == above.high == float(group.covering().weigh(group.values > t))


def test_more_people_than_a_double_counts_exactly_are_as_many_as_it_does(monkeypatch):
    """Beyond 2^53 steps one person more might move a rounded count by two; here it ends at three people."""
    monkeypatch.setattr(owned, "EXACT", 3 * STEPS)
    group, *_ = grouped([(person, 0, person, 1) for person in range(5)])
    covers = group.covers()
    assert [covers.solve(t).high for t in (None, 0, 1, 2)] == [3, 3, 3, 2]


def prior() -> list[Stretch]:
    return [Stretch(-10, -4, Fraction(1)), Stretch(-3, 3, Fraction(3)), Stretch(4, 10, Fraction(1))]


def law(weighing: Weighing, rank: Fraction, epsilon: Fraction) -> dict[int, float]:
    """Return the exact distribution of a quantile over a small prior."""
    envelope, m = weighing.envelope(epsilon, rank, prior()), weighing.below(rank)
    weights = {
        t: float(piece.density) * math.exp(-float(envelope.rate * distance(m(t))))
        for piece in prior()
        for t in range(piece.first, piece.last + 1)
    }
    total = sum(weights.values())
    return {t: weight / total for t, weight in weights.items()}


def loss(rows, leaver, tau, rank, weighing=lambda group, tau: group.counting(tau)) -> float:
    """Return the worst log-ratio of the quantiles of all groups, which are drawn independently, for ε = 1."""
    both = [
        [law(weighing(group, tau), rank, Fraction(1)) for group in grouped(some)]
        for some in (rows, without(rows, leaver))
    ]
    return sum(
        max(abs(math.log(here[t] / there[t])) for t in here) for here, there in zip(*both, strict=True)
    )


@settings(max_examples=examples(30))
@given(rows, leavers, st.sampled_from(TAUS[1:4]), st.sampled_from([HALF, Fraction(9, 10)]))
def test_neighbours_release_all_quantiles_alike_exactly(rows, leaver, tau, rank):
    assert loss(rows, leaver, tau, rank) <= 1


def one_sided(value: int):
    return [(0, place, value, 4) for place in range(GROUPS)] + [(1, place, 0, 9) for place in range(GROUPS)]


def test_the_budget_is_used_and_no_more():
    rows = [(0, place, 9, 40) for place in range(GROUPS)]
    rows += [(owner, place, 8, 4) for owner in range(1, PEOPLE) for place in range(GROUPS)]
    assert 0.9 < loss(rows, 0, Fraction(40), HALF) <= 1


def test_what_is_scaled_in_every_group_apart_is_caught():
    """The twin: a participant weighs τ in each of three groups."""

    def apart(group: OwnedGroup, tau: Fraction) -> Weighing:
        rows = group.rows
        (alone,) = owned_rows(
            rows.values, rows.weights, rows.owners, np.zeros(len(rows.values), np.int64), PEOPLE, 1
        )
        return OwnedGroup(alone, reference).counting(tau)

    rows = one_sided(9)
    assert loss(rows, 0, Fraction(4), HALF) <= 1
    assert loss(rows, 0, Fraction(4), HALF, apart) > 1.5


def test_people_who_count_in_every_group_are_caught():
    """The twin: the cover number of each group alone moves by one in each of them."""
    rows = one_sided(9)
    twin = [len(set(group.rows.owners[group.values > 0].tolist())) for group in grouped(rows)]
    gone = [len(set(group.rows.owners[group.values > 0].tolist())) for group in grouped(without(rows, 0))]
    assert sum(twin) - sum(gone) == GROUPS
    assert sum(moves(rows, 0, lambda group, some: group.covering().weigh(some), (0,) * GROUPS)) <= 1


def crowd(groups: int):
    """Return rows of 3,000 people in all of some groups: 100 about the first, 200 about the second, …"""
    draws = np.random.default_rng(3)
    owners = np.repeat(np.arange(3_000), groups)
    places = np.tile(np.arange(groups), 3_000)
    values = np.round(draws.normal(100 * (places + 1), 10)).astype(np.int64)
    return owned_rows(values, np.ones(len(values), np.int64), owners, places, 3_000, groups)


@pytest.mark.parametrize(
    ("picker", "wanted"),
    [(AtRank(HALF, NUMBERS), (100, 200, 300, 400)), (Largest(NUMBERS), (135, 236, 340, 433))],
)
def test_groups_that_share_people_have_all_of_epsilon(picker, wanted):
    found = crowd(4)
    groups = [OwnedGroup(group, reference) for group in found]
    ordered = Ordered(groups, picker, 1, everybody=(load_programs(everybody(found), reference),))
    released = ordered.release(presets.race_by_withdrawals(Epsilon.of(1)), Seeded(2))
    assert [release.epsilon for release in released] == [1] * 4
    assert all(abs(release.value - near) < 25 for release, near in zip(released, wanted, strict=True))
    assert [programs.largest_load() for programs in ordered.signs] == [4], "τ is chosen once, by all groups"


def test_the_most_frequent_of_every_group():
    values = np.array([0] * 300 + [1] * 200 + [2] * 400)
    owners = np.arange(900)
    (group,) = owned_rows(values, np.ones(900, np.int64), owners, np.zeros(900, np.int64), 900, 1)
    ordered = Ordered([OwnedGroup(group, reference)], MostFrequent(3), 1)
    (released,) = ordered.release(presets.race_by_withdrawals(Epsilon.of(1)), Seeded(2))
    assert released.value == 2
    assert ordered.true_answers() == [2]
    assert ordered.constants() == [None]


def test_a_group_of_nobody_and_no_group_at_all():
    assert all(load == [] for load in (everybody([]).tolist(), everybody(arranged([])).tolist()))
    (first, *_) = grouped([(NOBODY, 0, 7, 2)])
    values, weights = first.public()
    assert (values.tolist(), weights.tolist()) == ([7], [2])
    assert first.counting(Fraction(1)).weigh(np.array([True])) == 2
    assert first.covering().weigh(np.array([True])) == 0
