"""Noise on the integers, sampled exactly: no float touches the data.

The public interface has no seed. Tests inject a source of their own through the `Noise` protocol.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from recuse.deferred import Deferred

if TYPE_CHECKING:
    import recuse.discrete_laplace as discrete_laplace
else:  # the race draws bits, and nothing else
    discrete_laplace = Deferred("recuse.discrete_laplace")


class Noise(Protocol):
    """A source of random integers."""

    def laplace(self, scale: Fraction) -> int:
        """Return i with probability proportional to exp(-|i|/scale)."""

    def laplaces(self, scale: Fraction, count: int) -> Sequence[int]:
        """Return so many of them, independent."""

    def bits(self, count: int) -> int:
        """Return a uniform integer of `count` bits."""


class SecureNoise:
    """Noise from OpenDP's exact sampler and the operating system's random bits.

    Guarantee: P(i) ∝ exp(-|i|/s) with s ≥ scale, so an integer of sensitivity d plus this noise is
    (d/scale)-private (proofs.md, lemma L).
    """

    def laplace(self, scale: Fraction) -> int:
        return int(_measurement(round_up(scale))(0))

    def laplaces(self, scale: Fraction, count: int) -> Sequence[int]:
        return [int(drawn) for drawn in _vector_measurement(round_up(scale))([0] * count)] if count else []

    def bits(self, count: int) -> int:
        return secrets.randbits(count)


@lru_cache(maxsize=64)
def _measurement(scale: float) -> Any:
    return discrete_laplace.measurement(scale)


@lru_cache(maxsize=64)
def _vector_measurement(scale: float) -> Any:
    return discrete_laplace.vector_measurement(scale)


# ------------------------------------------------------------------ staircase noise


def staircase(epsilon: Fraction, sensitivity: int, noise: Noise) -> int:
    """Return i with probability proportional to exp(-ε·level(i)), level(i) = ⌊|i|/D⌋ + [|i| mod D ≥ ρ].

    A sign, a geometric number of whole steps, and a place inside the step, all from exact coin tosses.

    Guarantee: a shift by at most D changes the level by at most one, so an integer of sensitivity D plus
    this noise is ε-private (proofs.md, lemma S).
    """
    low = low_part(epsilon, sensitivity)
    while True:
        negative = noise.bits(1)
        steps = 0
        while happens(epsilon, noise):
            steps += 1
        place = below(sensitivity, noise)
        while place >= low and not happens(epsilon, noise):
            place = below(sensitivity, noise)
        size = steps * sensitivity + place
        if size or not negative:
            return -size if negative else size


def low_part(epsilon: Fraction, sensitivity: int) -> int:
    """Return ρ, how many places of a step have the lower level; any public number would be private."""
    return max(1, min(sensitivity, round(sensitivity / (1 + math.exp(float(epsilon) / 2)))))


def happens(x: Fraction, noise: Noise) -> bool:
    """Return True with probability exp(-x), x ≥ 0, exactly (Canonne, Kamath and Steinke 2020, algorithm 1).

    For x ≤ 1: the first n at which a toss of probability x/n fails is odd with probability exp(-x).
    """
    while x > 1:
        if not happens(Fraction(1), noise):
            return False
        x -= 1
    n = 1
    while below(x.denominator * n, noise) < x.numerator:
        n += 1
    return n % 2 == 1


def below(limit: int, noise: Noise) -> int:
    """Return a uniform integer from 0 to limit - 1."""
    count = (limit - 1).bit_length()
    while (found := noise.bits(count) if count else 0) >= limit:
        pass
    return found


# ------------------------------------------------------------------ what may be said of it


ROUNDING = 2.0**-40
"""Far more than doubles err in a quantile: it is asked for with so much more probability."""


def laplace_quantile(scale: Fraction, probability: float) -> int:
    """Return the smallest q with P(|i| ≤ q) ≥ probability under discrete Laplace noise, or one more.

    P(|i| > q) = 2 a^{q+1} / (1+a) with a = exp(-1/scale).
    """
    ratio, probability = math.exp(-1 / float(scale)), probability + ROUNDING
    return max(0, math.ceil(float(scale) * math.log(2 / ((1 + ratio) * (1 - probability))) - 1))


def staircase_quantile(epsilon: Fraction, sensitivity: int, probability: float) -> int:
    """Return the smallest q with P(|i| ≤ q) ≥ probability under staircase noise, or one more.

    With the lowest level weighing 1, a step weighs `step`, and all from step n on step·e^{-nε}/(1-e^{-ε}).
    """
    rate = float(epsilon)
    low, fall = low_part(epsilon, sensitivity), math.exp(-rate)
    step = low + (sensitivity - low) * fall
    side = step / -math.expm1(-rate)
    beyond = (1 - probability - ROUNDING) * (side - 0.5)  # what may lie beyond q on one side
    whole = max(0, math.floor(math.log(side / beyond) / rate))
    weight = math.exp(-rate * whole)
    places = (side * weight - beyond) / weight
    inside = places if places <= low else low + (places - low) / fall
    return max(0, whole * sensitivity + math.ceil(inside) - 1)


def staircase_spread(epsilon: Fraction, sensitivity: int) -> Fraction:
    """Return the mean absolute value of the noise in grid steps, about D·e^{ε/2}/(e^ε - 1)."""
    rate = float(epsilon)
    return Fraction(sensitivity * math.exp(-rate / 2) / -math.expm1(-rate))


# ------------------------------------------------------------------ rounding in the safe direction


def round_up(value: Fraction) -> float:
    """Return the smallest double that is not below `value`."""
    near = float(value)
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)


def round_down(value: Fraction) -> float:
    """Return a double a little below `value`, so that a difference rounded in doubles stays below it too."""
    return math.nextafter(float(value), -math.inf) * (1 - 2.0**-40)
