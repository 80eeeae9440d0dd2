"""Noise on the integers, sampled exactly: no float touches the data.

The public interface has no seed. Tests inject a source of their own through the `Noise` protocol.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol

from opendp.domains import atom_domain
from opendp.measurements import make_laplace
from opendp.metrics import absolute_distance
from opendp.mod import enable_features

enable_features("contrib")


class Noise(Protocol):
    """A source of random integers."""

    def laplace(self, scale: Fraction) -> int:
        """Return i with probability proportional to exp(-|i|/scale)."""


class SecureNoise:
    """Noise from OpenDP's exact sampler, seeded by the operating system.

    Guarantee: P(i) ∝ exp(-|i|/s) with s ≥ scale, so an integer of sensitivity d plus this noise is
    (d/scale)-private (docs/proofs.md, lemma L).
    """

    def laplace(self, scale: Fraction) -> int:
        return int(_measurement(round_up(scale))(0))


@lru_cache(maxsize=64)
def _measurement(scale: float) -> Any:
    return make_laplace(atom_domain(T="i64"), absolute_distance(T="i64"), scale=scale)


def round_up(value: Fraction) -> float:
    """Return the smallest double that is not below `value`."""
    near = float(value)
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)


def round_down(value: Fraction) -> float:
    """Return a double a little below `value`, so that a difference rounded in doubles stays below it too."""
    return math.nextafter(float(value), -math.inf) * (1 - 2.0**-40)


def laplace_quantile(scale: Fraction, probability: float) -> int:
    """Return the smallest q with P(|i| ≤ q) ≥ probability under discrete Laplace noise.

    P(|i| > q) = 2 a^{q+1} / (1+a) with a = exp(-1/scale).
    """
    ratio = math.exp(-1 / float(scale))
    return max(0, math.ceil(float(scale) * math.log(2 / ((1 + ratio) * (1 - probability))) - 1))
