"""The general mechanism of the paper's section 4.2."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.errors import ParameterError
from recuse.mechanism import presets
from recuse.mechanism.general import general, sequences, subset_answers
from recuse.privacy import Epsilon
from recuse.sensitivity import global_
from support.monotone import monotone_answers, withdrawn
from support.noise import NoNoise

PARAMETERS = presets.paper(Epsilon.of(1))


@given(monotone_answers())
def test_sequences_by_definition(answers):
    """H_i and G_i are minima over subsets of size i: of the answer, of its global empirical sensitivity."""
    people = range(answers.size.bit_length() - 1)

    def query(there):
        return float(answers[sum(1 << i for i in there)])

    pair = sequences(answers)
    for size in range(len(people) + 1):
        groups = [frozenset(group) for group in combinations(people, size)]
        assert pair.h[size] == min(map(query, groups))
        assert pair.g[size] == min(global_(query, group) for group in groups)


@given(monotone_answers(), st.data())
def test_both_sequences_interleave_with_their_neighbours(answers, data):
    """The paper's theorem 2: H and G are recursive sequences."""
    leaver = data.draw(st.integers(0, answers.size.bit_length() - 2))
    small, large = sequences(withdrawn(answers, leaver)), sequences(answers)
    for one, two in ((small.h, large.h), (small.g, large.g)):
        assert one[0] == 0
        for i in range(len(one)):
            assert two[i] <= one[i] <= two[i + 1]


@given(monotone_answers())
def test_g_bounds_h(answers):
    """… and G is a bounding sequence: H_j ≤ H_i + (|P|-i) G_j."""
    pair = sequences(answers)
    people = pair.participants
    for i in range(people + 1):
        for j in range(i, people + 1):
            assert pair.h[j] <= pair.h[i] + (people - i) * pair.g[j]


@given(st.lists(st.integers(-9, 9), min_size=8, max_size=8))
def test_any_query_is_made_monotone_without_touching_a_monotone_one(raw):
    found = subset_answers(lambda there: raw[sum(1 << i for i in there)], range(3))
    for mask in range(8):
        for person in range(3):
            assert found[mask] <= found[mask | 1 << person]
    if all(raw[m] <= raw[m | 1 << p] for m in range(8) for p in range(3)):
        assert found.tolist() == raw


def test_absent_people_on_the_list_change_nothing():
    """Padding the public list with somebody who is not in the data leaves index and X as they are."""
    answers = subset_answers(lambda there: float(len(there & {0, 1, 2}) ** 2), range(3))
    padded = subset_answers(lambda there: float(len(there & {0, 1, 2}) ** 2), range(5))
    short, long = sequences(answers), sequences(padded)
    assert long.h[-4:] == short.h
    assert long.g[-4:] == short.g
    assert set(long.h[:-4] + long.g[:-4]) <= {0}


def test_an_answer_is_on_the_scale_of_the_query():
    found = general(lambda there: 100.0 + 2 * len(there), list(range(10)), PARAMETERS, NoNoise())
    assert abs(found.value - 120) <= 5


def test_answers_that_are_not_numbers_count_as_nothing():
    found = subset_answers(lambda there: float("nan") if there else 0.0, range(2))
    assert found.tolist() == [0.0] * 4


def test_a_long_list_is_refused_before_the_query_is_called():
    def never(_):
        raise AssertionError("the data was looked at")

    with pytest.raises(ParameterError, match=r"at most 20.*SQL"):
        general(never, range(21), PARAMETERS, NoNoise())
    with pytest.raises(ParameterError, match="twice"):
        general(never, ["ann", "ann"], PARAMETERS, NoNoise())


@pytest.mark.parametrize("participants", [15, pytest.param(20, marks=pytest.mark.slow)])
def test_up_to_twenty_participants_are_answered(participants):
    found = general(lambda there: float(len(there)), range(participants), PARAMETERS, NoNoise())
    assert found.epsilon == Fraction(1)


def test_answers_beyond_doubles_do_not_raise():
    for huge in (10**400, 1.7e308, -1.7e308):
        found = general(lambda there, huge=huge: huge if there else -1e308, range(2), PARAMETERS, NoNoise())
        assert found.epsilon == 1
