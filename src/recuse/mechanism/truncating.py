"""Mechanisms: frozen values that release a private answer. All of ours find a τ, and then release X(τ).

A new one of this form says how τ is chosen, and is registered in `mechanisms`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol

from recuse.errors import ParameterError
from recuse.mechanism.answer import GridNoise, Laplace, answer_at
from recuse.mechanism.prepared import Prepared
from recuse.mechanism.release import Release
from recuse.mechanism.vector import ManhattanLaplace, VectorSubject, noisy_vector
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

    @property
    def answer_epsilon(self) -> Fraction:
        """What is left of it for the answer once τ is chosen."""

    def choose(self, programs: Sequence[TruncationPrograms], noise: Noise) -> Fraction:
        """Return τ, for the rest of ε."""

    def release(self, subject: Prepared, noise: Noise) -> Release:
        """Return the private answer of a relation."""

    def release_together(self, subjects: Sequence[Prepared], noise: Noise) -> list[Release]:
        """Return the private answers of relations that may share participants, for one ε in all."""

    def release_vector(self, subject: VectorSubject, noise: Noise) -> list[Release]:
        """Return the private answers of groups that one participant moves by τ in all."""


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

    def grid_noise(self, sensitivity: int) -> GridNoise:
        """Return the noise of an integer of a known sensitivity: ε2-private."""
        return Laplace(self.answer_epsilon, sensitivity)

    def lift(self, _tau: Fraction) -> Fraction:
        """Return what is added to an answer that has no sign, against the downward bias of truncation."""
        return Fraction(0)

    def release(self, subject: Prepared, noise: Noise) -> Release:
        """Return the private answer of a relation: τ, then X(τ).

        Guarantee: (ε1 + ε2)-private for every pair of neighbours in the sense of proofs.md, theorem A
        (theorems R3, R5 and R6 there), whatever the solver returns within its certified intervals.
        """
        return answer_at(subject, self.choose(subject.signs, noise), self, noise)

    def release_together(self, subjects: Sequence[Prepared], noise: Noise) -> list[Release]:
        """Return the private answers of relations that may share participants: one τ for all, ε2 is split.

        Guarantee: (ε1 + ε2)-private (proofs.md, theorem R7).
        """
        tau = self.choose([part for subject in subjects for part in subject.signs], noise)
        each = replace(self, answer_epsilon=self.answer_epsilon / len(subjects))
        answers = [answer_at(subject, tau, each, noise) for subject in subjects]
        return [replace(answer, epsilon=self.epsilon) for answer in answers]

    def release_vector(self, subject: VectorSubject, noise: Noise) -> list[Release]:
        """Return the private answers of groups that one participant moves by τ in all: each has all of ε2.

        Nothing is lifted: what truncation takes is spread over the groups.

        Guarantee: (ε1 + ε2)-private (proofs.md, theorem E0 and theorem E0').
        """
        found = subject.at(self.choose(subject.signs, noise))
        added = ManhattanLaplace(self.answer_epsilon, found.sensitivity)
        return noisy_vector(found, added, subject.constants, self, noise)
