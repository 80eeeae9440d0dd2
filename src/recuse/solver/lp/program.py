"""Linear programs as arrays, solved by HiGHS one at a time (`master` keeps one open, and adds rows to it).

Every program here is  min cost·x  subject to  A x ≥ right,  lower ≤ x ≤ upper.  All columns live in boxes, so
any y ≥ 0 proves a lower bound (`bounds.dual_bound`); what HiGHS claims is only ever a suggestion.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

import numpy as np

from recuse.deferred import highspy, sparse
from recuse.krelation.relation import Floats
from recuse.solver import limits

Matrix: TypeAlias = "sparse.csr_array"

SOLVED = ("kOptimal", "kUnknown", "kIterationLimit")
"""Statuses after which the primal and dual vectors are worth looking at."""


@dataclass(frozen=True, slots=True, eq=False)
class LinearProgram:
    """min cost·x, rows·x ≥ right, lower ≤ x ≤ upper."""

    cost: Floats
    rows: Matrix
    right: Floats
    lower: Floats
    upper: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Suggestion:
    """What a solver proposes: a point and multipliers of the rows, unproven. `y` may be negative."""

    x: Floats
    y: Floats
    stopped: bool = False
    """whether it ran out of iterations"""


def quiet_highs() -> highspy.Highs:
    """Return a fresh, silent, single-threaded HiGHS."""
    highs = highspy.Highs()  # type: ignore[no-untyped-call]
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", 1)
    return highs


def limit_iterations(highs: Any, size: int) -> None:
    """Make HiGHS end on programs of so many rows and columns, whatever is in them."""
    highs.setOptionValue(
        "simplex_iteration_limit",
        min(2**31 - 1, limits.SIMPLEX_ITERATIONS + limits.SIMPLEX_ITERATIONS_A_ROW * size),
    )
    highs.setOptionValue("ipm_iteration_limit", limits.SIMPLEX_ITERATIONS)


def patience(entries: int, effort: float) -> int:
    """Return how many iterations a first-order method may take to pass over so many entries."""
    return int(min(limits.FIRST_ORDER_ITERATIONS, effort / max(1, entries)))


class Method(Enum):
    """How HiGHS is asked to solve a program."""

    SIMPLEX = "simplex"
    INTERIOR = "ipm"
    FIRST_ORDER = "pdlp"


def solve(
    program: LinearProgram,
    method: Method = Method.SIMPLEX,
    iterations: int = limits.FIRST_ORDER_ITERATIONS,
    gap: float = limits.FIRST_ORDER_GAP,
) -> Suggestion:
    """Return a suggested optimum of the program; zeros if HiGHS gives up.

    A first-order method suggests how far it came in so many iterations, or when the relative gap was small.
    """
    lp = highspy.HighsLp()
    count, size = program.rows.shape
    lp.num_col_, lp.num_row_ = size, count
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = program.cost, program.lower, program.upper
    lp.row_lower_, lp.row_upper_ = program.right, np.full(count, highspy.kHighsInf)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = program.rows.indptr
    lp.a_matrix_.index_ = program.rows.indices
    lp.a_matrix_.value_ = program.rows.data
    highs = quiet_highs()
    highs.setOptionValue("solver", method.value)
    limit_iterations(highs, count + size)
    if method is not Method.SIMPLEX:
        highs.setOptionValue("presolve", "off")  # what it removes comes back with poor multipliers, or none
        highs.setOptionValue("run_crossover", "off")
    if method is Method.FIRST_ORDER:
        for tolerance in ("pdlp_optimality", "primal_feasibility", "dual_feasibility"):
            highs.setOptionValue(f"{tolerance}_tolerance", max(limits.FINEST_TOLERANCE, gap))
        highs.setOptionValue("pdlp_iteration_limit", iterations)
    highs.passModel(lp)
    highs.run()
    solution = highs.getSolution()
    if highs.getModelStatus().name not in SOLVED or len(solution.col_value) < size:
        return Suggestion(np.clip(np.zeros(size), program.lower, program.upper), np.zeros(count))
    x = np.clip(np.nan_to_num(solution.col_value), program.lower, program.upper)
    stopped = highs.getModelStatus().name == "kIterationLimit"
    return Suggestion(x, np.nan_to_num(solution.row_dual), stopped)
