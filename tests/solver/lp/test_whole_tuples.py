"""X(τ) from the whole program in focus: it closes by itself, at every scale of τ, around the true value."""

from __future__ import annotations

import numpy as np
import pytest

from recuse.krelation.relation import Tuples
from recuse.solver.cuts.restriction import focus_answer, touching
from recuse.solver.limits import FINEST_TOLERANCE
from recuse.solver.lp import whole_tuples
from recuse.solver.lp.extended import FullPrograms
from recuse.solver.lp.program import Method, solve
from recuse.solver.reference import reference

PEOPLE, COUNT = 30, 60
SCALES = [2.0**-10, 0.3, 1.0, 5.0, 40.0]


def relation(clauses: int, members: int) -> Tuples:
    """Return tuples of disjoint clauses, with weights from 1 to 20."""
    generator = np.random.default_rng(7)
    people = generator.permuted(np.tile(np.arange(PEOPLE), (COUNT, 1)), axis=1)
    leaves = people[:, : clauses * members].reshape(-1, members)
    levels = (np.arange(COUNT + 1) * clauses, np.arange(COUNT * clauses + 1) * members)
    return Tuples(generator.integers(1, 21, COUNT), levels, np.sort(leaves, axis=1).ravel())


@pytest.mark.parametrize("shape", [(4, 1), (4, 2), (1, 3)], ids=["flow", "clauses", "conjunctions"])
@pytest.mark.parametrize("tau", SCALES)
def test_it_closes_by_itself_around_what_the_reference_finds(shape: tuple[int, int], tau: float) -> None:
    tuples = relation(*shape)
    judge = reference(tuples, PEOPLE)
    focus = focus_answer(judge.evaluation, judge.loads > tau)
    found = whole_tuples.truncated(focus, tau, 0.01 * tau, whole_tuples.METHODS)
    wanted = judge.truncated(tau, 1e-6 * tau)
    assert found is not None
    assert found.width <= 0.01 * tau
    assert found.low <= wanted.high
    assert wanted.low <= found.high


@pytest.mark.parametrize("tau", SCALES)
def test_a_flow_needs_no_linear_program(tau: float) -> None:
    tuples = relation(4, 1)
    programs = reference(tuples, PEOPLE)
    focus = focus_answer(programs.evaluation, programs.loads > tau)
    found = whole_tuples.truncated(focus, tau, 0.01 * tau, ())
    assert found is not None


@pytest.mark.parametrize("tau", [1.0, 5.0, 40.0])
@pytest.mark.parametrize(
    ("method", "iterations", "width"),
    [(Method.INTERIOR, 0, 0.01), (Method.FIRST_ORDER, 1000, 1.0), (Method.FIRST_ORDER, 3, PEOPLE)],
    ids=["exactly", "roughly", "stopped at once"],
)
def test_withdrawals_from_whole_tuples_agree_with_the_reference(
    tau: float, method: Method, iterations: int, width: float
) -> None:
    """The members who are not overloaded stay in the program, for they may withdraw too."""
    tuples = relation(1, 3)
    judge = reference(tuples, PEOPLE)
    met = touching(tuples, judge.loads > tau)
    found = whole_tuples.strict_withdrawals(met, tau, method, iterations)
    wanted = judge.strict_withdrawals(tau, 1e-6)
    assert found.width <= width
    assert found.low <= wanted.high
    assert wanted.low <= found.high


@pytest.mark.parametrize("gap", [0.0, 1e-30])
def test_a_finer_gap_than_the_solver_takes_is_the_finest_it_takes(
    gap: float, capfd: pytest.CaptureFixture[str]
) -> None:
    """How fine it is depends on the data, so nothing may be said of it; nor may a coarser default step in."""
    program = FullPrograms(reference(relation(1, 3), PEOPLE).evaluation).truncated(5.0)
    found, finest, coarser = (
        solve(program, Method.FIRST_ORDER, 20_000, asked).y for asked in (gap, FINEST_TOLERANCE, 1e-7)
    )
    assert np.array_equal(found, finest)
    assert not np.array_equal(found, coarser)
    assert capfd.readouterr() == ("", "")
