"""The rows of a group with their values: how much those beside a number weigh, and whom they have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from recuse.krelation.canonical import canonical
from recuse.krelation.placed import PlacedRows
from recuse.krelation.relation import Integers, Shape
from recuse.mechanism.extreme import Covers
from recuse.mechanism.middle import Some, Weighing
from recuse.mechanism.parameters import SLACK
from recuse.mechanism.prepared import Prepared, prepare, truncated_high
from recuse.noise import round_down
from recuse.solver.interval import Interval
from recuse.solver.programs import Solver, TruncationPrograms

OR_WEIGHT = 2**20
"""what a row with alternatives weighs, so that losing it is worth as many withdrawals: public"""


class ValuedGroup(Protocol):
    """The rows of one group with their values, and how much any of them weigh."""

    @property
    def values(self) -> Integers:
        """The value of every row."""

    @property
    def weights(self) -> NDArray[Any]:
        """How many rows each stands for."""

    @property
    def signs(self) -> Sequence[TruncationPrograms]:
        """The programs by which τ is chosen."""

    def public(self) -> tuple[Integers, NDArray[Any]]:
        """Return the values that nobody owns, and how often each occurs."""

    def counting(self, tau: Fraction) -> Weighing:
        """Return how much some rows weigh: it moves within [0, τ] with a participant more."""

    def covering(self) -> Weighing:
        """Return how many people some rows have: it moves within [0, 1]."""

    def covers(self) -> Covers:
        """Return how many people the rows above a number have."""


@dataclass(frozen=True, slots=True)
class PlacedGroup:
    """`ValuedGroup`: rows with annotations, and the solver of their programs."""

    rows: PlacedRows
    solver: Solver

    @property
    def values(self) -> Integers:
        return self.rows.values

    @property
    def weights(self) -> NDArray[Any]:
        return self.rows.tuples.weights

    @property
    def signs(self) -> Sequence[TruncationPrograms]:
        return self.whole.signs

    def public(self) -> tuple[Integers, NDArray[Any]]:
        return self.rows.public()

    def part(self, some: Some) -> Prepared:
        """Return some of the rows."""
        return prepare(self.rows.part(some), self.solver)

    @property
    def whole(self) -> Prepared:
        """All rows."""
        return self.part(np.ones(len(self.rows.values), bool))

    def counting(self, tau: Fraction) -> Weighing:
        """Return how many rows there are of some, X(τ) of them, those that nobody owns included."""

        def weigh(some: Some) -> Fraction:
            part = self.part(some)
            return truncated_high(part.positive, tau) + part.relation.constant

        return Weighing(self.rows.values, weigh, tau)

    def covering(self) -> Weighing:
        """Return how many withdrawals take all of some rows: X(1), each row of the same public weight.

        Guarantee: with a participant more it does not fall, nor grow by more than 1 (proofs.md, lemma V2).
        """
        cover = self._cover()
        return Weighing(self.rows.values, lambda some: Fraction(cover(some).high), Fraction(1))

    def covers(self) -> Covers:
        """Return W: around X(1) of the rows above t, each of the same public weight.

        Guarantee: with a participant more it does not fall, nor grow by more than 1 (proofs.md, lemma V2).
        """
        values, cover = self.rows.values, self._cover()
        return Covers(np.unique(values), lambda t: cover(values > (-inf if t is None else t)))

    def _cover(self) -> Callable[[Some], Interval]:
        """Return X(1) of some rows; of conjunctions with the same owners one will do: it covers all."""
        simple = self.rows.shape is Shape.CONJUNCTIONS
        alike = self.rows.alike(1 if simple else OR_WEIGHT)
        owners = alike.owners() if simple else np.arange(len(alike.values))

        def solve(some: Some) -> Interval:
            once = np.zeros(len(some), bool)
            chosen = np.flatnonzero(some)
            once[chosen[np.unique(owners[chosen], return_index=True)[1]]] = True
            relation = alike.part(once)
            programs = self.solver(canonical(relation.positive), relation.participants)
            return programs.truncated(1.0, round_down(SLACK))

        return solve
