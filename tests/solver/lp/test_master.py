"""A master with rows that were added and moved finds what a program written at once finds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from recuse.solver import limits
from recuse.solver.bounds import dual_bound
from recuse.solver.lp.master import Master, Tally
from recuse.solver.lp.program import LinearProgram
from support.lp import COLUMNS, optimum, programs


def agrees(master: Master, program: LinearProgram) -> bool:
    found, wanted = master.solve(), optimum(program)
    assert found is not None
    return bool(
        program.cost @ found.x == pytest.approx(wanted, abs=1e-6)
        and dual_bound(program, found.y) == pytest.approx(wanted, abs=1e-6)
    )


@given(programs())
def test_rows_may_come_one_at_a_time(program):
    tally = Tally()
    master = Master.over(program.cost, tally)
    for row in range(len(program.right)):
        master.add(program.rows[[row]], program.right[[row]])
        first = slice(0, row + 1)
        assert agrees(master, replace(program, rows=program.rows[first], right=program.right[first]))
    assert (tally.cuts, tally.masters) == (len(program.right), len(program.right))


@given(programs(), st.lists(st.integers(0, 4), min_size=4, max_size=4))
def test_right_hand_sides_move(program, parts):
    master = Master.over(program.cost, Tally())
    master.add(program.rows, program.right)
    assert agrees(master, program)
    moved = program.rows.sum(axis=1) * np.array(parts)[: len(program.right)] / 4
    master.move(moved)
    assert agrees(master, replace(program, right=moved))


def test_a_master_without_rows_asks_for_nothing():
    found = Master.over(np.ones(COLUMNS), Tally()).solve()
    assert found is not None
    assert found.x.tolist() == [0.0] * COLUMNS


def test_what_cannot_be_met_is_nothing_found():
    master = Master.over(np.ones(1), Tally())
    master.add(sparse.csr_array([[1.0]]), np.array([2.0]))
    assert master.solve() is None


def test_what_is_too_large_is_not_asked(monkeypatch):
    monkeypatch.setattr(limits, "MASTER_ENTRIES", 1)
    monkeypatch.setattr(limits, "MASTER_ENTRIES_A_COLUMN", 1)
    master = Master.over(np.ones(1), Tally())
    master.add(sparse.csr_array([[1.0], [1.0]]), np.array([0.5, 0.25]))
    assert (master.solve(), master.tally.masters) == (None, 0)


@given(program=programs())
def test_many_new_rows_are_solved_roughly_until_one_insists(program):
    """What PDLP suggests proves what it proves; with `insist` the simplex method's is exact."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "NEW_ROWS_FOR_FIRST_ORDER", 0)
        master = Master.over(program.cost, Tally())
        master.add(program.rows, program.right)
        rough = master.solve()
        if rough is not None:
            assert dual_bound(program, rough.y) <= optimum(program) + 1e-7
        if not master.insisted:
            assert master.insist()
        assert agrees(master, program)
        assert not master.insist()
