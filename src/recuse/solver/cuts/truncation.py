"""Cutting planes for the truncated answer X(τ) = min F(g) + τ|g|.

F is split evenly among the overloaded members of each tuple, F = Σ_p F_p, and every F_p cut on its own:
many small cuts a round instead of one large one. The multipliers of the cuts are a packing of
derivations, which proves the lower end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from recuse.deferred import sparse
from recuse.krelation.evaluate import Evaluation
from recuse.krelation.relation import Floats, Integers
from recuse.solver import limits
from recuse.solver.bounds import UNIT, Cut, truncated_low, up, weighted_cut
from recuse.solver.certificate import Checker
from recuse.solver.cuts.restriction import Focus
from recuse.solver.cuts.symmetry import Classes
from recuse.solver.cuts.tangents import AnswerTangents, Slopes
from recuse.solver.interval import Interval, enclosed
from recuse.solver.lp.master import Master, Tally


@dataclass(frozen=True, slots=True, eq=False)
class Truncation:
    """X(τ) of a narrowed relation: all its participants are overloaded at τ."""

    focus: Focus
    tau: float
    bounds: Floats
    evaluation: Evaluation
    checker: Checker
    shares: AnswerTangents
    classes: Classes
    full: Floats
    master: Master
    rounds: list[tuple[Slopes, Integers]] = field(default_factory=list)

    @classmethod
    def of(cls, focus: Focus, tau: float, tally: Tally) -> Self:
        evaluation = focus.evaluation()
        bounds = evaluation.bounds(tau)
        shares = AnswerTangents.of(evaluation)
        classes = Classes.of(evaluation)
        full = shares.owners.sum(axis=1)[classes.representatives]
        sizes = classes.sizes.astype(np.float64)
        prices = bounds[classes.representatives] / tau
        master = Master.over(np.concatenate((sizes * prices, sizes * full / tau)), tally)
        found = cls(focus, tau, bounds, evaluation, Checker.of(evaluation), shares, classes, full, master)
        found._cut(shares.slopes(np.zeros(len(bounds))), np.flatnonzero(full > 0))
        return found

    def interval(self, width: float) -> Interval | None:
        """Return an interval that holds X(τ), at most `width` wide; nothing if it does not close."""
        count, sizes = len(self.full), self.classes.sizes
        best, best_g, least = np.zeros(0), np.zeros(0), math.inf
        for _ in range(limits.TRUNCATION_ROUNDS):
            suggestion = self.master.solve()
            if suggestion is None:
                return None
            x, shares = suggestion.x[:count], suggestion.x[count:]
            prices = self.bounds[self.classes.representatives]
            estimate = float(sizes @ (prices * x + shares * self.full))
            # between the master's optimum and the best point so far: far fewer rounds than at the optimum
            middle = limits.TRUNCATION_STEP * x + (1 - limits.TRUNCATION_STEP) * best if len(best) else x
            points = [self._snapped(point) for point in (middle, *simplified(middle), *simplified(x))]
            values = [self._value(g) for g in points]
            first = int(np.argmin(values))
            if values[first] < least:
                best_g, least = points[first], values[first]
                best = best_g[self.classes.representatives]
            slopes = self.shares.slopes(points[0])
            if least - estimate <= width:
                high = up(self.checker.truncated_high(best_g, self.tau) + enclosed(self.focus.rest).high)
                low = self._proven(suggestion.y)
                if high - low <= width:
                    return Interval(low, high)
            self._cut(slopes, np.flatnonzero(slopes.sums[self.classes.representatives] > 0))
        return None

    def _snapped(self, x: Floats) -> Floats:
        """Return the classes' withdrawals as everybody's, on the checker's grid."""
        return self.checker.lowered(self.classes.expanded(x) + self.checker.grid / 2)

    def _value(self, g: Floats) -> float:
        """Return F(g) + τ|g|, about."""
        return self.shares.answer(g) + float(self.bounds @ g)

    def _cut(self, slopes: Slopes, which: Integers) -> None:
        """Add the cuts of these classes' shares."""
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
        """Return a lower end for X(τ) from the master's duals, as a packing within everybody's shares."""
        price = self.classes.sizes * self.full / self.tau
        portions, start = np.zeros((len(self.rounds), len(self.full))), 0
        for (_, which), mine in zip(self.rounds, portions, strict=True):
            mine[which] = duals[start : start + len(which)] / price[which]
            start += len(which)
        portions *= (1 - UNIT * (len(portions) + 8)) / np.maximum(1.0, portions.sum(axis=0))
        cut = Cut.nothing(len(self.focus.people), len(self.rounds[0][0].active))
        for (slopes, _), mine in zip(self.rounds, portions, strict=True):
            if mine.any():
                cut += weighted_cut(slopes, self.classes.expanded(mine))
        return truncated_low(cut, self.bounds, self.focus.rest)


def simplified(x: Floats) -> list[Floats]:
    """Return x rounded to simple fractions: where a method that converges is going to end."""
    return [np.round(x * parts) / parts for parts in limits.SIMPLE_DENOMINATORS]
