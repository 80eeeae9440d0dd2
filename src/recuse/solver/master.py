"""The master program of a cutting-plane method: rows are added, right-hand sides move, the basis stays."""

from __future__ import annotations

from dataclasses import dataclass

import highspy
import numpy as np
from scipy import sparse

from recuse.krelation.relation import Floats
from recuse.solver.linear import SOLVED, Matrix, Suggestion, quiet_highs


@dataclass(slots=True, eq=False)
class Master:
    """min cost·x over growing rows·x ≥ right and growing columns 0 ≤ x ≤ 1, warm-started."""

    highs: highspy.Highs
    count: int = 0
    runs: int = 0

    @classmethod
    def empty(cls) -> Master:
        """Return a master without rows and columns."""
        highs = quiet_highs()
        highs.setOptionValue("presolve", "off")
        highs.setOptionValue("solver", "simplex")
        highs.setOptionValue("primal_feasibility_tolerance", 1e-9)
        highs.setOptionValue("dual_feasibility_tolerance", 1e-9)
        return cls(highs)

    def widen(self, cost: Floats, columns: sparse.csc_array) -> None:
        """Add columns with values in [0, 1] and what they contribute to the rows there are."""
        size = len(cost)
        starts = columns.indptr[:-1].astype(np.int32)
        entries = (columns.nnz, starts, columns.indices.astype(np.int32), columns.data)
        self.highs.addCols(size, cost, np.zeros(size), np.ones(size), *entries)

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
