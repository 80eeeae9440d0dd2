"""Many processes on one ledger, and processes that are killed: nothing is lost, nothing is spent twice."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from recuse.ledger import Ledger
from support.shop import POLICY, make_shop

TESTS = Path(__file__).resolve().parents[1]


def racing(mode: str, *arguments: object) -> list[list[int]]:
    done = subprocess.run(
        [sys.executable, "-m", "support.racing", mode, *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=TESTS,
        timeout=1500,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return [list(map(int, line.split())) for line in done.stdout.splitlines()]


def shop(tmp_path: Path, budget: str) -> tuple[Path, Path]:
    database, policy = make_shop(tmp_path)
    policy.write_text(POLICY.replace("epsilon = 2", f"epsilon = {budget}"))
    return database, policy


@pytest.mark.parametrize(("processes", "each"), [(4, 3), pytest.param(8, 125, marks=pytest.mark.slow)])
def test_parallel_questions_get_exactly_the_grant(tmp_path, processes, each):
    """Whoever opens the new ledger first creates it; the grant covers half of what is asked."""
    covered = processes * each // 2
    database, policy = shop(tmp_path, str(covered))
    answered, codes = racing("ask", database, policy, processes, each, "1")
    assert codes == [0] * processes
    assert sum(answered) == covered
    ledger = Ledger.open(tmp_path / "shop.duckdb.ledger")
    assert ledger.balance().remaining == 0
    history = ledger.history()
    assert len(history) == covered
    assert all(charge.answer is not None for charge in history)
    assert len({charge.query for charge in history}) == covered


@pytest.mark.parametrize("kills", [5, pytest.param(200, marks=pytest.mark.slow)])
def test_kills_leave_a_whole_ledger_that_spent_at_least_what_was_answered(tmp_path, kills):
    database, policy = shop(tmp_path, "1000")
    ((answered,),) = racing("kill", database, policy, kills, "0.001")
    ledger = Ledger.open(tmp_path / "shop.duckdb.ledger")
    stored = [charge for charge in ledger.history() if charge.answer is not None]
    assert len(stored) >= answered > 0
    assert ledger.balance().spent >= len(stored) * Fraction(1, 1000)
