"""The noisy maximum: exactly the distribution that lemma 2' is about, lazily or not."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from recuse.mechanism import presets
from recuse.mechanism.draws import Draws
from recuse.mechanism.selection import Race, Runner, noisy_maximum, prior_costs
from recuse.privacy import Epsilon
from support.distributions import winning_probabilities
from support.noise import Seeded

RULE = presets.by_withdrawals(Epsilon.of(1)).levels
LEVELS = range(7)
ONE = Fraction(1)


def scores(penalties: list[Fraction]) -> list[float]:
    return [-float(d) - float(RULE.prior(k)) * math.log(2) for k, d in zip(LEVELS, penalties, strict=True)]


def select(penalties: list[Fraction], noise, calls=None) -> int:
    top = next((k for k in LEVELS if not any(penalties[k:])), LEVELS[-1])

    def penalty(level, stop_above):
        if calls is not None:
            calls.append(level)
        return float(penalties[level]), penalties[level]

    return noisy_maximum(RULE, LEVELS, top, ONE, penalty, noise)


falling = st.lists(
    st.integers(0, 12).map(lambda quarters: Fraction(quarters, 4)), min_size=6, max_size=6
).map(lambda steps: [sum(steps[k:], Fraction(0)) for k in range(7)])


@pytest.mark.parametrize(
    "penalties", [[0] * 7, [3, 2, 1, 1, 0, 0, 0], [9, 4, 2, 1, 1, 1, 0], [1, 0, 0, 0, 0, 0, 0]]
)
def test_winners_have_the_exact_probabilities(penalties):
    penalties = [Fraction(d) for d in penalties]
    runs, source = 4_000, Seeded(11)
    counts = Counter(select(penalties, source) for _ in range(runs))
    expected = [p * runs for p in winning_probabilities(scores(penalties))]
    cells = [(counts[k], e) for k, e in zip(LEVELS, expected, strict=True) if e > 5]
    statistic = sum((o - e) ** 2 / e for o, e in cells)
    assert statistic < chi2.isf(1e-6, len(cells))
    wrong = [p * runs for p in winning_probabilities([1.3 * s for s in scores(penalties)])]
    off = sum((counts[k] - e) ** 2 / e for k, e in zip(LEVELS, wrong, strict=True) if e > 5)
    assert off > chi2.isf(1e-6, len(cells)), "a score off by 30 % must be noticed"


def test_the_prior_is_computed_once():
    """A thousand fractions in every draw took longer than all the rest of it."""
    assert prior_costs(RULE, LEVELS) is prior_costs(RULE, LEVELS)
    with pytest.raises(ValueError, match="read-only"):
        prior_costs(RULE, LEVELS)[0] = 1.0


@given(falling, st.integers(0, 2**32))
def test_lazy_and_eager_choose_the_same(penalties, seed):
    """All draws are made first, so the winner is a function of them: compare with looking at every level."""
    calls: list[int] = []
    lazy = select(penalties, Seeded(seed), calls)
    race = Race.of(RULE, LEVELS, (), Seeded(seed))
    eager = Runner(0, penalties[0])
    for k in LEVELS[1:]:
        if race.ahead(Runner(k, penalties[k]), eager):
            eager = Runner(k, penalties[k])
    assert lazy == eager.level
    assert len(calls) <= sum(map(bool, penalties))


class Bits:
    """Words in turn, then zeros: to make draws that doubles cannot tell apart."""

    def __init__(self, first: int, rest: list[int]) -> None:
        self.first, self.rest = [first], iter(rest)

    def bits(self, count: int) -> int:
        return self.first.pop() if self.first else next(self.rest)

    def laplace(self, scale: Fraction) -> int:
        raise AssertionError


def test_draws_that_agree_in_64_bits_are_told_apart_by_later_ones():
    """The level whose next word is the smaller has the smaller U, hence the larger draw."""
    word = 0x9E3779B97F4A7C15
    free = replace(RULE, gentle=Fraction(0), steep=Fraction(0))
    for first, second in ((0, 1), (1, 0)):
        draws = Draws(range(2), Bits(word | word << 64, [first, second] + [0] * 40))
        race = Race(draws, free, (), draws.low, draws.high)
        assert race.between(Runner(0, Fraction(0))) == race.between(Runner(1, Fraction(0)))
        assert race.ahead(Runner(0, Fraction(0)), Runner(1, Fraction(0))) == (first < second)


def test_enclosures_tighten_around_the_same_number():
    draws = Draws(range(50), Seeded(4))
    for k in range(50):
        wide, tight = draws.enclosure(k, 20), draws.enclosure(k, 80)
        assert wide[0] <= tight[0] < tight[1] <= wide[1]
        assert draws.low[k] <= tight[0] < tight[1] <= draws.high[k]


def test_a_draw_of_many_zeros_is_only_bounded_from_below():
    draws = Draws(range(1), Bits(1, [5] * 40))
    assert draws.high[0] == math.inf
    low, high = draws.enclosure(0, 30)
    assert draws.low[0] < low < high


def test_the_last_level_is_free_whatever_the_data():
    def penalty(level, stop_above):
        return 1e9, Fraction(10**9)

    assert noisy_maximum(RULE, LEVELS, 10**6, ONE, penalty, Seeded(1)) == LEVELS[-1]


@pytest.mark.parametrize("later", [(0, 1), (1, 0)])
def test_free_levels_that_doubles_cannot_tell_apart_are_told_apart(later):
    """The best of the levels without penalty: all that could be are compared exactly."""
    word = 0x9E3779B97F4A7C15
    free = replace(RULE, gentle=Fraction(0), steep=Fraction(0))
    draws = Draws(range(2), Bits(word | word << 64, [*later] + [0] * 40))
    race = Race(draws, free, (), draws.low, draws.high)
    winner = race.free_winner(0).level
    exact = [race.enclosure(Runner(k, Fraction(0)), 200) for k in range(2)]
    assert exact[winner][0] > exact[1 - winner][1]
