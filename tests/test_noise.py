"""Discrete Laplace noise has the scale it claims: the test passes at its scale and fails at ±30 %."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from recuse import noise
from recuse.noise import (
    SecureNoise,
    below,
    happens,
    laplace_quantile,
    low_part,
    round_down,
    round_up,
    staircase,
    staircase_quantile,
)
from support.profiles import examples

SAMPLES = 6_000


def probability(i: int, scale: float) -> float:
    a = math.exp(-1 / scale)
    return (1 - a) / (1 + a) * a ** abs(i)


def fits(samples: list[int], scale: float) -> bool:
    """Return whether a chi-square test at level 10⁻⁶ accepts the scale."""
    edge = max(1, round(3 * scale))
    cells = list(range(-edge, edge + 1))
    expected = [probability(i, scale) * len(samples) for i in cells]
    counts = [0] * len(cells)
    for sample in samples:
        if -edge <= sample <= edge:
            counts[sample + edge] += 1
    expected.append(len(samples) - sum(expected))
    counts.append(len(samples) - sum(counts))
    statistic = sum((o - e) ** 2 / e for o, e in zip(counts, expected, strict=True))
    return statistic < chi2.isf(1e-6, len(counts) - 1)


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3), Fraction(25, 2)])
def test_noise_has_its_scale_and_no_other(scale):
    source = SecureNoise()
    samples = [source.laplace(scale) for _ in range(SAMPLES)]
    assert fits(samples, float(scale))
    assert not fits(samples, float(scale) * 1.3)
    assert not fits(samples, float(scale) * 0.7)


def test_many_draws_are_independent_and_have_their_scale():
    scale = Fraction(5, 2)
    samples = SecureNoise().laplaces(scale, 20_000)
    assert fits(samples, float(scale))
    assert not fits(samples, float(scale) * 1.3)
    # the sum of two independent ones has twice the variance
    pairs = [a + b for a, b in zip(samples[::2], samples[1::2], strict=True)]
    single, double = (sum(x * x for x in drawn) / len(drawn) for drawn in (samples, pairs))
    assert 1.7 < double / single < 2.3
    assert SecureNoise().laplaces(scale, 0) == []


@given(st.fractions(Fraction(1, 1000), 10**9))
def test_noise_is_never_drawn_at_a_smaller_scale_than_asked(scale):
    """Of the doubles on either side of a scale it is the one above: lemma L asks for s ≥ scale."""
    drawn = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(noise, "_measurement", lambda used: drawn.append(used) or (lambda _: 0))
        SecureNoise().laplace(scale)
    (used,) = drawn
    assert Fraction(used) >= scale
    assert Fraction(math.nextafter(used, 0.0)) < scale


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(7), Fraction(2020)])
def test_the_quantile_is_the_smallest_that_covers(scale):
    def covered(q: int) -> float:
        return sum(probability(i, float(scale)) for i in range(-q, q + 1))

    q = laplace_quantile(scale, 0.95)
    assert covered(q) >= 0.95 - 1e-9
    assert q == 0 or covered(q - 1) < 0.95


def test_scales_round_up_and_widths_down():
    third = Fraction(1, 3)
    assert third <= Fraction(round_up(third)) < third + Fraction(1, 2**50)
    assert third - Fraction(1, 2**39) < Fraction(round_down(third)) < third


# ------------------------------------------------------------------ staircase


def level(i: int, epsilon: float, sensitivity: int) -> int:
    low = low_part(Fraction(epsilon), sensitivity)
    return abs(i) // sensitivity + (abs(i) % sensitivity >= low)


def staircase_fits(samples: list[int], epsilon: float, sensitivity: int, claimed: float) -> bool:
    """Return whether a chi-square test at level 10⁻⁶ accepts that levels are weighted with `claimed`."""
    reach = 12 * sensitivity
    weights = {
        i: math.exp(-claimed * level(i, epsilon, sensitivity))
        for i in range(-200 * sensitivity, 200 * sensitivity)
    }
    total = sum(weights.values())
    cells = Counter(sample for sample in samples if abs(sample) <= reach)
    pairs = [(cells[i], weights[i] / total * len(samples)) for i in range(-reach, reach + 1)]
    pairs = [(o, e) for o, e in pairs if e > 5]
    rest = len(samples) - sum(o for o, _ in pairs), len(samples) - sum(e for _, e in pairs)
    statistic = sum((o - e) ** 2 / e for o, e in [*pairs, rest])
    return statistic < chi2.isf(1e-6, len(pairs))


@pytest.mark.parametrize(
    ("epsilon", "sensitivity"), [(Fraction(1), 7), (Fraction(1, 2), 3), (Fraction(9, 4), 5)]
)
def test_staircase_noise_has_its_levels_and_no_others(epsilon, sensitivity):
    source = SecureNoise()
    samples = [staircase(epsilon, sensitivity, source) for _ in range(SAMPLES)]
    assert staircase_fits(samples, epsilon, sensitivity, float(epsilon))
    assert not staircase_fits(samples, epsilon, sensitivity, float(epsilon) * 1.3)
    assert not staircase_fits(samples, epsilon, sensitivity, float(epsilon) * 0.7)


@given(st.integers(-500, 500), st.integers(1, 60), st.data())
def test_a_shift_within_the_sensitivity_changes_the_level_by_at_most_one(i, sensitivity, data):
    """Lemma S."""
    shift = data.draw(st.integers(-sensitivity, sensitivity))
    epsilon = data.draw(st.sampled_from([0.1, 1.0, 3.0]))
    assert abs(level(i + shift, epsilon, sensitivity) - level(i, epsilon, sensitivity)) <= 1


@settings(max_examples=examples(30))
@given(st.fractions("1/50", 4, max_denominator=50), st.integers(1, 20))
def test_the_staircase_quantile_is_the_smallest_that_covers(epsilon, sensitivity):
    weights = [
        math.exp(-float(epsilon) * level(i, epsilon, sensitivity)) for i in range(60 * sensitivity * 50)
    ]
    total = 2 * sum(weights) - weights[0]

    def covered(q: int) -> float:
        return (2 * sum(weights[: q + 1]) - weights[0]) / total

    q = staircase_quantile(epsilon, sensitivity, 0.95)
    assert covered(q) >= 0.95 - 1e-9
    assert q == 0 or covered(q - 1) < 0.95 + 1e-9


@pytest.mark.parametrize("x", [Fraction(0), Fraction(1, 3), Fraction(1), Fraction(7, 3)])
def test_coins_fall_with_probability_exp_minus_x(x):
    source, tosses = SecureNoise(), 20_000
    share = sum(happens(x, source) for _ in range(tosses)) / tosses
    assert abs(share - math.exp(-x)) < 5 * math.sqrt(0.25 / tosses)


def test_uniform_integers_stay_below_their_limit():
    source = SecureNoise()
    assert {below(5, source) for _ in range(300)} == {0, 1, 2, 3, 4}
    assert below(1, source) == 0
