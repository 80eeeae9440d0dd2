"""Descent: Kelley's method for N(τ) and N_s(τ) in one workshop."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import sparse

from recuse.krelation.relation import Floats
from recuse.solver.certificate import Cut, strict_withdrawals_low, withdrawals_low
from recuse.solver.interval import Interval
from recuse.solver.linear import Matrix
from recuse.solver.loads import Round, Workshop
from recuse.solver.master import Master

ROUNDS = 60
"""Masters before the question is handed on."""


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """The optimum of a master: a snapped point, what it costs there, and how the optimum moves with τ."""

    g: Floats
    value: float
    slope: float
    duals: Floats


@dataclass(slots=True, eq=False)
class Descent:
    """A master of load cuts. `strictness` 0: ℓ_p ≤ τ (N); 1: ℓ_p ≤ τ(1-g_p) (N_s), for one τ only."""

    shop: Workshop
    master: Master
    strictness: float
    rounds: int = 0

    @classmethod
    def plain(cls, shop: Workshop) -> Self:
        """Return the descent for N, which serves every τ that the workshop's focus reaches."""
        return cls(shop, _master(shop), 0.0)

    @classmethod
    def strict(cls, shop: Workshop, tau: float) -> Self:
        """Return the descent for N_s at one τ; it begins with the cuts that N has found."""
        found = cls(shop, _master(shop), 1.0)
        found._catch_up(tau)
        return found

    def interval(self, tau: float, width: float, enough: float = math.inf) -> Interval | None:
        """Return an interval that holds the count, at most `width` wide or above `enough`; or nothing."""
        found = Interval(0.0, float(len(self.shop.focus.people)))
        for _ in range(ROUNDS):
            step = self.step(tau)
            if step is None:
                return None
            high = self.high(step, tau)
            found = found.narrowed(0.0, high)
            if found.high - step.value <= width or step.value > enough:
                found = found.narrowed(self.low(tau, *self.shop.proven(step.duals)), high)
                if found.width <= width or found.low > enough:
                    return found
            if not self.cut(step.g, tau):
                return None
        return None

    def step(self, tau: float) -> Step | None:
        """Return the optimum of the cuts known so far at τ; nothing if HiGHS gives up."""
        self._catch_up(tau)
        fresh = self.shop.unseen(tau)
        if len(fresh):
            self._add(
                self.shop.cut(self.shop.tangents.loads(np.zeros(len(self.shop.focus.people))), fresh), tau
            )
        if self.strictness == 0.0:
            self.master.move(np.concatenate([1 - tau / found.constants for found in self.shop.rounds]))
        suggestion = self.master.solve()
        if suggestion is None:
            return None
        classes = self.shop.classes
        g = self.shop.checker.raised(classes.expanded(suggestion.x))
        scale = np.concatenate([found.constants for found in self.shop.rounds])
        slope = float((suggestion.y / scale).sum())
        return Step(g, float(classes.sizes @ suggestion.x), slope, suggestion.y)

    def high(self, step: Step, tau: float) -> float:
        """Return an upper end: the size of a vector near the step's that keeps all bounds."""
        check = self.shop.checker
        lifted = check.strictly_within(step.g, tau) if self.strictness else check.within(step.g, tau)
        return check.size(lifted)

    def low(self, tau: float, cut: Cut, multipliers: Floats) -> float:
        """Return a lower end from a proven cut."""
        return (strict_withdrawals_low if self.strictness else withdrawals_low)(cut, multipliers, tau)

    def cut(self, g: Floats, tau: float) -> bool:
        """Cut g off; return whether anything was wrong with it."""
        wrong = self.shop.violated(g, tau * (1 - self.strictness * g))
        if len(wrong):
            self._add(self.shop.cut(self.shop.tangents.loads(g), wrong), tau)
        return len(wrong) > 0

    def _catch_up(self, tau: float) -> None:
        """Take over the cuts that others have found in this workshop."""
        for found in self.shop.rounds[self.rounds :]:
            self._add(found, tau)

    def _add(self, found: Round, tau: float) -> None:
        self.master.add(self._rows(found, tau), 1 - tau / found.constants)
        self.rounds += 1

    def _rows(self, found: Round, tau: float) -> Matrix:
        if self.strictness == 0.0:
            return found.rows
        count, classes = len(found.people), self.shop.classes
        own = (tau / found.constants, classes.of_people[found.people], np.arange(count + 1))
        return (found.rows - sparse.csr_array(own, shape=(count, len(classes.sizes)))).tocsr()


def _master(shop: Workshop) -> Master:
    sizes = shop.classes.sizes.astype(np.float64)
    return Master.over(sizes, np.ones(len(sizes)))
