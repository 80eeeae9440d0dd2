"""Whole numbers on a grid, and noise for them: the seam between a form of release and a mechanism.

A form (one number, groups as vectors, …) says on which grid its answers lie for a τ, in which norm one
participant moves them, and which noise covers that norm. A mechanism chooses τ, and adds the noise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from recuse.krelation.relation import Integers
from recuse.noise import Noise
from recuse.solver.programs import TruncationPrograms


@dataclass(frozen=True, slots=True)
class Grid:
    """Where answers lie for a τ: a public function of it.

    With a participant more they move by `sensitivity` steps at most in the form's norm. The truncated answer
    itself lies at most `below` steps below its place on the grid, and `above` steps above.
    """

    step: Fraction
    sensitivity: int
    below: int = 0
    above: int = 0


class Entries(Protocol):
    """Independent draws of a noise, one a level, that take part in a race: their sizes, and not yet more."""

    @property
    def sizes(self) -> Integers:
        """How large each is: its level times the `parts` of its noise."""

    def point(self, place: int, noise: Noise) -> Sequence[int]:
        """Return one of them, a whole number for every cell: drawn from those of its size."""


class GridNoise(Protocol):
    """Noise for whole numbers that move in some norm: P(i) ∝ exp(-ε·level(i)), level = size/parts.

    Guarantee: where numbers move by their sensitivity at most, the level moves by 1 at most.
    """

    @property
    def epsilon(self) -> Fraction:
        """Its privacy loss by itself."""

    @property
    def parts(self) -> int:
        """How many sizes make one level."""

    def draw(self, noise: Noise) -> Sequence[int]:
        """Return the noise of every cell, in grid steps."""

    def entries(self, count: int, noise: Noise) -> Entries:
        """Return so many independent draws, told by their sizes."""

    def reach(self, confidence: float) -> int:
        """Return how far one cell's noise lies from zero at most, with so much probability."""

    def reaches(self, confidence: float) -> Sequence[int]:
        """Return that of every cell."""

    def spread(self) -> Fraction:
        """Return the mean absolute value of one cell's noise."""


CellNoise = Callable[[Fraction, int], GridNoise]
"""(ε, sensitivity) → the noise of a mechanism for one number"""


class Releasable(Protocol):
    """One number or several groups that are released for one ε: by what τ is chosen, and where they lie."""

    @property
    def signs(self) -> Sequence[TruncationPrograms]:
        """The programs that τ is chosen by."""

    @property
    def theta(self) -> Fraction:
        """The least τ worth having: public."""

    @property
    def constants(self) -> Sequence[int]:
        """What nobody can withdraw of each cell: public, added exactly."""

    @property
    def lifted(self) -> bool:
        """Whether a mechanism may lift its answer against the bias of truncation: public."""

    @property
    def shared_out(self) -> bool:
        """Whether cells share out what a participant brings, and each has a noise of its own: public."""

    def grid(self, tau: Fraction) -> Grid:
        """Return the grid of τ: public."""

    def noise(self, epsilon: Fraction, tau: Fraction, cell: CellNoise) -> GridNoise:
        """Return the noise that covers the form's norm for a τ: public. One number takes the mechanism's."""

    def at(self, tau: Fraction) -> Sequence[int]:
        """Return the truncated answers on the grid of τ.

        Guarantee: a function of the rows as a set and of τ alone: of nothing that was solved or drawn before.
        """
