"""Vectors on a grid: the answers of groups that move together, and the noise that covers their norm.

A mechanism finds τ, a subject says where its groups lie on the grid of that τ and how far one participant can
move them all, and noise of that norm is added to every one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from recuse.mechanism.answer import Answering
from recuse.mechanism.release import CONFIDENCE, Release
from recuse.noise import Noise, laplace_quantile
from recuse.solver.programs import TruncationPrograms


@dataclass(frozen=True, slots=True)
class GridVector:
    """A whole number of grid steps for every group.

    With a participant more they move by `sensitivity` steps at most, all groups together (ℓ1). `loose` steps
    of each are left open by a certificate.
    """

    steps: Sequence[int]
    step: Fraction
    sensitivity: int
    loose: int = 0


class VectorSubject(Protocol):
    """Groups that move together: by what τ is chosen, and where they lie for a τ."""

    @property
    def signs(self) -> Sequence[TruncationPrograms]:
        """The programs that τ is chosen by."""

    @property
    def constants(self) -> Sequence[int]:
        """What nobody can withdraw of each group: public, added exactly."""

    def at(self, tau: Fraction) -> GridVector:
        """Return the groups' truncated answers on the grid of τ.

        Guarantee: a function of the data and τ alone; neighbours' steps differ by at most the sensitivity.
        """


class VectorNoise(Protocol):
    """Noise for a vector of integers of a known sensitivity in some norm."""

    def draw(self, size: int, noise: Noise) -> Sequence[int]:
        """Return the noise of every coordinate, in grid steps."""

    def reach(self) -> int:
        """Return how far one coordinate lies from zero at most, with the confidence of a release."""

    def spread(self) -> Fraction:
        """Return the mean absolute value of one coordinate."""


@dataclass(frozen=True, slots=True)
class ManhattanLaplace:
    """Independent discrete Laplace noise in every coordinate: for vectors that move in ℓ1.

    Guarantee: ε-private for integers that move by the sensitivity in ℓ1 (proofs.md, lemma L1), however many
    there are. Staircase noise in every coordinate is not.
    """

    epsilon: Fraction
    sensitivity: int

    def draw(self, size: int, noise: Noise) -> Sequence[int]:
        return noise.laplaces(self.spread(), size)

    def reach(self) -> int:
        return laplace_quantile(self.spread(), CONFIDENCE)

    def spread(self) -> Fraction:
        return self.sensitivity / self.epsilon


def noisy_vector(
    found: GridVector, added: VectorNoise, constants: Sequence[int], mechanism: Answering, noise: Noise
) -> list[Release]:
    """Return the releases of all groups, from one draw of noise for all of them.

    Guarantee: private for fixed τ as `added` is; the interval of each group holds its truncated answer, which
    lies within `loose` steps of the grid's, with probability 95 % at least (proofs.md, lemma I).
    """
    reach = (added.reach() + found.loose) * found.step
    drawn = added.draw(len(found.steps), noise)
    middles = [
        (steps + more) * found.step + constant
        for steps, more, constant in zip(found.steps, drawn, constants, strict=True)
    ]
    return [
        Release(
            value=middle,
            interval=(middle - reach, middle + reach),
            noise_scale=added.spread() * found.step,
            epsilon=mechanism.epsilon,
            mechanism=mechanism.name,
            noise_epsilon=mechanism.answer_epsilon,
        )
        for middle in middles
    ]
