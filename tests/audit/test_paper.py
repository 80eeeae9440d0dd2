"""From the index gap of proofs.md, section 1, to odds: the answers of the paper tell a_i ∨ p from a_i.

The paper's mechanism releases X(τ) + Lap(τ/ε2), τ = θe^{μ+β(j+Lap(1/ε1))}, and nothing else. Everything is
known in closed form but one integral over τ, which is done numerically.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import pytest
from scipy.integrate import quad

M = 200
EPSILON, MU = 0.5, 0.5
HALF, BETA = EPSILON / 2, EPSILON / 5  # the paper's ε1 = ε2 and β
WITH, WITHOUT = 57, 7  # its indices with p and without (tests/solver/test_laws.py)

Truncated = Callable[[float], float]


def with_p(tau: float) -> float:
    """X(τ) of the tuples a_i ∨ p: all are lost for τ(M+1), part by part."""
    return min(M, (M + 1) * tau)


def without_p(tau: float) -> float:
    """X(τ) of the tuples a_i."""
    return M * min(1.0, tau)


def over_tau(index: int, integrand: Callable[[float], float]) -> float:
    """Return the mean of a function of τ."""
    middle = BETA * index + MU

    def weighted(log_tau: float) -> float:
        density = math.exp(-abs(log_tau - middle) * HALF / BETA) * HALF / (2 * BETA)
        return density * integrand(math.exp(log_tau))

    places = sorted({middle - 14, -0.2, 0.0, middle, middle + 1, middle + 14})
    pieces = pairwise(places)
    return sum(quad(weighted, a, b, limit=400)[0] for a, b in pieces)


def density(index: int, truncated: Truncated, answer: float) -> float:
    """Return the density of the answer."""
    return over_tau(
        index, lambda tau: HALF / (2 * tau) * math.exp(-HALF * abs(answer - truncated(tau)) / tau)
    )


def near(index: int, truncated: Truncated, reach: float) -> float:
    """Return the probability of an answer within `reach` of M."""

    def below(x: float, scale: float) -> float:
        return math.exp(x / scale) / 2 if x < 0 else 1 - math.exp(-x / scale) / 2

    def inside(tau: float) -> float:
        off = M - truncated(tau)
        return below(off + reach, tau / HALF) - below(off - reach, tau / HALF)

    return over_tau(index, inside)


def test_the_scales_differ_by_148_and_the_densities_by_132():
    assert round(math.exp(BETA * (WITH - WITHOUT))) == 148
    ratio = density(WITHOUT, without_p, M) / density(WITH, with_p, M)
    assert ratio == pytest.approx(131.7, abs=0.1)
    assert round(math.exp(EPSILON), 2) == 1.65


def test_an_answer_within_ten_of_the_truth_is_86_times_as_likely_without_p():
    few, many = near(WITH, with_p, 10), near(WITHOUT, without_p, 10)
    assert (round(many, 3), round(few, 4)) == (0.516, 0.0060)
    assert many / few == pytest.approx(85.8, abs=0.1)
    assert many > math.exp(EPSILON) * few


def test_with_the_repaired_index_the_same_odds_stay_within_epsilon():
    """Both indices are 7: nothing is left but that X differs below τ = 1."""
    for reach in (1, 10, 40):
        ratio = near(WITHOUT, without_p, reach) / near(WITHOUT, with_p, reach)
        assert math.exp(-EPSILON) <= ratio <= math.exp(EPSILON)
