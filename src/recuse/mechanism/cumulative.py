"""Groups in an order, each released together with all before it: running totals of vectors that are clipped.

What is released of the groups says what their totals are, so the totals cost nothing more. Their noise adds
up as independent noise does, with the root of how many groups there are, and not as if each were a question.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

import numpy as np

from recuse.krelation.relation import Integers
from recuse.mechanism.clipped import Clipped
from recuse.mechanism.grid import CellNoise, Entries, Grid
from recuse.mechanism.vector import ManhattanLaplace
from recuse.noise import ROUNDING, Noise
from recuse.solver.programs import TruncationPrograms

RATES = 200
"""how many exponents are tried for the shortest reach of a total: each holds"""


@dataclass(frozen=True, slots=True)
class Cumulative:
    """`Releasable`: the running totals of groups of rows with one owner each.

    Guarantee: as `Clipped`: totals are a function of the vector whose cells they add up (proofs.md, lemma Y).
    """

    vectors: Clipped

    theta = Fraction(1)
    lifted = False
    shared_out = False

    @property
    def signs(self) -> Sequence[TruncationPrograms]:
        return self.vectors.signs

    @property
    def constants(self) -> Sequence[int]:
        return list(accumulate(self.vectors.constants))

    def grid(self, tau: Fraction) -> Grid:
        return self.vectors.grid(tau)

    def noise(self, epsilon: Fraction, tau: Fraction, cell: CellNoise) -> TotalledLaplace:
        return TotalledLaplace(self.vectors.noise(epsilon, tau, cell))

    def at(self, tau: Fraction) -> Sequence[int]:
        """Return the totals of clipped vectors on the grid of τ."""
        return list(accumulate(self.vectors.at(tau)))


@dataclass(frozen=True, slots=True)
class TotalledLaplace:
    """The running totals of independent discrete Laplace noise; its level is that of the noise itself."""

    cells: ManhattanLaplace

    @property
    def epsilon(self) -> Fraction:
        return self.cells.epsilon

    def draw(self, noise: Noise) -> Sequence[int]:
        return list(accumulate(self.cells.draw(noise)))

    def entries(self, count: int, noise: Noise) -> TotalledEntries:
        return TotalledEntries(self.cells.entries(count, noise))

    @property
    def parts(self) -> int:
        return self.cells.parts

    def reach(self, confidence: float) -> int:
        """Return how far the last and largest total lies from zero at most."""
        return self._reach(self.cells.cells, confidence)

    def reaches(self, confidence: float) -> Sequence[int]:
        return [self._reach(count, confidence) for count in range(1, self.cells.cells + 1)]

    def _reach(self, count: int, confidence: float) -> int:
        if count == 1:
            return self.cells.reach(confidence)
        return total_reach(self.cells.spread(), count, confidence)

    def spread(self) -> Fraction:
        """Return a mean absolute value: of the total half-way, as a sum of so many independent numbers."""
        half = (self.cells.cells + 1) / 2
        return self.cells.spread() * Fraction(math.sqrt(half))


@dataclass(frozen=True, slots=True)
class TotalledEntries:
    """Draws of vectors, told by their sizes; a point is the running totals of one."""

    entries: Entries

    def point(self, place: int, noise: Noise) -> Sequence[int]:
        return list(accumulate(self.entries.point(place, noise)))

    @property
    def sizes(self) -> Integers:
        return self.entries.sizes


def total_reach(scale: Fraction, count: int, confidence: float) -> int:
    """Return t with P(|total of `count` discrete Laplace numbers| > t) ≤ 1 - confidence: Chernoff's bound.

    For 0 < λ < 1/scale the tail is at most 2·exp(-λt)·M(λ)^count with M(λ) = (1-a)²/((1-ae^λ)(1-ae^{-λ})),
    a = exp(-1/scale), so every λ gives a t; the shortest of some is taken.
    """
    rates = np.arange(1, RATES) / (RATES * float(scale))
    ratio = math.exp(-1 / float(scale))
    moments = 2 * np.log1p(-ratio) - np.log1p(-ratio * np.exp(rates)) - np.log1p(-ratio * np.exp(-rates))
    doubt = 1 - confidence - ROUNDING
    return math.ceil(float(np.min((count * moments + math.log(2 / doubt)) / rates)) * (1 + ROUNDING))
