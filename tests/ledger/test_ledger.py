"""The ledger: exact, charged once, whole after a kill, one winner in a race."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import pytest

from recuse.errors import BudgetError, LedgerError
from recuse.ledger import Ledger, open_or_create
from recuse.privacy import Epsilon
from support.questions import spend

ONE = Epsilon.of(1)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "shop.ledger"


def run(code: str, *arguments: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
    )


def test_a_new_path_is_created_once(path):
    ledger, created = open_or_create(path, ONE)
    assert (created, ledger.balance().granted) == (True, 1)
    assert repr(ledger.balance()) == "<Balance: 1 of 1 left>"
    again, created = open_or_create(path, Epsilon.of(5))
    assert (created, again.balance().granted) == (False, 1), "a grant is never replaced by the policy's"
    assert [p.name for p in path.parent.iterdir() if p.suffix == ".new"] == []


def test_a_charge_is_on_disk_when_it_is_made(path):
    """A write-ahead log, so that reading never waits; and every commit is flushed."""
    ledger, _ = open_or_create(path, ONE)
    assert ledger._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert ledger._connection.execute("PRAGMA synchronous").fetchone() == (2,)


def test_thirds_add_up(path):
    ledger, _ = open_or_create(path, ONE)
    for _ in range(3):
        left = spend(ledger, "1/3")
    assert left.remaining == 0
    with pytest.raises(BudgetError, match="0 left; hint: nothing is left"):
        spend(ledger, "0.000001")
    assert [charge.epsilon for charge in ledger.history()] == [Fraction(1, 3)] * 3


def test_over_budget_says_what_is_left_and_charges_nothing(path):
    ledger, _ = open_or_create(path, ONE)
    spend(ledger, "0.75")
    with pytest.raises(BudgetError, match=r"epsilon 0\.5 asked, 0\.25 left"):
        spend(ledger, "0.5")
    assert ledger.balance().spent == Fraction(3, 4)


def test_no_budget_no_ledger(path):
    with pytest.raises(LedgerError, match=r"policy names none.*\[budget\]"):
        open_or_create(path, None)
    assert not path.exists()


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(LedgerError, match="cannot be created"):
        open_or_create(tmp_path / "no" / "such.ledger", ONE)


def damage(path, how):
    if how == "empty":
        path.write_bytes(b"")
    elif how == "text":
        path.write_text("hello, I am not a database" * 100)
    elif how == "cut":
        path.write_bytes(path.read_bytes()[:5000])
    elif how == "other":
        path.unlink()
        sqlite3.connect(path).execute("CREATE TABLE account (x)").connection.close()
    else:
        connection = sqlite3.connect(path)
        connection.execute(how)
        connection.commit()
        connection.close()


@pytest.mark.parametrize(
    "how",
    [
        "empty",
        "text",
        "cut",
        "other",
        "DELETE FROM account",
        "UPDATE account SET spent = '0'",
        "UPDATE account SET spent = 'nothing'",
        "UPDATE account SET spent = '1/0'",
        "UPDATE account SET granted = '1/10'",
        "DELETE FROM charge",
        "DROP TABLE charge",
        "PRAGMA user_version = 99",
    ],
)
def test_a_damaged_ledger_refuses(path, how):
    ledger, _ = open_or_create(path, ONE)
    spend(ledger, "0.5")
    ledger.close()
    damage(path, how)
    with pytest.raises(LedgerError, match="cannot be used") as caught:
        open_or_create(path, ONE)
    assert "\n" not in str(caught.value)


RACE = """
import sys
from pathlib import Path
from recuse.errors import BudgetError
from recuse.ledger import open_or_create
from recuse.privacy import Epsilon
from support.questions import spend
ledger, _ = open_or_create(Path(sys.argv[1]), Epsilon.of(1))
won = 0
for _ in range(int(sys.argv[2])):
    try:
        spend(ledger, "1/7")
        won += 1
    except BudgetError:
        pass
print(won)
"""


def test_processes_that_race_share_exactly_the_grant(path):
    racers = [run(RACE, str(path), "4") for _ in range(4)]
    won = [int(racer.communicate(timeout=120)[0]) for racer in racers]
    assert sum(won) == 7
    assert Ledger.open(path).balance().remaining == 0


def test_two_processes_race_for_the_last_epsilon(path):
    ledger, _ = open_or_create(path, ONE)
    spend(ledger, "6/7")
    racers = [run(RACE, str(path), "1") for _ in range(2)]
    assert sorted(int(racer.communicate(timeout=120)[0]) for racer in racers) == [0, 1]


def test_threads_may_open_the_same_file(path):
    open_or_create(path, ONE)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: spend(Ledger.open(path), "1/50"), range(50)))
    assert Ledger.open(path).balance().remaining == 0


KILLED = """
import os, signal, sys
from pathlib import Path
from recuse.ledger import open_or_create
from recuse.privacy import Epsilon
from support.questions import spend
ledger, _ = open_or_create(Path(sys.argv[1]), Epsilon.of(1))
spend(ledger, "0.25")
os.kill(os.getpid(), signal.SIGKILL)
print("the answer")
"""


def test_a_kill_between_charge_and_answer_loses_the_charge_never_the_ledger(path):
    victim = run(KILLED, str(path))
    out, _ = victim.communicate(timeout=60)
    assert (victim.returncode, out) == (-signal.SIGKILL, "")
    assert Ledger.open(path).balance().spent == Fraction(1, 4)


BUSY = """
import sys
from pathlib import Path
from recuse.ledger import open_or_create
from recuse.privacy import Epsilon
from support.questions import spend
ledger, _ = open_or_create(Path(sys.argv[1]), Epsilon.of(1000))
while True:
    spend(ledger, "0.001")
    print("answered", flush=True)
"""


def test_kills_at_any_moment_leave_spent_at_least_answered(path):
    answered = 0
    for wait in (1, 3, 10):
        victim = run(BUSY, str(path))
        for _ in range(wait):
            victim.stdout.readline()
        os.kill(victim.pid, signal.SIGKILL)
        answered += wait + victim.communicate(timeout=60)[0].count("answered")
    assert Ledger.open(path).balance().spent >= answered * Fraction(1, 1000)


def test_a_ledger_in_memory_counts_too():
    ledger = Ledger.in_memory(ONE)
    assert spend(ledger, "0.5").remaining == Fraction(1, 2)
    with pytest.raises(BudgetError):
        spend(ledger, 1)


def test_reading_a_missing_ledger_creates_nothing(path):
    with pytest.raises(LedgerError, match="no ledger here"):
        Ledger.open(path)
    assert not path.exists()


FORKED = """
import os, sys
from pathlib import Path
from recuse.errors import LedgerError
from recuse.ledger import Ledger, open_or_create
from recuse.privacy import Epsilon
from support.questions import spend
one = Epsilon.of(1)
for ledger in (Ledger.in_memory(one), open_or_create(Path(sys.argv[1]), one)[0]):
    child = os.fork()
    if child == 0:
        try:
            spend(ledger, 1)
        except LedgerError:
            os._exit(7)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_forked_process_cannot_spend_the_same_budget_again(path):
    out, _ = run(FORKED, str(path)).communicate(timeout=60)
    assert out.split() == ["7", "7"]


def test_another_thread_opens_its_own(path):
    ledger, _ = open_or_create(path, ONE)
    with ThreadPoolExecutor(1) as pool:
        for use in (ledger.balance, ledger.history, lambda: spend(ledger, "0.5")):
            with pytest.raises(LedgerError, match=r"another process or thread.*connect again"):
                pool.submit(use).result()
    assert ledger.balance().spent == 0


@pytest.mark.parametrize(
    "how",
    [
        "UPDATE account SET granted = x'00ff'",
        "INSERT INTO charge (at, epsilon, query) VALUES ('', '3', ''), ('', '-3', '')",
        "INSERT INTO analyst (name, granted, spent) VALUES ('ada', '1', '1/2')",
    ],
)
def test_somebody_else_writing_into_it_is_noticed(path, how):
    open_or_create(path, ONE)[0].close()
    damage(path, how)
    with pytest.raises(LedgerError):
        Ledger.open(path)


# ------------------------------------------------------------------ analysts


def test_a_ledger_that_somebody_else_created_meanwhile_is_used(path, monkeypatch):
    """Two processes begin at once: the second finds the first's, and its grant stays."""
    link = os.link

    def late(draft, target):
        monkeypatch.setattr(os, "link", link)
        open_or_create(path, Epsilon.of(3))
        link(draft, target)

    monkeypatch.setattr(os, "link", late)
    ledger, created = open_or_create(path, ONE)
    assert (created, ledger.balance().granted) == (False, 3)
    assert [p.name for p in path.parent.iterdir() if p.suffix == ".new"] == []


class Failing:
    """A connection on which one statement fails, before or after it is done; all others are passed on."""

    def __init__(self, connection: sqlite3.Connection, statement: str, *, done: bool) -> None:
        self.connection, self.statement, self.done = connection, statement, done

    def __getattr__(self, name: str) -> object:
        return getattr(self.connection, name)

    def execute(self, sql: str, *values: object) -> sqlite3.Cursor:
        if sql.startswith(self.statement):
            if self.done:
                self.connection.execute(sql, *values)
            raise sqlite3.OperationalError("disk I/O error")
        return self.connection.execute(sql, *values)


@pytest.mark.parametrize("done", [False, True])
def test_a_commit_that_fails_is_no_charge_that_anybody_may_use(path, done):
    """Whether it was written or not, nobody gets a receipt; and the next transaction is a new one."""
    ledger, _ = open_or_create(path, ONE)
    connection = ledger._connection
    ledger._connection = Failing(connection, "COMMIT", done=done)
    with pytest.raises(LedgerError):
        spend(ledger, "1/2")
    ledger._connection = connection
    assert ledger.balance().spent == (Fraction(1, 2) if done else 0)
    spend(ledger, "1/2")


def test_damaged_pages_are_refused(path, monkeypatch):
    ledger, _ = open_or_create(path, ONE)

    class Damaged:
        @staticmethod
        def execute(sql):
            return iter_of(("*** in database main ***",)) if "quick_check" in sql else None

    def iter_of(row):
        return type("Rows", (), {"fetchone": staticmethod(lambda: row)})

    connection, ledger._connection = ledger._connection, Damaged
    with pytest.raises(sqlite3.DatabaseError, match="damaged"):
        ledger._check()
    ledger._connection = connection
