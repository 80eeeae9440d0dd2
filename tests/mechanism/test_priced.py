"""Priced withdrawals: a participant moves all groups by B in all, whatever kind it is (theorem E0')."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse.krelation.build import without
from recuse.mechanism import presets
from recuse.mechanism.groups import Together
from recuse.mechanism.priced import PARTS, PerPrice, PriceList, priced
from recuse.mechanism.vector import ManhattanLaplace
from recuse.privacy import Epsilon
from recuse.solver.fast import fast_programs
from support.kinds import GROUPS, LIST, groups, leavers, leaves, sales
from support.noise import Seeded
from support.profiles import examples

TAUS = [Fraction(1, 2), Fraction(1), Fraction(17, 6), Fraction(8)]
taus = st.sampled_from(TAUS)
lists = st.builds(
    PriceList,
    st.integers(1, 500),
    st.dictionaries(st.sampled_from("abc"), st.integers(1, 500), min_size=1),
).map(lambda found: replace(found, touched={k: min(m, found.groups) for k, m in found.touched.items()}))


@given(lists)
def test_prices_are_whole_eighths_and_all_touched_groups_cost_b_at_most(prices):
    for kind, touched in prices.touched.items():
        price = prices.price(kind)
        assert price >= 1
        assert (PARTS * price).denominator == 1
        assert touched * price <= prices.most
        assert touched * price > prices.most - Fraction(touched, PARTS)
        assert (prices.steps() * price).denominator == 1, "k'π is whole: condition 2"
    assert prices.steps() * prices.most >= 100 * prices.groups


def test_the_form_follows_from_how_few_groups_a_kind_touches():
    assert PriceList(7, {"a": 3, "b": 7}).worthwhile
    assert not PriceList(6, {"a": 3, "b": 6}).worthwhile
    assert not PriceList(12, {"a": 12}).worthwhile
    assert PriceList(175, {"customer": 175, "supplier": 7}).worthwhile


def moves(rows, leaver, tau, *, signed):
    """Return by how much every group moves on the grid of τ, and the sensitivity."""
    subject, other = (
        priced(groups(some, signed=signed), LIST, fast_programs) for some in (rows, leaves(rows, leaver))
    )
    pairs = zip(subject.at(tau), other.at(tau), strict=True)
    return [a - b for a, b in pairs], subject.grid(tau)


@pytest.mark.parametrize("signed", [False, True])
@settings(max_examples=examples(80))
@given(rows=sales, leaver=leavers, tau=taus)
def test_a_participant_moves_all_groups_by_b_in_all(signed, rows, leaver, tau):
    shift, grid = moves(rows, leaver, tau, signed=signed)
    assert sum(map(abs, shift)) <= grid.sensitivity
    assert grid.sensitivity * grid.step <= LIST.most * tau * Fraction(103, 100), "and D is hardly more than B"


@settings(max_examples=examples(40))
@given(rows=sales, tau=taus, leaver=leavers)
def test_the_same_with_an_or_where_buyers_stand_in_for_each_other(rows, tau, leaver):
    here = groups(rows, signed=False, either=True)
    there = [without(relation, leaver) for relation in here]
    one, other = (priced(some, LIST, fast_programs) for some in (here, there))
    shift = [a - b for a, b in zip(one.at(tau), other.at(tau), strict=True)]
    assert sum(map(abs, shift)) <= one.grid(tau).sensitivity


HEAVY = [(0, seller, year, 9) for seller in range(3) for year in range(2)]
"""one buyer in all six groups, far above τ"""


def test_the_whole_of_b_can_be_used():
    shift, grid = moves(HEAVY, ("buyer", 0), Fraction(1), signed=False)
    assert sum(map(abs, shift)) >= LIST.most * LIST.steps()
    assert sum(map(abs, shift)) <= grid.sensitivity


def test_too_small_a_touch_is_caught():
    """The twin: it says that a buyer touches two groups, and one moves three times the sensitivity."""
    wrong = PriceList(len(GROUPS), {"buyer": 2, "seller": 2})
    one, other = (
        priced(groups(some, signed=False), wrong, fast_programs)
        for some in (HEAVY, leaves(HEAVY, ("buyer", 0)))
    )
    shift = [a - b for a, b in zip(one.at(Fraction(1)), other.at(Fraction(1)), strict=True)]
    assert sum(map(abs, shift)) > 2 * one.grid(Fraction(1)).sensitivity


def test_slack_that_is_not_added_up_is_caught():
    """The twin: D = Mk' + 1. Certificates may leave a step open in every group, and then all of them move."""
    subject = priced(groups(HEAVY, signed=False), LIST, fast_programs)
    grid = subject.grid(Fraction(1))
    certified = LIST.most * LIST.steps() + 1
    worst = sum(
        math.ceil(x + 1)
        - math.ceil(y)  # one group's X' at the top of its interval, the neighbour's at the end
        for x, y in zip([LIST.steps()] * LIST.most, [0] * LIST.most, strict=True)
    )
    assert certified < worst <= grid.sensitivity


@pytest.mark.parametrize("mechanism", [presets.by_withdrawals, presets.by_deficit])
def test_all_groups_are_answered_with_one_epsilon(mechanism):
    rows = [(b, s, y, 1) for b in range(4) for s in range(5) for y in range(2)] * 10
    found = Together(priced(groups(rows, signed=False), LIST, fast_programs))
    answers = found.release(mechanism(Epsilon.of(4)), Seeded(3))
    assert len(answers) == len(GROUPS)
    assert {answer.epsilon for answer in answers} == {4}
    assert len({answer.noise_scale for answer in answers}) == 1
    assert found.signed is False
    assert found.constants() == [0] * len(GROUPS)
    assert sum(found.true_answers()) == len(rows)


def test_the_noise_is_laplace_in_every_cell():
    subject = priced(groups(HEAVY, signed=False), LIST, fast_programs)
    made = subject.noise(Fraction(1), Fraction(1), None)
    assert made == ManhattanLaplace(Fraction(1), subject.grid(Fraction(1)).sensitivity, len(GROUPS))


@given(rows=sales, order=st.permutations(range(14)), more=sales)
def test_a_group_is_a_function_of_its_own_rows_as_a_set(rows, order, more):
    """Condition 3: other rows, another order and levels that were solved before change nothing."""
    shuffled = [rows[place] for place in order if place < len(rows)]
    untouched = [row for row in more if (row[1] % 3, row[2]) != (0, 0)]
    mine = [row for row in rows if (row[1] % 3, row[2]) == (0, 0)]
    one = priced(groups(mine, signed=False), LIST, fast_programs)
    other = priced(
        groups([*(r for r in shuffled if r in mine), *untouched], signed=False), LIST, fast_programs
    )
    other.at(Fraction(4))
    first, second = one.at(Fraction(1))[0], other.at(Fraction(1))[0]
    assert abs(first - second) <= 1, "what certificates leave open at most, which D pays for in every group"


def test_the_choice_is_made_in_units_of_the_largest_price():
    subject = priced(groups(HEAVY, signed=False), LIST, fast_programs)
    raw, scaled = subject.relations[0].positive, subject.signs[0]
    assert scaled.largest_load() == raw.largest_load()
    found, inner = scaled.truncated(0.5, 0.01), raw.truncated(0.5, 0.01)
    assert 3 * Fraction(found.low) <= Fraction(inner.low)
    assert 3 * Fraction(found.high) >= Fraction(inner.high)
    assert found.width <= 0.01
    assert scaled.strict_withdrawals(1.0, 0.01).high == raw.strict_withdrawals(1.0, 0.01).high
    assert scaled.withdrawals(1.0, 0.01).high == raw.withdrawals(1.0, 0.01).high


def test_a_price_divides_the_answer_alone_and_a_price_of_one_nothing():
    rows = [(0, 0, 0, 5), (1, 0, 0, 2), (0, 3, 0, 4)]
    relation = groups(rows, signed=False)[0]
    plain = fast_programs(relation.positive, relation.participants)
    whole, theta, beta = plain.truncated(2.0, 0.01), Fraction(1), Fraction(1, 5)
    assert PerPrice(plain, Fraction(1)).truncated(2.0, 0.01) == whole
    halved = PerPrice(plain, Fraction(2))
    found = halved.truncated(2.0, 0.01)
    assert 2 * found.low <= whole.low <= whole.high <= 2 * found.high
    assert halved.index(1.0, 0.2, 0.01) == plain.index(1.0, 0.2, 0.01)
    assert halved.integer_index(theta, beta, 10) == plain.integer_index(theta, beta, 10)
    assert halved.withdrawals(2.0, 0.01) == plain.withdrawals(2.0, 0.01)
