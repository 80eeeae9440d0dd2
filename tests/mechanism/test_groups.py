"""Groups: one choice of τ where participants may touch several, the whole ε each where they cannot."""

from __future__ import annotations

from fractions import Fraction

import pytest

from recuse.annotation import Participant
from recuse.krelation.build import from_expressions
from recuse.krelation.relation import Shape
from recuse.mechanism import presets
from recuse.mechanism.groups import SideBySide, Together
from recuse.mechanism.hull import HullGroups
from recuse.mechanism.prepared import prepare
from recuse.privacy import Epsilon
from recuse.solver.reference import reference
from support.noise import Scripted, Seeded

ONE = Epsilon.of(1)


def group(people: int, weight: int):
    rows = [(Participant(i), weight) for i in range(people)]
    return prepare(from_expressions(rows, Shape.CONJUNCTIONS, signed=False), reference)


GROUPS = [group(50, 1), group(20, 3), group(0, 1)]


def hull(relations):
    return Together(HullGroups(relations))


def test_one_choice_serves_all_and_one_noise_covers_all():
    answers = hull(GROUPS).release(presets.tuned(ONE), Seeded(1))
    assert len({answer.noise_scale for answer in answers}) == 1
    assert all(answer.epsilon == 1 for answer in answers)
    assert all(answer.noise_epsilon == Fraction(1, 2) for answer in answers), "nothing is split over groups"


def test_disjoint_groups_have_the_whole_epsilon_each():
    source = Scripted([0] * 6)
    answers = SideBySide(GROUPS).release(presets.tuned(ONE), source)
    assert source.scales[1::2] == [Fraction(1010) / Fraction(1, 2)] * 3
    assert answers[0].noise_scale < answers[1].noise_scale


@pytest.mark.parametrize("form", [SideBySide, hull])
def test_a_group_without_rows_is_answered_too(form):
    answers = form(GROUPS).release(presets.by_withdrawals(ONE), Seeded(1))
    assert len(answers) == 3
    assert abs(answers[2].value) < 100


def test_no_groups_no_answers():
    for form in (SideBySide, hull):
        assert form([]).release(presets.tuned(ONE), Seeded(1)) == []


@pytest.mark.parametrize("form", [SideBySide, hull])
def test_tau_is_chosen_by_the_programs_of_all_groups(form):
    assert [programs.largest_load() for programs in form(GROUPS).signs] == [1, 3, 0]
    assert form(GROUPS).constants() == [0, 0, 0]
    assert form(GROUPS).true_answers() == [50, 60, 0]
    assert form(GROUPS).signed is False


def test_a_mechanism_of_two_steps_is_its_own_first_step():
    split = presets.by_withdrawals(ONE)
    assert split.in_two_steps() is split
