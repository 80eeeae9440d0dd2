"""Values of rows with one owner: what one participant has in all groups is scaled to τ together.

X(τ) of the rows up to t and of those above would count a person who has rows on both sides twice. Scaled, a
person's rows weigh τ at most wherever they lie, so that a small τ counts people in place of rows, and a group
costs a participant the part of ε that lies in it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.krelation.owned import NOBODY, OwnedRows, everybody
from recuse.krelation.relation import Integers
from recuse.mechanism.clipped import load_programs, share
from recuse.mechanism.extreme import Covers
from recuse.mechanism.middle import Some, Weighing
from recuse.solver.interval import Interval
from recuse.solver.programs import Solver, TruncationPrograms

STEPS = 2**30
"""in how many steps τ is counted: those of 2^31 people add up in 64 bits"""

EXACT = 2**53
"""beyond so many steps people are no longer told apart: a double holds each of those below"""


@dataclass(frozen=True, slots=True)
class OwnedGroup:
    """`ValuedGroup`: the rows of one group, each of one owner or nobody's."""

    rows: OwnedRows
    solver: Solver

    @property
    def values(self) -> Integers:
        return self.rows.values

    @property
    def weights(self) -> NDArray[Any]:
        return self.rows.weights

    @property
    def signs(self) -> tuple[TruncationPrograms, ...]:
        return (load_programs(everybody([self.rows]), self.solver),)

    def public(self) -> tuple[Integers, NDArray[Any]]:
        return self.rows.public()

    def counting(self, tau: Fraction) -> Weighing:
        """Return how much some rows weigh: c·min(1, τ/L) each, L what its owner has in all groups.

        Guarantee: with a participant more it moves within [0, τ·l/L], l what that one has in this group
        (proofs.md, theorem V6).
        """
        rows, mine = self.rows, self.rows.owners != NOBODY
        whole = np.maximum(rows.loads, min(math.ceil(tau), 2**62))
        parts = np.where(mine, share(rows.weights, whole, STEPS), 0)
        free = np.where(mine, 0, rows.weights)
        step = tau / STEPS
        return Weighing(rows.values, lambda some: int(parts[some].sum()) * step + int(free[some].sum()), tau)

    def covering(self) -> Weighing:
        """Return how many people some rows have, each counted for one part in as many groups as they touch.

        Guarantee: with a participant more it moves within [0, 1/k], k how many groups that one touches
        (proofs.md, theorem V6).
        """
        people = self._people()
        return Weighing(self.values, lambda some: Fraction(people(some), STEPS), Fraction(1))

    def covers(self) -> Covers:
        """Return the same of the rows above t."""
        people, values = self._people(), self.values

        def above(t: int | None) -> Interval:
            found = min(people(values > t if t is not None else np.ones(len(values), bool)), EXACT) / STEPS
            return Interval(found, found)

        return Covers(np.unique(values), above)

    def _people(self) -> Any:
        owners, parts = self.rows.owners, STEPS // np.maximum(self.rows.touched, 1)
        mine = owners != NOBODY

        def count(some: Some) -> int:
            chosen = np.flatnonzero(some & mine)
            _, first = np.unique(owners[chosen], return_index=True)
            return int(parts[chosen[first]].sum())

        return count
