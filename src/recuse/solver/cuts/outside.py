"""Outside: the participants that a focus leaves out, and what a lower end owes them.

A proof that charges clause j with `per_weight_j` a unit of weight charges whoever is left out of it, too.
What one of them is charged above 1 is lost from the lower end; whoever is charged nearly that much is asked
in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from recuse.krelation.relation import Floats, Integers
from recuse.solver.bounds import UNIT, enclosed_sum, excess_above


class Outside(Protocol):
    """Those who are left out of the clauses in focus, wherever their tuples are."""

    def excess(self, per_weight: Floats, allowed: float) -> float:
        """Return a double not below Σ (slope_p - allowed)⁺, slope_p = Σ weight·per_weight of p's clauses."""

    def above(self, per_weight: Floats, allowed: float) -> Integers:
        """Return who has a slope above what is allowed, as whoever made the focus knows them."""


@dataclass(frozen=True, slots=True, eq=False)
class Leaves:
    """`Outside` in memory: the leaves left out, whose they are, in which clause, with which weight."""

    people: Integers
    clauses: Integers
    weights: Floats

    def excess(self, per_weight: Floats, allowed: float) -> float:
        return enclosed_sum(excess_above(self._slopes(per_weight), allowed)).high

    def above(self, per_weight: Floats, allowed: float) -> Integers:
        return np.flatnonzero(excess_above(self._slopes(per_weight), allowed))

    def _slopes(self, per_weight: Floats) -> Floats:
        """Return doubles not below everybody's slopes."""
        if len(self.people) == 0:
            return np.zeros(0)
        slopes = np.bincount(self.people, weights=self.weights * per_weight[self.clauses])
        return np.asarray(slopes * (1 + UNIT * (np.bincount(self.people) + 8)), np.float64)


NOBODY = Leaves(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))
