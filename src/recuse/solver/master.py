"""The master program of a cutting-plane method: rows are added, right-hand sides move, the basis stays."""

from __future__ import annotations

from dataclasses import dataclass

import highspy
import numpy as np

from recuse.krelation.relation import Floats
from recuse.solver.linear import SOLVED, Matrix, Suggestion, quiet_highs


@dataclass(slots=True, eq=False)
class Master:
    """min cost·x over growing rows·x ≥ right and 0 ≤ x ≤ upper, warm-started."""

    highs: highspy.Highs
    count: int = 0
    runs: int = 0

    @classmethod
    def over(cls, cost: Floats, upper: Floats) -> Master:
        """Return a master without rows. Costs are not negative, so its empty basis is dual feasible."""
        highs, size = quiet_highs(), len(cost)
        highs.setOptionValue("presolve", "off")
        highs.setOptionValue("solver", "simplex")
        highs.setOptionValue("primal_feasibility_tolerance", 1e-9)
        highs.setOptionValue("dual_feasibility_tolerance", 1e-9)
        highs.addVars(size, np.zeros(size), upper)
        highs.changeColsCost(size, np.arange(size, dtype=np.int32), cost)
        return cls(highs)

    def add(self, rows: Matrix, right: Floats) -> None:
        """Add rows·x ≥ right."""
        starts = rows.indptr[:-1].astype(np.int32)
        above = np.full(len(right), highspy.kHighsInf)
        self.highs.addRows(
            len(right), right, above, rows.nnz, starts, rows.indices.astype(np.int32), rows.data
        )
        self.count += len(right)

    def move(self, right: Floats) -> None:
        """Replace the right-hand sides of all rows."""
        above = np.full(self.count, highspy.kHighsInf)
        self.highs.changeRowsBounds(self.count, np.arange(self.count, dtype=np.int32), right, above)

    def solve(self) -> Suggestion | None:
        """Return a suggested optimum, or nothing if HiGHS gives up."""
        self.highs.run()
        self.runs += 1
        if self.highs.getModelStatus() not in SOLVED:
            return None
        solution = self.highs.getSolution()
        return Suggestion(np.array(solution.col_value), np.maximum(0.0, np.array(solution.row_dual)))
