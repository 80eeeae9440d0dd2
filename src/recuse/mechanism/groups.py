"""The groups of one part of a question, released together for one ε. Which form they have is public.

SideBySide   nobody can touch two groups: each has the whole ε, and its own τ
OneOwner     every row has one owner: vectors that move by τ in all (`clipped`)
Shared       otherwise: one τ for all, each group's noise has its part of ε
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from recuse.mechanism.clipped import Clipped
from recuse.mechanism.grid import CellNoise, Grid, GridNoise
from recuse.mechanism.prepared import Prepared
from recuse.mechanism.release import Release
from recuse.mechanism.truncating import Mechanism
from recuse.mechanism.vector import even_shares
from recuse.noise import Noise
from recuse.solver.programs import TruncationPrograms


class Groups(Protocol):
    """The groups of one part with their rows, and how they are released."""

    def release(self, mechanism: Mechanism, noise: Noise) -> list[Release]:
        """Return the private answers of all groups in granules: together they cost the mechanism's ε."""

    @property
    def signed(self) -> bool:
        """Whether rows may weigh less than nothing: follows from the query."""

    @property
    def signs(self) -> Sequence[TruncationPrograms]:
        """The programs by which τ is chosen."""

    def constants(self) -> list[int | None]:
        """Return what nobody owns of each group: all there is in a question about nobody. None is NULL."""

    def true_answers(self) -> list[int | None]:
        """Return the answers without noise. Never release them; for data that is public."""


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Groups of which nobody can touch two, or the only one of a question without groups."""

    relations: Sequence[Prepared]

    def release(self, mechanism: Mechanism, noise: Noise) -> list[Release]:
        """Return the answers, each for the whole ε and with its own τ.

        Guarantee: (ε1 + ε2)-private in all (proofs.md, theorem R7).
        """
        return [mechanism.release(group, noise) for group in self.relations]

    @property
    def signed(self) -> bool:
        return any(group.relation.signed for group in self.relations)

    @property
    def signs(self) -> Sequence[TruncationPrograms]:
        return [part for group in self.relations for part in group.signs]

    def constants(self) -> list[int | None]:
        return [group.relation.constant for group in self.relations]

    def true_answers(self) -> list[int | None]:
        return [group.relation.true_answer() for group in self.relations]


@dataclass(frozen=True, slots=True)
class Shared:
    """Groups that may share participants: one choice of τ serves all."""

    relations: Sequence[Prepared]

    def release(self, mechanism: Mechanism, noise: Noise) -> list[Release]:
        """Return the answers of all groups.

        Guarantee: (ε1 + ε2)-private in all (proofs.md, theorem R7).
        """
        return mechanism.release_cells(Together(self.relations), noise) if self.relations else []

    @property
    def signed(self) -> bool:
        return any(group.relation.signed for group in self.relations)

    @property
    def signs(self) -> Sequence[TruncationPrograms]:
        return [part for group in self.relations for part in group.signs]

    def constants(self) -> list[int | None]:
        return [group.relation.constant for group in self.relations]

    def true_answers(self) -> list[int | None]:
        return [group.relation.true_answer() for group in self.relations]


@dataclass(frozen=True, slots=True)
class Together:
    """`Releasable`: relations that may share participants, each of which may move by τ."""

    relations: Sequence[Prepared]

    @property
    def signs(self) -> Sequence[TruncationPrograms]:
        return [part for group in self.relations for part in group.signs]

    @property
    def theta(self) -> Fraction:
        return Fraction(1)

    @property
    def constants(self) -> Sequence[int]:
        return [group.relation.constant for group in self.relations]

    @property
    def lifted(self) -> bool:
        return all(group.lifted for group in self.relations)

    def grid(self, tau: Fraction) -> Grid:
        return max((group.grid(tau) for group in self.relations), key=lambda grid: grid.sensitivity)

    def noise(self, epsilon: Fraction, tau: Fraction, cell: CellNoise) -> GridNoise:
        return even_shares(epsilon, self.grid(tau).sensitivity, len(self.relations), cell)

    def at(self, tau: Fraction) -> Sequence[int]:
        return [place for group in self.relations for place in group.at(tau)]


@dataclass(frozen=True, slots=True)
class OneOwner:
    """Groups of rows with one owner each: however many, they cost what one costs."""

    vectors: Clipped

    def release(self, mechanism: Mechanism, noise: Noise) -> list[Release]:
        """Return the answers of all groups.

        Guarantee: (ε1 + ε2)-private in all (proofs.md, theorem E0).
        """
        return mechanism.release_cells(self.vectors, noise)

    @property
    def signed(self) -> bool:
        return self.vectors.contributions.signed

    @property
    def signs(self) -> Sequence[TruncationPrograms]:
        return self.vectors.signs

    def constants(self) -> list[int | None]:
        return list(self.vectors.constants)

    def true_answers(self) -> list[int | None]:
        return [int(answer) for answer in self.vectors.contributions.true_answers()]
