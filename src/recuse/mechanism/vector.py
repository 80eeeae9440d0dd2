"""Noise for vectors on a grid: groups that move together, in the norm in which they do.

A vector of one cell is a number. What a noise needs to take part in a race is said in `grid`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from recuse.krelation.relation import Integers
from recuse.mechanism.grid import CellNoise, Entries, GridNoise
from recuse.noise import Noise, laplace_quantile


@dataclass(frozen=True, slots=True, eq=False)
class DrawnVectors:
    """Vectors that are drawn as a whole, so that a size is a norm of one of them."""

    sizes: Integers
    vectors: Sequence[Sequence[int]]

    def point(self, place: int, _: Noise) -> Sequence[int]:
        return self.vectors[place]


@dataclass(frozen=True, slots=True)
class ManhattanLaplace:
    """Independent discrete Laplace noise in every cell: for vectors that move in ℓ1. Its level is Σ|i|/D.

    Guarantee: ε-private for integers that move by the sensitivity in ℓ1 (proofs.md, lemma L1), however many
    there are. Staircase noise in every cell is not.
    """

    epsilon: Fraction
    sensitivity: int
    cells: int

    @property
    def parts(self) -> int:
        return self.sensitivity

    def draw(self, noise: Noise) -> Sequence[int]:
        return noise.laplaces(self.spread(), self.cells)

    def entries(self, count: int, noise: Noise) -> DrawnVectors:
        drawn = noise.laplaces(self.spread(), self.cells * count)
        vectors = [drawn[self.cells * place : self.cells * (place + 1)] for place in range(count)]
        return DrawnVectors(np.array([sum(map(abs, vector)) for vector in vectors], np.int64), vectors)

    def reach(self, confidence: float) -> int:
        return laplace_quantile(self.spread(), confidence)

    def spread(self) -> Fraction:
        return self.sensitivity / self.epsilon


@dataclass(frozen=True, slots=True)
class EvenShares:
    """Independent noise in every cell, each with its part of ε: for vectors of which every cell may move.

    Its level is the mean of the cells' levels: each moves by 1 at most, and so does it.

    Guarantee: ε-private for integers of which each moves by the sensitivity at most (proofs.md, theorem R7).
    """

    cell: GridNoise
    cells: int

    @property
    def epsilon(self) -> Fraction:
        return self.cell.epsilon * self.cells

    @property
    def parts(self) -> int:
        return self.cell.parts * self.cells

    def draw(self, noise: Noise) -> Sequence[int]:
        return [number for _ in range(self.cells) for number in self.cell.draw(noise)]

    def entries(self, count: int, noise: Noise) -> SharedEntries:
        drawn = self.cell.entries(count * self.cells, noise)
        return SharedEntries(drawn.sizes.reshape(count, self.cells).sum(axis=1), drawn, self.cells)

    def reach(self, confidence: float) -> int:
        return self.cell.reach(confidence)

    def spread(self) -> Fraction:
        return self.cell.spread()


@dataclass(frozen=True, slots=True, eq=False)
class SharedEntries:
    """Vectors of which the size of every cell is known."""

    sizes: Integers
    drawn: Entries
    cells: int

    def point(self, place: int, noise: Noise) -> Sequence[int]:
        places = range(place * self.cells, (place + 1) * self.cells)
        return [number for cell in places for number in self.drawn.point(cell, noise)]


def even_shares(epsilon: Fraction, sensitivity: int, cells: int, cell: CellNoise) -> EvenShares:
    """Return the noise of cells that split ε."""
    return EvenShares(cell(epsilon / cells, sensitivity), cells)
