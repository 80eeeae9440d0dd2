"""Small linear programs in boxes, and their optimum by another solver than ours."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

from recuse.solver.lp.program import LinearProgram

COLUMNS = 4


@st.composite
def programs(draw: st.DrawFn, rows: int = 4) -> LinearProgram:
    """Return min cost·x, A x ≥ right over 0 ≤ x ≤ 1 with entries in quarters; x = 1 is feasible."""
    quarters = st.integers(0, 12).map(lambda count: count / 4)
    vectors = st.lists(quarters, min_size=COLUMNS, max_size=COLUMNS)
    matrix = np.array(draw(st.lists(vectors, min_size=1, max_size=rows)))
    parts = draw(st.lists(st.integers(0, 4), min_size=len(matrix), max_size=len(matrix)))
    return LinearProgram(
        np.array(draw(vectors)),
        sparse.csr_array(matrix),
        matrix.sum(axis=1) * np.array(parts) / 4,
        np.zeros(COLUMNS),
        np.ones(COLUMNS),
    )


def optimum(program: LinearProgram) -> float:
    """Return the optimal value of a feasible program, found by scipy."""
    bounds = list(zip(program.lower, program.upper, strict=True))
    found = linprog(program.cost, A_ub=-program.rows.toarray(), b_ub=-program.right, bounds=bounds)
    return float(found.fun)
