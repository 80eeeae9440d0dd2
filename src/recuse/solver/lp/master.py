"""The master program of a cutting-plane method: rows are added, right-hand sides move, the basis stays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from recuse.deferred import highspy
from recuse.krelation.relation import Floats
from recuse.solver import limits
from recuse.solver.lp.program import Matrix, Suggestion, limit_iterations, patience, quiet_highs

DEVEX = 1
"""Prices that need no start-up: steepest edges would solve a system a row whenever rows were added."""


@dataclass(slots=True)
class Tally:
    """How much was done: for benchmarks only."""

    masters: int = 0
    cuts: int = 0


@dataclass(slots=True, eq=False)
class Master:
    """min cost·x over growing rows·x ≥ right and 0 ≤ x ≤ 1, warm-started."""

    highs: Any  # highspy's stubs lack half of it
    tally: Tally
    count: int = 0
    based: int = 0
    insisted: bool = False

    @classmethod
    def over(cls, cost: Floats, tally: Tally) -> Self:
        """Return a master without rows. Costs are not negative, so its empty basis is dual feasible."""
        highs, size = quiet_highs(), len(cost)
        highs.setOptionValue("presolve", "off")
        highs.setOptionValue("solver", "simplex")
        highs.setOptionValue("simplex_dual_edge_weight_strategy", DEVEX)
        highs.setOptionValue("primal_feasibility_tolerance", 1e-9)
        highs.setOptionValue("dual_feasibility_tolerance", 1e-9)
        highs.addVars(size, np.zeros(size), np.ones(size))
        highs.changeColsCost(size, np.arange(size, dtype=np.int32), cost)
        return cls(highs, tally)

    def add(self, rows: Matrix, right: Floats) -> None:
        """Add rows·x ≥ right."""
        starts = rows.indptr[:-1].astype(np.int32)
        above = np.full(len(right), highspy.kHighsInf)
        self.highs.addRows(
            len(right), right, above, rows.nnz, starts, rows.indices.astype(np.int32), rows.data
        )
        self.count += len(right)
        self.tally.cuts += len(right)

    def move(self, right: Floats) -> None:
        """Replace the right-hand sides of all rows."""
        above = np.full(self.count, highspy.kHighsInf)
        self.highs.changeRowsBounds(self.count, np.arange(self.count, dtype=np.int32), right, above)

    def solve(self) -> Suggestion | None:
        """Return a suggested optimum, or nothing if HiGHS gives up or is not worth asking.

        Many rows at once, without a basis to start from, are dense work for the simplex method. There a
        first-order method is far faster, and the digits it lacks the certificate does without, or asks for
        with `insist`.
        """
        if self.highs.getNumNz() > max(
            limits.MASTER_ENTRIES, limits.MASTER_ENTRIES_A_COLUMN * self.highs.getNumCol()
        ):
            return None
        self.tally.masters += 1
        if self.count - self.based > limits.NEW_ROWS_FOR_FIRST_ORDER and not self.insisted:
            found = self._roughly()
            if found is not None:
                return found
            self.insisted = True
        limit_iterations(self.highs, self.count + self.highs.getNumCol())
        self.highs.run()
        self.based = self.count
        return _suggestion(self.highs)

    def insist(self) -> bool:
        """Ask for exact optima from now on; return whether that changes anything."""
        changed = self.count - self.based > limits.NEW_ROWS_FOR_FIRST_ORDER and not self.insisted
        self.insisted = True
        return changed

    def _roughly(self) -> Suggestion | None:
        """Return what PDLP finds, if it finds it soon; the simplex method's basis is left alone."""
        other = quiet_highs()
        other.setOptionValue("solver", "pdlp")
        other.setOptionValue("pdlp_optimality_tolerance", limits.FIRST_ORDER_GAP)
        other.setOptionValue("pdlp_iteration_limit", patience(self.highs.getNumNz(), limits.MASTER_WORK))
        other.passModel(self.highs.getLp())
        other.run()
        return _suggestion(other)


def _suggestion(highs: Any) -> Suggestion | None:
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    solution = highs.getSolution()
    x = np.clip(np.nan_to_num(solution.col_value), 0.0, 1.0)
    return Suggestion(x, np.maximum(0.0, np.nan_to_num(solution.row_dual)))
