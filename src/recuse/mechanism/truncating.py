"""Mechanisms: frozen values that release private answers. All of ours find a τ, and release X(τ).

`Truncating` are those that first find τ with a part of ε: a new one says how, and is registered in
`mechanisms`. The default, which needs no parts, is in `racing`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from recuse.errors import ParameterError
from recuse.mechanism.answer import answers_at
from recuse.mechanism.cell import Laplace
from recuse.mechanism.grid import CellNoise, Releasable
from recuse.mechanism.prepared import Prepared
from recuse.mechanism.release import Release
from recuse.noise import Noise
from recuse.solver.programs import TruncationPrograms


class Mechanism(Protocol):
    """A mechanism with its parameters: what a question needs of one."""

    @property
    def name(self) -> str:
        """How it is called."""

    @property
    def epsilon(self) -> Fraction:
        """The whole privacy loss."""

    def release(self, subject: Prepared, noise: Noise) -> Release:
        """Return the private answer of a relation."""

    def release_cells(self, subject: Releasable, noise: Noise) -> list[Release]:
        """Return the private answers of all cells of a subject, for one ε in all."""

    def in_two_steps(self) -> Choosing:
        """Return a mechanism of the same ε that chooses τ apart, for sums of what is drawn."""

    def before_picking(self) -> Choosing:
        """Return a mechanism of the same ε that chooses τ apart, for answers that are one of the values."""


class Choosing(Protocol):
    """A mechanism that chooses τ with a part of its ε."""

    @property
    def answer_epsilon(self) -> Fraction:
        """What is left of it once τ is chosen."""

    def choose(self, programs: Sequence[TruncationPrograms], noise: Noise) -> Fraction:
        """Return τ, for the rest of ε."""


@dataclass(frozen=True, slots=True)
class Truncating(ABC):
    """A `Mechanism` of the form "τ, then X(τ)": how ε is split, and θ, the least τ worth having."""

    name: str
    choice_epsilon: Fraction
    answer_epsilon: Fraction
    theta: Fraction

    def __post_init__(self) -> None:
        if min(self.choice_epsilon, self.answer_epsilon, self.theta) <= 0:
            raise ParameterError("both parts of epsilon and theta must be positive")

    @property
    def epsilon(self) -> Fraction:
        """The whole privacy loss."""
        return self.choice_epsilon + self.answer_epsilon

    @abstractmethod
    def choose(self, programs: Sequence[TruncationPrograms], noise: Noise) -> Fraction:
        """Return τ for relations that lose the same participants: ε1-private."""

    @property
    def cell(self) -> CellNoise:
        """The noise of one number."""
        return Laplace

    def lift(self, _tau: Fraction) -> Fraction:
        """Return what is added to an answer that has no sign, against the downward bias of truncation."""
        return Fraction(0)

    def release(self, subject: Prepared, noise: Noise) -> Release:
        """Return the private answer of a relation."""
        (found,) = self.release_cells(subject, noise)
        return found

    def release_cells(self, subject: Releasable, noise: Noise) -> list[Release]:
        """Return the private answers of all cells: τ, then X(τ).

        Guarantee: (ε1 + ε2)-private for every pair of neighbours in the sense of proofs.md, theorem A
        (theorems R3, R5, R6, R7 and E0 there), whatever the solver returns within its certified intervals.
        """
        return answers_at(subject, self.choose(subject.signs, noise), self, noise)

    def in_two_steps(self) -> Choosing:
        """Return the mechanism itself."""
        return self

    def before_picking(self) -> Choosing:
        """Return the mechanism itself."""
        return self
