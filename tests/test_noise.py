"""Discrete Laplace noise has the scale it claims: the test passes at its scale and fails at ±30 %."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from scipy.stats import chi2

from recuse.noise import SecureNoise, laplace_quantile, round_down, round_up

SAMPLES = 20_000


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
