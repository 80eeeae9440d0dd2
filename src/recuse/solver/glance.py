"""A glance at the loads: what they alone say of conjunctions, before anything is ordered or solved.

Most levels of a release are decided here: at those above the largest load nothing is withheld, and at those
far below it the loads prove that too many would have to withdraw.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Protocol

import numpy as np

from recuse.krelation.prices import Prices
from recuse.krelation.relation import Floats, Tuples
from recuse.solver.bounds import loads_low
from recuse.solver.interval import NOTHING, Interval, enclosed
from recuse.solver.programs import Programs

EXACT = 2.0**53
"""Below it doubles hold every whole number, so that a load is the same in whatever order it is added up."""


class Loads(Protocol):
    """Everybody's load, exactly, wherever it is."""

    def largest(self) -> float:
        """Return a double not below the largest of them, in units of its owner's price."""

    def counted(self, tau: float, strictness: float) -> Interval:
        """Return an interval that holds N(τ) (strictness 0) or N_s(τ) (1), as narrow as loads alone say.

        Guarantee: a lower bound (proofs.md, lemmas D and D'); with all of the overloaded gone nobody else is
        one.
        """


@dataclass(frozen=True, slots=True, eq=False)
class ListedLoads:
    """`Loads` in memory."""

    loads: Floats
    most: int
    """the largest number of participants that a tuple has"""
    prices: Prices

    def largest(self) -> float:
        return self.prices.least_tau(self.loads)

    def counted(self, tau: float, strictness: float) -> Interval:
        bounds = self.prices.bounds(tau)
        low = loads_low(self.loads, bounds, self.most, strictness)
        return Interval(low, float((self.loads > bounds).sum()))


@dataclass(frozen=True, slots=True, eq=False)
class Glance:
    """`Programs` of conjunctions whose loads are exact; what they leave open is asked of a solver.

    Guarantee: what is answered here is a function of the tuples as a multiset (proofs.md, lemma P).
    """

    loads: Loads
    total: int
    solved: Callable[[], Programs]

    def largest_load(self) -> float:
        return self.loads.largest()

    def truncated(self, tau: float, width: float) -> Interval:
        if not self.largest_load() > tau:
            return enclosed(self.total)
        return self.solved().truncated(tau, width)

    def withdrawals(self, tau: float, width: float, stop_above: float = math.inf) -> Interval:
        return self._counted(tau, 0.0, stop_above) or self.solved().withdrawals(tau, width, stop_above)

    def strict_withdrawals(self, tau: float, width: float, stop_above: float = math.inf) -> Interval:
        return self._counted(tau, 1.0, stop_above) or self.solved().strict_withdrawals(tau, width, stop_above)

    def index(self, theta: float, beta: float, width: float) -> Interval:
        return self.solved().index(theta, beta, width)

    def integer_index(self, theta: Fraction, beta: Fraction, factor: int) -> int:
        return self.solved().integer_index(theta, beta, factor)

    def _counted(self, tau: float, strictness: float, stop_above: float) -> Interval | None:
        """Return the count: 0, or surely more than `stop_above`; nothing if it is open."""
        if not self.largest_load() > tau:
            return NOTHING
        found = self.loads.counted(tau, strictness)
        return found if found.low > stop_above else None


def glanced(
    tuples: Tuples, participants: int, prices: Prices | None, solved: Callable[[], Programs]
) -> Programs:
    """Return programs that look at the loads first, if they say something, and at `solved` once at most."""
    sizes = np.diff(tuples.clauses)
    if len(tuples.levels) > 2 or len(sizes) > len(tuples) or not _are_sets(tuples):
        return solved()
    if tuples.weights.max(initial=0) > EXACT:
        return solved()
    weights = np.repeat(tuples.weights.astype(np.float64), sizes)
    loads = np.asarray(np.bincount(tuples.members, weights=weights, minlength=participants), np.float64)
    if not loads.max(initial=0.0) < EXACT:
        return solved()
    paid = prices or Prices.alike(participants)
    known = ListedLoads(loads, int(sizes.max(initial=0)), paid)
    return Glance(known, tuples.total(), cache(solved))


def _are_sets(tuples: Tuples) -> bool:
    """Return whether nobody is twice in a tuple: members ascend in each."""
    rises = tuples.members[1:] > tuples.members[:-1]
    rises[tuples.clauses[1:-1] - 1] = True  # where the next tuple begins
    return bool(rises.all())
