"""Groups that anybody may touch: all move the same way, each by τ (theorem W); with signs either way."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse.mechanism import presets
from recuse.mechanism.boxes import Norm
from recuse.mechanism.groups import Together
from recuse.mechanism.hull import HullGroups
from recuse.mechanism.parameters import SLACK
from recuse.mechanism.prepared import prepare
from recuse.privacy import Epsilon
from recuse.solver.fast import fast_programs
from support.kinds import GROUPS, groups, leavers, leaves, sales
from support.noise import Seeded
from support.profiles import examples

taus = st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(17, 6), Fraction(8)])


def subject(rows, *, signed) -> HullGroups:
    return HullGroups([prepare(one, fast_programs) for one in groups(rows, signed=signed)])


def hull(v) -> int:
    return max(0, *v) - min(0, *v)


@pytest.mark.parametrize(("signed", "norm"), [(False, hull), (True, lambda v: max(map(abs, v)))])
@settings(max_examples=examples(60))
@given(rows=sales, leaver=leavers, tau=taus)
def test_a_participant_moves_the_vector_by_the_sensitivity_at_most(signed, norm, rows, leaver, tau):
    one, other = (subject(some, signed=signed) for some in (rows, leaves(rows, leaver)))
    shift = [a - b for a, b in zip(one.at(tau), other.at(tau), strict=True)]
    assert norm(shift) <= one.grid(tau).sensitivity
    assert one.grid(tau).sensitivity * one.grid(tau).step <= tau * Fraction(103, 100)


def test_the_hull_for_sums_with_signs_is_caught():
    """The twin: one group rises by τ and another falls by τ, which is 2τ in the norm of the hull."""
    rows = [(0, 0, 0, 9), (0, 1, 0, -9)]
    one, other = (subject(some, signed=True) for some in (rows, leaves(rows, ("buyer", 0))))
    tau = Fraction(1)
    shift = [a - b for a, b in zip(one.at(tau), other.at(tau), strict=True)]
    assert hull(shift) > 1.9 * one.grid(tau).sensitivity
    assert max(map(abs, shift)) <= one.grid(tau).sensitivity


def test_a_slack_on_one_side_only_is_caught():
    """The twin D = k' + c: one group falls by its slack while another rises by τ and its slack."""
    grid = subject([], signed=False).grid(Fraction(1))
    steps = int(1 / grid.step)
    loose = math.ceil(steps * SLACK)
    assert hull([-loose, steps + loose]) == grid.sensitivity
    assert hull([-loose, steps + loose]) > steps + loose


def test_counts_take_the_hull_and_signs_the_cube():
    assert subject([], signed=False).noise(Fraction(1), Fraction(1), None).norm is Norm.HULL
    assert subject([], signed=True).noise(Fraction(1), Fraction(1), None).norm is Norm.CUBE


@pytest.mark.parametrize("signed", [False, True])
def test_all_groups_are_answered_with_one_epsilon(signed):
    rows = [(b, s, y, 1) for b in range(4) for s in range(5) for y in range(2)] * 10
    found = Together(subject(rows, signed=signed))
    answers = found.release(presets.by_withdrawals(Epsilon.of(4)), Seeded(3))
    assert len(answers) == len(GROUPS)
    assert {answer.epsilon for answer in answers} == {4}
    assert found.signed is signed


def test_no_groups_no_answers():
    assert Together(HullGroups([])).release(presets.by_withdrawals(Epsilon.of(1)), Seeded(1)) == []
