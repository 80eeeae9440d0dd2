"""Noise for one number on a grid: discrete Laplace, and staircase, which is the least there is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from recuse.exponential import exponential, logarithm
from recuse.krelation.relation import Integers
from recuse.mechanism.draws import geometric
from recuse.noise import (
    Noise,
    below,
    laplace_quantile,
    low_part,
    staircase,
    staircase_quantile,
    staircase_spread,
)


@dataclass(frozen=True, slots=True)
class Laplace:
    """Discrete Laplace noise: ε-private by lemma L. Its level is |i|/D."""

    epsilon: Fraction
    sensitivity: int
    """D: how far one participant moves the number, in grid steps"""

    def draw(self, noise: Noise) -> Sequence[int]:
        return [noise.laplace(self.spread())]

    def entries(self, count: int, noise: Noise) -> Signed:
        rate = self.epsilon / self.sensitivity
        return Signed(geometric(rate, lambda digits: _laplace_head(rate, digits), count, noise), self)

    def sized(self, size: int) -> range:
        """Return the absolute values of a size: one."""
        return range(size, size + 1)

    @property
    def parts(self) -> int:
        return self.sensitivity

    def reach(self, confidence: float) -> int:
        return laplace_quantile(self.spread(), confidence)

    def reaches(self, confidence: float) -> Sequence[int]:
        return [self.reach(confidence)]

    def spread(self) -> Fraction:
        return self.sensitivity / self.epsilon


@dataclass(frozen=True, slots=True)
class Staircase:
    """Discrete staircase noise: ε-private by lemma S. Its level is ⌊|i|/D⌋ + [|i| mod D ≥ ρ]."""

    epsilon: Fraction
    sensitivity: int

    def draw(self, noise: Noise) -> Sequence[int]:
        return [staircase(self.epsilon, self.sensitivity, noise)]

    def entries(self, count: int, noise: Noise) -> Signed:
        def head(digits: int) -> tuple[Fraction, Fraction]:
            return _staircase_head(self.epsilon, self.sensitivity, digits)

        return Signed(geometric(self.epsilon, head, count, noise), self)

    def sized(self, size: int) -> range:
        """Return the absolute values of a level."""
        first = low_part(self.epsilon, self.sensitivity) + (size - 1) * self.sensitivity
        return range(max(0, first), first + self.sensitivity)

    @property
    def parts(self) -> int:
        return 1

    def reach(self, confidence: float) -> int:
        return staircase_quantile(self.epsilon, self.sensitivity, confidence)

    def reaches(self, confidence: float) -> Sequence[int]:
        return [self.reach(confidence)]

    def spread(self) -> Fraction:
        return staircase_spread(self.epsilon, self.sensitivity)


@dataclass(frozen=True, slots=True, eq=False)
class Signed:
    """Draws of one number, known by their sizes: a place among the absolute values of its size, and a sign.

    Guarantee: all whole numbers of one size are equally likely, as they are under the noise (lemma Z).
    """

    sizes: Integers
    added: Laplace | Staircase

    def point(self, place: int, noise: Noise) -> Sequence[int]:
        values = self.added.sized(int(self.sizes[place]))
        while True:
            value, negative = values[below(len(values), noise)], noise.bits(1)
            if value or not negative:  # zero has one sign
                return [-value if negative else value]


@lru_cache(maxsize=64)
def _laplace_head(rate: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Enclose ln c with P(|i| ≥ n) = c·e^{-rate·n}, n ≥ 1: c = 2/(1+q), q = e^{-rate}."""
    low, high = exponential(-rate, digits)
    return logarithm(2 / (1 + high), digits)[0], logarithm(2 / (1 + low), digits)[1]


@lru_cache(maxsize=64)
def _staircase_head(epsilon: Fraction, sensitivity: int, digits: int) -> tuple[Fraction, Fraction]:
    """Enclose ln c with P(level ≥ n) = c·e^{-εn}, n ≥ 1.

    Level 0 has 2ρ-1 numbers and every other one 2D, so with q = e^{-ε} c = 2D/((2ρ-1)(1-q) + 2Dq).
    """
    lowest, each = 2 * low_part(epsilon, sensitivity) - 1, 2 * sensitivity
    # the denominator grows with q, as each > lowest
    low, high = (lowest * (1 - q) + each * q for q in exponential(-epsilon, digits))
    return logarithm(each / high, digits)[0], logarithm(each / low, digits)[1]
