"""The last step: a grid, the sensitivity of the grid, and an interval that covers as often as it says."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.mechanism import presets
from recuse.mechanism.answer import noisy_answer
from recuse.mechanism.parameters import ANSWER_GRID, SLACK
from recuse.privacy import Epsilon
from support.noise import NoNoise, Seeded

PARAMETERS = presets.tuned(Epsilon.of(1))
STAIRCASE = presets.by_withdrawals(Epsilon.of(1))
numbers = st.fractions(0, 1000, max_denominator=997)


@pytest.mark.parametrize("parameters", [PARAMETERS, STAIRCASE], ids=["laplace", "staircase"])
def test_the_interval_covers_as_often_as_it_says(parameters):
    source, runs, truth, tau = Seeded(5), 4000, Fraction(1234, 7), Fraction(8)
    covered = 0
    for _ in range(runs):
        low, high = noisy_answer(truth, tau, SLACK, Fraction(0), parameters, source).interval
        covered += low <= truth <= high
    assert 0.94 <= covered / runs <= 0.96


@given(numbers, numbers, st.fractions("1/8", 40, max_denominator=64))
def test_the_grid_moves_by_no_more_than_its_sensitivity(one, move, tau):
    """Numbers that differ by at most (1+slack)τ differ by at most k' + ⌈k'·slack⌉ steps."""
    other = one + min(move, (1 + SLACK) * tau)
    values = [noisy_answer(x, tau, SLACK, Fraction(0), PARAMETERS, NoNoise()).value for x in (one, other)]
    steps = (values[1] - values[0]) / (tau / ANSWER_GRID)
    assert steps.denominator == 1
    assert 0 <= steps <= ANSWER_GRID + ANSWER_GRID * SLACK


def test_a_constant_is_added_exactly():
    without, with_it = (
        noisy_answer(Fraction(5), Fraction(2), SLACK, Fraction(constant), PARAMETERS, NoNoise()).value
        for constant in (0, 17)
    )
    assert with_it - without == 17


def test_a_release_says_its_numbers():
    tuned = presets.tuned(Epsilon.of(1))
    found = noisy_answer(Fraction(3), Fraction(2), Fraction(0), Fraction(1), tuned, NoNoise())
    assert repr(found).startswith("<Release 4 (")
    assert repr(found).endswith("epsilon 1>")
