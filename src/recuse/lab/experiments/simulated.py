"""Noise for experiments: fast, but from a seeded generator in doubles. Never for a release."""

from __future__ import annotations

import math
import random
from fractions import Fraction


class SimulatedNoise:
    """The distributions of `noise.SecureNoise`, a hundred times faster."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def laplace(self, scale: Fraction) -> int:
        """Return a difference of two geometric numbers."""
        fall = -float(scale)
        first, second = (math.floor(fall * math.log(1 - self._random.random())) for _ in range(2))
        return first - second

    def laplaces(self, scale: Fraction, count: int) -> list[int]:
        """Return so many of them."""
        return [self.laplace(scale) for _ in range(count)]

    def bits(self, count: int) -> int:
        """Return a uniform integer of `count` bits."""
        return self._random.getrandbits(count)
