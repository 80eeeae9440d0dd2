"""Running totals of groups cost what the groups cost, and their noise adds up as independent noise does."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.krelation.contributions import Contributions
from recuse.mechanism import presets
from recuse.mechanism.clipped import clipped
from recuse.mechanism.cumulative import Cumulative, TotalledLaplace, total_reach
from recuse.mechanism.groups import OneOwner, RunningTotals
from recuse.mechanism.vector import ManhattanLaplace
from recuse.privacy import Epsilon
from recuse.solver.reference import reference
from support.noise import Seeded

GROUPS = 3
TAUS = [Fraction(1, 7), Fraction(1), Fraction(37, 5), Fraction(2**40)]

rows = st.lists(st.tuples(st.integers(0, 4), st.integers(0, GROUPS - 1), st.integers(0, 40)), max_size=12)


def contributions(rows, constants=(0,) * GROUPS) -> Contributions:
    columns = zip(*rows, strict=True) if rows else ((),) * 3
    owners, groups, weights = (np.array(column, np.int64) for column in columns)
    zeros = np.array(constants, object)
    return Contributions.of(owners, groups, weights, participants=5, constants=zeros, signed=False)


def laplace_pmf(scale: float, reach: int) -> np.ndarray:
    """Return P(i) of discrete Laplace noise for |i| ≤ reach."""
    ratio = np.exp(-1 / scale)
    return (1 - ratio) / (1 + ratio) * ratio ** np.abs(np.arange(-reach, reach + 1))


def beyond(scale: float, count: int, reach: int) -> float:
    """Return P(|total of so many| > reach), by convolution."""
    pmf = laplace_pmf(scale, 40 * int(scale) + 40)
    total = pmf
    for _ in range(count - 1):
        total = np.convolve(total, pmf)
    middle = len(total) // 2
    return 1 - float(total[middle - reach : middle + reach + 1].sum())


@given(rows, st.sampled_from(TAUS))
def test_totals_are_the_running_sums_of_the_groups(rows, tau):
    vectors = clipped(contributions(rows, constants=(3, 0, 2)), reference)
    assert list(Cumulative(vectors).at(tau)) == list(accumulate(vectors.at(tau)))
    assert Cumulative(vectors).constants == [3, 3, 5]


@given(rows)
def test_what_is_released_of_totals_is_what_groups_add_up_to(rows):
    """Draw by draw: totals are a function of the release of the groups, so they cost no more."""
    vectors = clipped(contributions(rows), reference)
    race = presets.race_by_withdrawals(Epsilon.of(1))
    groups = OneOwner(vectors).release(race, Seeded(7))
    totals = RunningTotals(Cumulative(vectors)).release(race, Seeded(7))
    assert [one.value for one in totals] == list(accumulate(one.value for one in groups))
    assert RunningTotals(Cumulative(vectors)).true_answers() == list(
        accumulate(OneOwner(vectors).true_answers())
    )


@pytest.mark.parametrize("scale", [Fraction(3), Fraction(20)])
@pytest.mark.parametrize("count", [2, 5, 12])
@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.999])
def test_the_reach_of_a_total_holds_and_is_not_much_too_long(scale, count, confidence):
    reach = total_reach(scale, count, confidence)
    assert beyond(float(scale), count, reach) <= 1 - confidence
    assert beyond(float(scale), count, int(reach / 2)) > 1 - confidence


def test_the_reach_of_one_number_would_not_hold_for_a_total():
    """The broken twin: as if totals had the noise of one group."""
    one = ManhattanLaplace(Fraction(1, 2), 10, 12)
    assert beyond(float(one.spread()), 12, one.reach(0.95)) > 0.3
    assert beyond(float(one.spread()), 12, TotalledLaplace(one).reach(0.95)) <= 0.05


def test_noise_for_every_total_by_itself_would_not_be_private():
    """The broken twin: independent noise of the groups' sensitivity, where a row moves every later total."""
    epsilon, cells = Fraction(1), 5
    moved = list(accumulate([1, 0, 0, 0, 0]))
    loss = epsilon * sum(map(abs, moved))  # of independent Laplace noise at one place far out
    assert loss == cells * epsilon
    levels = TotalledLaplace(ManhattanLaplace(epsilon, 1, cells))
    sizes = np.abs(np.diff(moved, prepend=0)).sum() / levels.parts
    assert sizes <= 1


def test_tau_is_chosen_by_the_groups_themselves():
    vectors = clipped(contributions([(0, 0, 7), (0, 1, 2), (1, 1, 3)], constants=(3, 0, 2)), reference)
    for groups, constants in (
        (OneOwner(vectors), [3, 0, 2]),
        (RunningTotals(Cumulative(vectors)), [3, 3, 5]),
    ):
        assert [programs.largest_load() for programs in groups.signs] == [9]
        assert groups.constants() == constants
        assert groups.signed is False
    cells = ManhattanLaplace(Fraction(1), 1020, GROUPS)
    assert TotalledLaplace(cells).epsilon == cells.epsilon == 1
    assert TotalledLaplace(cells).draw(Seeded(4)) == list(accumulate(cells.draw(Seeded(4))))
