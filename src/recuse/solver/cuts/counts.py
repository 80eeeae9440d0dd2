"""Kelley's method for N(τ) and N_s(τ), over one pool of cuts.

Solve the master of the cuts found so far, cut its optimum off where a load is still above its bound, again.
Only the participants in focus may withdraw; should the proof show that another would help, it is asked in.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from recuse.deferred import sparse
from recuse.krelation.relation import Floats, Integers
from recuse.solver import limits
from recuse.solver.bounds import (
    Cut,
    down,
    strict_withdrawals_low,
    weighted_cut,
    withdrawals_low,
)
from recuse.solver.certificate import Checker
from recuse.solver.cuts.pool import CutPool, Round
from recuse.solver.cuts.tangents import Slopes
from recuse.solver.interval import Interval
from recuse.solver.lp.master import Master, Tally
from recuse.solver.lp.program import Matrix


@dataclass(frozen=True, slots=True, eq=False)
class CutStep:
    """The optimum of a master at τ: a snapped point, its tangents, the value and how fast it falls with τ."""

    tau: float
    bounds: Floats
    g: Floats
    slopes: Slopes
    value: float
    rate: float
    duals: Floats


@dataclass(slots=True, eq=False)
class LoadCuts:
    """A master of load cuts. `strictness` 0: ℓ_p ≤ τ (N); 1: ℓ_p ≤ τ(1-g_p) (N_s), for one τ only."""

    pool: CutPool
    strictness: float
    master: Master
    taken: int = 0
    outsiders: Integers = field(default_factory=lambda: np.empty(0, np.int64))

    @classmethod
    def plain(cls, pool: CutPool, tally: Tally) -> Self:
        """Return the descent for N, which serves every τ that the workshop's focus reaches."""
        return cls(pool, 0.0, _master(pool, tally))

    @classmethod
    def strict(cls, pool: CutPool, tally: Tally) -> Self:
        """Return the descent for N_s at one τ; it begins with the cuts that N has found."""
        return cls(pool, 1.0, _master(pool, tally))

    @property
    def checker(self) -> Checker:
        """The checker of the relation in focus."""
        return self.pool.checker

    def interval(
        self, tau: float, width: float, stop_above: float = math.inf, rounds: int = limits.COUNT_ROUNDS
    ) -> Interval | None:
        """Return an interval that holds the count, at most `width` wide or above `stop_above`; or nothing."""
        found = Interval(0.0, float(len(self.pool.focus.people)))
        if (glance := self.glance(tau)) > stop_above:
            return found.narrowed(glance, math.inf)
        for _ in range(rounds):
            step = self.step(tau)
            if step is None:
                return None
            if forecast(step) - step.value <= width or step.value > stop_above:
                found = found.narrowed(self.lower(step)(tau), self.high(step))
                if found.width <= width or found.low > stop_above:
                    return found
            if self.unfit() or not (self.cut(step) or self.insist()):
                return None
        return None

    def glance(self, tau: float) -> float:
        """Return a lower end found without a program: all loads above τ count the same in its proof."""
        pool = self.pool
        slopes, alike = (
            pool.tangents.slopes(np.zeros(len(pool.focus.people))),
            np.where(pool.loads > pool.evaluation.bounds(tau), 1.0, 0.0),
        )
        steepest = float(weighted_cut(slopes, alike).slope.max(initial=1.0))
        return max(
            self._proven(cut, times * alike[None, :], tau, self._lost(cut))
            for times in (factor / steepest for factor in limits.OVERCHARGES)
            for cut in [weighted_cut(slopes, times * alike)]
        )

    def step(self, tau: float) -> CutStep | None:
        """Return the optimum of the cuts known so far at τ; nothing if HiGHS gives up."""
        pool = self.pool
        fresh = pool.unseen(tau)
        if len(fresh):
            pool.cut(pool.tangents.slopes(np.zeros(len(pool.focus.people))), fresh)
        if not pool.rounds:  # nobody is overloaded, to within rounding
            return None
        self._catch_up(tau)
        suggestion = self.master.solve()
        if suggestion is None:
            return None
        g = pool.checker.raised(pool.classes.expanded(suggestion.x))
        scale = np.concatenate([found.constants for found in pool.rounds])
        rate = float((suggestion.y / scale).sum())
        bounds, value = pool.evaluation.bounds(tau), float(pool.classes.sizes @ suggestion.x)
        return CutStep(tau, bounds, g, pool.tangents.slopes(g), value, rate, suggestion.y)

    def high(self, step: CutStep) -> float:
        """Return an upper end: the size of a vector near the step's that keeps all bounds."""
        check = self.pool.checker
        lift = check.strictly_within if self.strictness else check.within
        return check.size(lift(step.g, step.tau))

    def lower(self, step: CutStep) -> Callable[[float], float]:
        """Return a lower end for every τ from the step's duals, and note who outside the focus spoils it."""
        cut, multipliers = self.pool.proven(step.duals)
        focus, lost = self.pool.focus, self._lost(cut)
        if lost > limits.NEGLIGIBLE_OUTSIDERS:
            self.outsiders = focus.outside.above(focus.per_weight(cut.terms), limits.NEARLY_NEEDED)
        return lambda tau: self._proven(cut, multipliers, tau, lost)

    def _lost(self, cut: Cut) -> float:
        """Return a double not below what a cut charges people outside the focus above 1."""
        focus = self.pool.focus
        return focus.outside.excess(focus.per_weight(cut.terms), 1.0)

    def _proven(self, cut: Cut, multipliers: Floats, tau: float, lost: float) -> float:
        """Return what a cut of Σ_p ν_p ℓ_p proves of the count at τ, if `lost` is lost to people outside."""
        inside = strict_withdrawals_low if self.strictness else withdrawals_low
        return down(inside(cut, multipliers, self.pool.evaluation.bounds(tau)) - lost)

    def unfit(self) -> bool:
        """Return whether the last proof calls for participants outside the focus."""
        return len(self.outsiders) > 0

    def insist(self) -> bool:
        """Ask for exact optima from now on; return whether that changes anything."""
        return self.master.insist()

    def cut(self, step: CutStep) -> bool:
        """Cut the step's point off; return whether anything was wrong with it."""
        wrong = self.pool.heads_above(step.slopes.sums, step.bounds * (1 - self.strictness * step.g))
        if len(wrong):
            self.pool.cut(step.slopes, wrong)
        return len(wrong) > 0

    def _catch_up(self, tau: float) -> None:
        """Take over the cuts found in the workshop since, and move all right-hand sides to τ."""
        bounds = self.pool.evaluation.bounds(tau)
        for found in self.pool.rounds[self.taken :]:
            self.master.add(self._bounded(found, bounds), 1 - bounds[found.people] / found.constants)
        self.taken = len(self.pool.rounds)
        if self.strictness == 0.0:
            rounds = self.pool.rounds
            self.master.move(np.concatenate([1 - bounds[r.people] / r.constants for r in rounds]))

    def _bounded(self, found: Round, bounds: Floats) -> Matrix:
        """Return a round's rows, for N_s with the own withdrawal on the right-hand side brought over."""
        if self.strictness == 0.0:
            return found.rows
        count, classes = len(found.people), self.pool.classes
        own = (bounds[found.people] / found.constants, classes.of_people[found.people], np.arange(count + 1))
        return (found.rows - sparse.csr_array(own, shape=(count, len(classes.sizes)))).tocsr()


def forecast(step: CutStep) -> float:
    """Return about the size of a vector near the step's that keeps all bounds; for N_s from below."""
    share = 1 - step.bounds / np.maximum(step.bounds, step.slopes.sums)
    return float((step.g + share * (1 - step.g)).sum())


def _master(pool: CutPool, tally: Tally) -> Master:
    sizes = pool.classes.sizes.astype(np.float64)
    return Master.over(sizes, tally)
