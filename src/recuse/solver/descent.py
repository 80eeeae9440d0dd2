"""Descent: Kelley's method for N(τ) and N_s(τ) in one workshop.

Solve the master of the cuts found so far, cut its optimum off where a load is still above its bound, again.
The master has a column for the classes that are overloaded; others get theirs when their price says so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Self

import numpy as np
from scipy import sparse

from recuse.krelation.relation import Floats, Integers
from recuse.solver.certificate import Cut, strict_withdrawals_low, withdrawals_low
from recuse.solver.interval import Interval
from recuse.solver.linear import Matrix
from recuse.solver.loads import Round, Workshop
from recuse.solver.master import Master

ROUNDS = 60
"""Masters before the question is handed on."""
NEGLIGIBLE = 1e-4
"""What columns left out may add to the objective before they are let in."""


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """The optimum of a master at τ: a snapped point and its loads, the optimum and how it moves with τ."""

    tau: float
    g: Floats
    loads: Floats
    value: float
    slope: float
    duals: Floats


@dataclass(slots=True, eq=False)
class Descent:
    """A master of load cuts. `strictness` 0: ℓ_p ≤ τ (N); 1: ℓ_p ≤ τ(1-g_p) (N_s), for one τ only."""

    shop: Workshop
    strictness: float
    master: Master = field(default_factory=Master.empty)
    columns: Integers = field(default_factory=lambda: np.empty(0, np.int64))
    rows: list[Matrix] = field(default_factory=list)

    @classmethod
    def plain(cls, shop: Workshop) -> Self:
        """Return the descent for N, which serves every τ that the workshop's focus reaches."""
        return cls(shop, 0.0)

    @classmethod
    def strict(cls, shop: Workshop) -> Self:
        """Return the descent for N_s at one τ; it begins with the cuts that N has found."""
        return cls(shop, 1.0)

    def interval(self, tau: float, width: float, enough: float = math.inf) -> Interval | None:
        """Return an interval that holds the count, at most `width` wide or above `enough`; or nothing."""
        found = Interval(0.0, float(len(self.shop.focus.people)))
        for _ in range(ROUNDS):
            step = self.step(tau)
            if step is None:
                return None
            if self.forecast(step) - step.value <= width or step.value > enough:
                found = found.narrowed(self.low(tau, *self.shop.proven(step.duals)), self.high(step))
                if found.width <= width or found.low > enough:
                    return found
            if not self.cut(step):
                return None
        return None

    def step(self, tau: float) -> Step | None:
        """Return the optimum of the cuts known so far at τ; nothing if HiGHS gives up."""
        shop = self.shop
        fresh = shop.unseen(tau)
        if len(fresh):
            shop.cut(np.zeros(len(shop.focus.people)), fresh)
        self._catch_up(tau)
        suggestion = self.master.solve()
        while suggestion is not None and len(wanted := self._underpriced(suggestion.y)):
            self._let_in(wanted)
            suggestion = self.master.solve()
        if suggestion is None:
            return None
        x = np.zeros(len(shop.classes.sizes))
        x[self.columns] = suggestion.x
        g = shop.checker.raised(shop.classes.expanded(x))
        scale = np.concatenate([found.constants for found in shop.rounds])
        slope = float((suggestion.y / scale).sum())
        return Step(tau, g, shop.evaluation.loads(g), float(shop.classes.sizes @ x), slope, suggestion.y)

    def forecast(self, step: Step) -> float:
        """Return about what `high` will be; for N_s from below."""
        share = 1 - step.tau / np.maximum(step.tau, step.loads)
        return float((step.g + share * (1 - step.g)).sum())

    def high(self, step: Step) -> float:
        """Return an upper end: the size of a vector near the step's that keeps all bounds."""
        check = self.shop.checker
        lift = check.strictly_within if self.strictness else check.within
        return check.size(lift(step.g, step.tau))

    def low(self, tau: float, cut: Cut, multipliers: Floats) -> float:
        """Return a lower end from a proven cut."""
        return (strict_withdrawals_low if self.strictness else withdrawals_low)(cut, multipliers, tau)

    def cut(self, step: Step) -> bool:
        """Cut the step's point off; return whether anything was wrong with it."""
        wrong = self.shop.heads_above(step.loads, step.tau * (1 - self.strictness * step.g))
        if len(wrong):
            self.shop.cut(step.g, wrong)
        return len(wrong) > 0

    # -------------------------------------------------------------- the master's rows and columns

    def _catch_up(self, tau: float) -> None:
        """Take over the cuts found in the workshop since, and move all right-hand sides to τ."""
        classes = self.shop.classes
        for found in self.shop.rounds[len(self.rows) :]:
            own = np.setdiff1d(classes.of_people[found.people], self.columns)
            if len(own):
                self._let_in(own)
            rows = self._bounded(found, tau)
            self.rows.append(rows)
            self.master.add(rows[:, self.columns], 1 - tau / found.constants)
        if self.strictness == 0.0:
            self.master.move(np.concatenate([1 - tau / found.constants for found in self.shop.rounds]))

    def _bounded(self, found: Round, tau: float) -> Matrix:
        """Return a round's rows, for N_s with the own withdrawal on the right-hand side brought over."""
        if self.strictness == 0.0:
            return found.rows
        count, classes = len(found.people), self.shop.classes
        own = (tau / found.constants, classes.of_people[found.people], np.arange(count + 1))
        return (found.rows - sparse.csr_array(own, shape=(count, len(classes.sizes)))).tocsr()

    def _underpriced(self, duals: Floats) -> Integers:
        """Return the classes without a column that would lower the objective, if it matters."""
        price, start = np.zeros(len(self.shop.classes.sizes)), 0
        for rows in self.rows:
            price += rows.T @ duals[start : start + rows.shape[0]]
            start += rows.shape[0]
        gain = price - self.shop.classes.sizes
        gain[self.columns] = 0.0
        return np.flatnonzero(gain > 0) if np.maximum(gain, 0).sum() > NEGLIGIBLE else np.empty(0, np.int64)

    def _let_in(self, classes: Integers) -> None:
        """Give classes a column."""
        known = sparse.vstack(self.rows, format="csr")[:, classes] if self.rows else sparse.csr_array((0, len(classes)))
        self.master.widen(self.shop.classes.sizes[classes].astype(np.float64), known.tocsc())
        self.columns = np.concatenate((self.columns, classes))
