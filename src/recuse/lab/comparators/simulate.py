"""Continuous noise for comparators, in doubles. Never for a release of real data."""

from __future__ import annotations

import math
from fractions import Fraction

from recuse.mechanism.release import CONFIDENCE, Release
from recuse.noise import Noise
from recuse.privacy import Epsilon

DIGITS = 53


def uniform(noise: Noise) -> float:
    """Return a number strictly between 0 and 1."""
    return (noise.bits(DIGITS) + 0.5) * 2.0**-DIGITS


def laplace(noise: Noise) -> float:
    """Return a number with density exp(-|z|)/2."""
    place = uniform(noise) - 0.5
    return -math.copysign(math.log1p(-2 * abs(place)), place)


def cauchy(noise: Noise) -> float:
    """Return a number with density 1/(π(1 + z²))."""
    return math.tan(math.pi * (uniform(noise) - 0.5))


def laplace_release(value: float, scale: float, epsilon: Epsilon, name: str, noise: Noise) -> Release:
    """Return the value with Laplace noise of a scale."""
    reach = -scale * math.log(1 - CONFIDENCE)
    return released(value + scale * laplace(noise), scale, reach, epsilon, name)


def cauchy_release(value: float, scale: float, epsilon: Epsilon, name: str, noise: Noise) -> Release:
    """Return the value with Cauchy noise of a scale."""
    reach = scale * math.tan(math.pi / 2 * CONFIDENCE)
    return released(value + scale * cauchy(noise), scale, reach, epsilon, name)


def released(answer: float, scale: float, reach: float, epsilon: Epsilon, name: str) -> Release:
    """Return the release of an answer; `reach` is how far its noise goes in 95 % of all cases."""
    return Release(
        value=Fraction(answer),
        interval=(Fraction(answer - reach), Fraction(answer + reach)),
        noise_scale=Fraction(scale),
        epsilon=epsilon.value,
        mechanism=name,
    )
