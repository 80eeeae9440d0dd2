"""Sharing: N(τ) of annotation trees, where everybody withdraws a little and a few withdraw more.

In a product of ORs a withdrawal counts only if one of each OR's children goes along, so that an optimum is
often one withdrawal common to all, and more for those whose load still exceeds τ. Over these few variables
the loads are cut as everywhere; that nobody else wants a variable of its own shows in the proof, which
chooses among equal alternatives anew (`balance`). Who does is asked in.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from recuse.deferred import sparse
from recuse.krelation.evaluate import Evaluation
from recuse.krelation.relation import Floats, Integers
from recuse.solver import limits
from recuse.solver.bounds import withdrawals_low
from recuse.solver.certificate import Checker
from recuse.solver.cuts.counts import CutStep
from recuse.solver.cuts.restriction import Mask
from recuse.solver.cuts.tangents import LoadTangents
from recuse.solver.index.full_newton import Whole
from recuse.solver.index.newton import real_index
from recuse.solver.index.proportional_fitting import balanced_cut
from recuse.solver.interval import Interval
from recuse.solver.lp.master import Master, Tally
from recuse.solver.lp.program import Matrix


@dataclass(frozen=True, slots=True, eq=False)
class WithdrawalGroups:
    """Who takes part in the common withdrawal, and who has one of its own."""

    common: Mask
    own: Mask

    def split(self, slope: Floats, g: Floats, heavy: Mask) -> WithdrawalGroups | None:
        """Return finer groups where a proof charges some too much or too little; nothing if it does not.

        Whoever is charged for more than its withdrawal would withdraw more, and then so may others that
        are heavy; whoever for less, less.
        """
        more = np.where(self.own, 0.0, slope - 1)
        less = np.where((g > 0) & self.common, 1 - slope, 0.0)
        most = max(float(more.max()), float(less.max()))
        if most < limits.UNEVEN_CHARGE:
            return None
        up, down = more > most / 4, less > most / 4
        return WithdrawalGroups(self.common & ~down, self.own | up | down | (heavy & up.any()))


@dataclass(slots=True, eq=False)
class CommonWithdrawal:
    """A master over a withdrawal common to all and further ones of some participants' own."""

    evaluation: Evaluation
    groups: WithdrawalGroups
    checker: Checker
    tangents: LoadTangents
    variables: Matrix
    master: Master
    people: list[Integers] = field(default_factory=list)
    constants: list[Floats] = field(default_factory=list)
    finer: WithdrawalGroups | None = None
    latest: float = math.nan

    @classmethod
    def of(cls, evaluation: Evaluation, groups: WithdrawalGroups, tally: Tally) -> Self:
        """Return the master without cuts."""
        people, chosen = evaluation.participants, np.flatnonzero(groups.own)
        picks = (np.ones(len(chosen)), (chosen, np.arange(len(chosen))))
        variables = sparse.hstack(
            (
                sparse.csr_array(groups.common.astype(np.float64)[:, None]),
                sparse.csr_array(picks, shape=(people, len(chosen))),
            ),
            format="csr",
        )
        master = Master.over(np.asarray(variables.sum(axis=0)).ravel(), tally)
        return cls(evaluation, groups, Checker.of(evaluation), LoadTangents.of(evaluation), variables, master)

    def at(self, _: float) -> Self:
        """Return itself: it serves every τ."""
        return self

    def step(self, tau: float) -> CutStep | None:
        """Return the optimum of the cuts known so far at τ; nothing if HiGHS gives up."""
        if not self.people:
            start = self._step(tau, np.zeros(self.variables.shape[1]), np.zeros(0))
            self.cut(start)
        if not self.people:
            return None
        self.latest = tau
        self.master.move(1 - tau / np.concatenate(self.constants))
        found = self.master.solve()
        return None if found is None else self._step(tau, found.x, found.y)

    def _step(self, tau: float, x: Floats, duals: Floats) -> CutStep:
        g = self.checker.raised(self.variables @ x)
        # where an own withdrawal is zero the common one is taken to be less, so that it alone is charged
        tilted = np.minimum(1.0, g + self.checker.grid * (self.variables[:, 1:].sum(axis=1)))
        slopes = self.tangents.slopes(tilted, self.variables)
        value = float(self.variables.sum(axis=0) @ x)
        rate = float((duals / np.concatenate(self.constants)).sum()) if len(duals) else 0.0
        return CutStep(tau, self.evaluation.bounds(tau), g, slopes, value, rate, duals)

    def lower(self, step: CutStep) -> Callable[[float], float]:
        """Return a lower end for every τ from the step's duals, and note who should be in another group."""
        multipliers = np.zeros(self.evaluation.participants)
        np.add.at(multipliers, np.concatenate(self.people), step.duals / np.concatenate(self.constants))
        cut = balanced_cut(self.evaluation, self.checker.low_weights, step.g, multipliers)
        if step.slopes.sums.max() <= step.tau * (1 + limits.SETTLED_OVERLOAD):
            self.finer = self.groups.split(cut.slope, step.g, step.slopes.sums > limits.NEAR_TAU * step.tau)
        return lambda tau: withdrawals_low(cut, multipliers, tau)

    def unfit(self) -> bool:
        """Return whether the last proof calls for finer groups."""
        return self.finer is not None

    def insist(self) -> bool:
        """Ask for exact optima from now on; return whether that changes anything."""
        return self.master.insist()

    def cut(self, step: CutStep) -> bool:
        """Cut the step's point off; return whether anything was wrong with it."""
        wrong = np.flatnonzero(step.slopes.sums > step.tau)
        if len(wrong):
            constants, rows = step.slopes.jacobian(wrong)
            rows.data *= np.repeat(1.0 / constants, np.diff(rows.indptr))
            self.master.add(rows, 1 - step.tau / constants)
            self.people.append(wrong)
            self.constants.append(constants)
        return len(wrong) > 0


def shared_index(
    evaluation: Evaluation, loads: Floats, theta: float, beta: float, width: float, tally: Tally
) -> Interval | None:
    """Return an interval that holds r, at most `width` wide; nothing if it does not close.

    Where the proof does not, whole programs take over near the r that was found.
    """
    start, left = shared_guess(evaluation, loads, theta, beta)
    groups = WithdrawalGroups(loads > 0, left > theta * math.exp(beta * start) * limits.NEAR_TAU)
    for _ in range(limits.SPLITS):
        sharing = CommonWithdrawal.of(evaluation, groups, tally)
        found = real_index(sharing.at, start, float(loads.max()), theta, beta, width)
        if found is not None:
            return found
        start = math.log(sharing.latest / theta) / beta
        if sharing.finer is None:
            break
        groups = sharing.finer
    return real_index(Whole.of(evaluation).at, start, float(loads.max()), theta, beta, width)


def shared_guess(evaluation: Evaluation, loads: Floats, theta: float, beta: float) -> tuple[float, Floats]:
    """Return a plausible r, and everybody's load once all have withdrawn what they do in common."""
    there = loads > 0
    left = [evaluation.loads(np.where(there, common, 0.0)) for common in limits.COMMON_WITHDRAWALS]
    shared = [common * there.sum() for common in limits.COMMON_WITHDRAWALS]

    def needed(s: float) -> list[float]:
        tau = theta * math.exp(beta * s)
        return [
            size + float((np.maximum(0.0, more - tau) / np.maximum(loads, 1e-300)).sum())
            for size, more in zip(shared, left, strict=True)
        ]

    low, high = 0.0, math.log(float(loads.max()) / theta) / beta
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if min(needed(middle)) > middle else (low, middle)
    return low, left[int(np.argmin(needed(low)))]
