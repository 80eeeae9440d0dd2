"""Programs are solved as another solver solves them; what cannot be solved is suggested as zeros."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

from recuse.solver import limits
from recuse.solver.bounds import dual_bound
from recuse.solver.lp.program import LinearProgram, Method, patience, solve
from support.lp import optimum, programs


@given(programs())
def test_the_suggested_point_is_the_optimum_and_its_multipliers_prove_it(program):
    wanted, found = optimum(program), solve(program)
    assert program.cost @ found.x == pytest.approx(wanted, abs=1e-6)
    assert (program.rows @ found.x >= program.right - 1e-6).all()
    assert dual_bound(program, found.y) == pytest.approx(wanted, abs=1e-6)


@pytest.mark.parametrize("method", [Method.INTERIOR, Method.FIRST_ORDER])
@given(program=programs())
def test_other_methods_come_near(method, program):
    """They are believed in nothing: their multipliers prove what they prove."""
    wanted, found = optimum(program), solve(program, method, gap=1e-6)
    assert dual_bound(program, found.y) <= wanted + 1e-7
    assert ((found.x >= program.lower) & (found.x <= program.upper)).all()


@given(programs(), st.lists(st.floats(-5, 5), min_size=4, max_size=4))
def test_any_multipliers_prove_a_lower_bound(program, y):
    assert dual_bound(program, np.array(y)[: len(program.right)]) <= optimum(program) + 1e-9


def test_the_twin_that_forgets_the_boxes_is_caught():
    """right·y alone is a bound only where no column has a negative reduced cost."""
    program = LinearProgram(np.ones(1), sparse.csr_array([[1.0]]), np.array([0.5]), np.zeros(1), np.ones(1))
    y = np.array([7.0])
    assert program.right @ y > optimum(program)
    assert dual_bound(program, y) <= optimum(program)


def test_what_has_no_solution_is_suggested_as_zeros():
    rows = sparse.csr_array([[1.0, 1.0]])
    impossible = LinearProgram(np.ones(2), rows, np.array([5.0]), np.array([0.25, 0.0]), np.ones(2))
    found = solve(impossible)
    assert (found.x.tolist(), found.y.tolist(), found.stopped) == ([0.25, 0.0], [0.0], False)
    possible = replace(impossible, right=np.array([1.5]))
    assert linprog([1, 1], A_ub=[[-1, -1]], b_ub=[-1.5], bounds=[(0.25, 1), (0, 1)]).fun == 1.5
    assert solve(possible).x.sum() == pytest.approx(1.5)


def test_patience_ends_and_is_shorter_where_there_is_more_to_pass_over():
    assert patience(0, 1e18) == limits.FIRST_ORDER_ITERATIONS
    assert patience(10**6, 1e9) == min(1000, limits.FIRST_ORDER_ITERATIONS)
    assert patience(10**9, 1.0) == 0
