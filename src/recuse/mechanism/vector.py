"""Noise for vectors on a grid: groups that move together, in the norm in which they do.

A vector of one cell is a number. What a noise needs to take part in a race is said in `grid`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from recuse.krelation.relation import Integers
from recuse.mechanism.geometrics import geometrics
from recuse.noise import Noise, laplace_quantile


@dataclass(frozen=True, slots=True, eq=False)
class DrawnVectors:
    """Vectors that are drawn as a whole, so that a size is a norm of one of them."""

    sizes: Integers
    vectors: Integers

    def point(self, place: int, _: Noise) -> Sequence[int]:
        found: list[int] = self.vectors[place].tolist()
        return found


@dataclass(frozen=True, slots=True)
class ManhattanLaplace:
    """Independent discrete Laplace noise in every cell: for vectors that move in ℓ1. Its level is Σ|i|/D.

    Guarantee: ε-private for integers that move by the sensitivity in ℓ1 (proofs.md, lemma L1), however many
    there are. Staircase noise in every cell is not.
    """

    epsilon: Fraction
    sensitivity: int
    cells: int

    def draw(self, noise: Noise) -> Sequence[int]:
        return noise.laplaces(self.spread(), self.cells)

    @property
    def parts(self) -> int:
        return self.sensitivity

    def entries(self, count: int, noise: Noise) -> DrawnVectors:
        rate = self.epsilon / self.sensitivity  # a discrete Laplace number is the difference of two geometric
        one, other = geometrics(rate, 2 * count * self.cells, noise).reshape(2, count, self.cells)
        return DrawnVectors(np.abs(one - other).sum(axis=1), one - other)

    def reach(self, confidence: float) -> int:
        return laplace_quantile(self.spread(), confidence)

    def reaches(self, confidence: float) -> Sequence[int]:
        return [self.reach(confidence)] * self.cells

    def spread(self) -> Fraction:
        return self.sensitivity / self.epsilon
