"""The groups of one part of a question, released together for one ε. Which form they have is public.

SideBySide   nobody can touch two groups: each has the whole ε, and its own τ
OneOwner     every row has one owner: vectors that move by τ in all (`clipped`)
Together     several owners: in ℓ1 if some kind of them touches few groups (`priced`), else in the norm of the
             hull or of the cube (`hull`)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol

from recuse.mechanism.clipped import Clipped
from recuse.mechanism.cumulative import Cumulative
from recuse.mechanism.hull import HullGroups
from recuse.mechanism.prepared import Prepared
from recuse.mechanism.priced import PricedGroups
from recuse.mechanism.release import Release
from recuse.mechanism.truncating import Mechanism
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
class Together:
    """Groups that share participants: one choice of τ and one noise for all."""

    subject: PricedGroups | HullGroups

    def release(self, mechanism: Mechanism, noise: Noise) -> list[Release]:
        """Return the answers of all groups.

        Guarantee: private with the mechanism's ε in all (proofs.md, theorems E0' and W).
        """
        return mechanism.release_cells(self.subject, noise) if self.subject.relations else []

    @property
    def signed(self) -> bool:
        return any(group.relation.signed for group in self.subject.relations)

    @property
    def signs(self) -> Sequence[TruncationPrograms]:
        return self.subject.signs

    def constants(self) -> list[int | None]:
        return list(self.subject.constants)

    def true_answers(self) -> list[int | None]:
        return [group.relation.true_answer() for group in self.subject.relations]


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

    def true_answers(self) -> list[int | None]:
        return [int(answer) for answer in self.vectors.contributions.true_answers()]

    def constants(self) -> list[int | None]:
        return list(self.vectors.constants)


@dataclass(frozen=True, slots=True)
class RunningTotals:
    """Groups in an order, each with all before it: they cost what the groups cost."""

    totals: Cumulative

    def release(self, mechanism: Mechanism, noise: Noise) -> list[Release]:
        """Return the totals of all groups.

        Guarantee: private as the groups are that they are added up from (proofs.md, lemma Y).
        """
        return mechanism.release_cells(self.totals, noise)

    @property
    def signed(self) -> bool:
        return self.totals.vectors.contributions.signed

    @property
    def signs(self) -> Sequence[TruncationPrograms]:
        return self.totals.signs

    def true_answers(self) -> list[int | None]:
        return list(accumulate(int(answer) for answer in self.totals.vectors.contributions.true_answers()))

    def constants(self) -> list[int | None]:
        return list(self.totals.constants)
