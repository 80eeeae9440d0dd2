"""Cutting planes for the truncated answer X(τ) = min F(g) + τ|g|.

F is split evenly among the overloaded members of each tuple, F = Σ_p F_p, and every F_p cut on its own:
many small cuts a round instead of one large one. The multipliers of the cuts are a packing of
derivations, which proves the lower end.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from scipy import sparse

from recuse.krelation.evaluate import Evaluation
from recuse.krelation.relation import Floats, Integers
from recuse.solver.certificate import UNIT, Checker, Cut, truncated_low, up, weighted_cut
from recuse.solver.colours import Classes
from recuse.solver.focus import Focus
from recuse.solver.interval import Interval
from recuse.solver.master import Master
from recuse.solver.slopes import Shares, Slopes

ROUNDS = 60
VIOLATION = 1e-6
"""A share F_p is cut where the master underrates it by this much of its full weight."""


@dataclass(frozen=True, slots=True, eq=False)
class Truncation:
    """X(τ) of a narrowed relation: all its participants are overloaded at τ."""

    focus: Focus
    tau: float
    evaluation: Evaluation
    checker: Checker
    shares: Shares
    classes: Classes
    full: Floats
    master: Master
    rounds: list[tuple[Slopes, Integers]] = field(default_factory=list)

    @classmethod
    def of(cls, focus: Focus, tau: float) -> Self:
        people = len(focus.people)
        evaluation = Evaluation.of(focus.tuples, people)
        shares = Shares.of(evaluation)
        classes = Classes.of(focus.tuples, people)
        full = shares.owners.sum(axis=1)[classes.representatives]
        sizes = classes.sizes.astype(np.float64)
        master = Master.empty()
        cost = np.concatenate((sizes, sizes * full / tau))
        master.widen(cost, sparse.csc_array((0, len(cost))))
        found = cls(focus, tau, evaluation, Checker.of(evaluation), shares, classes, full, master)
        found._cut(np.zeros(people), np.arange(len(sizes)))
        return found

    def interval(self, width: float) -> Interval | None:
        """Return an interval that holds X(τ), at most `width` wide; nothing if it does not close."""
        found = Interval(0.0, float("inf"))
        count = len(self.full)
        rest = up(float(self.focus.rest)) if self.focus.rest > 2**53 else float(self.focus.rest)
        for _ in range(ROUNDS):
            suggestion = self.master.solve()
            if suggestion is None:
                return None
            g = self.checker.lowered(self.classes.expanded(suggestion.x[:count]) + self.checker.grid / 2)
            estimate = self.tau * float(
                self.classes.sizes @ (suggestion.x[:count] + suggestion.x[count:] * self.full / self.tau)
            )
            high = up(self.checker.truncated_high(g, self.tau) + rest)
            found = found.narrowed(0.0, high)
            if found.high - rest - estimate <= width:
                found = found.narrowed(self._proven(suggestion.y), high)
                if found.width <= width:
                    return found
            share = (self.shares.owners @ self.evaluation.kept(g))[self.classes.representatives]
            wrong = np.flatnonzero(share > (suggestion.x[count:] + VIOLATION) * self.full)
            if len(wrong) == 0:
                return None
            self._cut(g, wrong)
        return None

    def _cut(self, g: Floats, which: Integers) -> None:
        """Add the cuts at g of these classes' shares."""
        slopes = self.shares.slopes(g)
        constants, rows = slopes.jacobian(self.classes.representatives[which])
        scale = 1.0 / self.full[which]
        left = self.classes.collapsed(rows).tocsr()
        left.data *= np.repeat(scale, np.diff(left.indptr))
        own = sparse.csr_array(
            (np.ones(len(which)), which, np.arange(len(which) + 1)), shape=(len(which), len(self.full))
        )
        self.master.add(sparse.hstack((left, own), format="csr"), constants * scale)
        self.rounds.append((slopes, which))

    def _proven(self, duals: Floats) -> float:
        """Return a lower end for X(τ) from the master's duals: a packing in which nobody's shares exceed one."""
        price = self.classes.sizes * self.full / self.tau
        portions, start = np.zeros((len(self.rounds), len(self.full))), 0
        for (_, which), mine in zip(self.rounds, portions, strict=True):
            mine[which] = duals[start : start + len(which)] / price[which]
            start += len(which)
        portions *= (1 - UNIT * (len(portions) + 8)) / np.maximum(1.0, portions.sum(axis=0))
        cut = Cut(0.0, np.zeros(len(self.focus.people)))
        for (slopes, _), mine in zip(self.rounds, portions, strict=True):
            if mine.any():
                cut += weighted_cut(slopes, self.classes.expanded(mine))
        return truncated_low(cut, self.tau, self.focus.rest)
