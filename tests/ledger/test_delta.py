"""δ beside ε: granted, charged exactly, never exceeded; a ledger from before has none."""

from __future__ import annotations

import os
import sqlite3
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from recuse.errors import BudgetError, LedgerError
from recuse.ledger import Charged, Ledger, Stored, open_or_create, schema
from recuse.privacy import Delta, Epsilon
from support.questions import question

TEN = Epsilon.of(10)
MILLIONTH = Delta.of("1e-6")


def paid(key: str, delta: Delta | None = MILLIONTH):
    return replace(question("1", key=key), delta=delta)


def test_delta_is_charged_exactly_and_what_is_stored_is_free():
    ledger = Ledger.in_memory(TEN, Delta.of("3e-6"))
    first = ledger.charge(paid("a"))
    assert isinstance(first, Charged)
    ledger.store(first, "yes")
    assert isinstance(ledger.charge(paid("a")), Stored)
    ledger.charge(paid("b"))
    ledger.charge(paid("c", None))
    balance = ledger.balance()
    assert (balance.spent, balance.spent_delta) == (3, Fraction(2, 10**6))
    assert balance.remaining_delta == Fraction(1, 10**6)
    assert [charge.delta for charge in ledger.history()] == [MILLIONTH.value, MILLIONTH.value, 0]


def test_a_ledger_that_grants_no_delta_refuses_it_and_charges_nothing():
    ledger = Ledger.in_memory(TEN)
    with pytest.raises(BudgetError, match="delta"):
        ledger.charge(paid("a"))
    assert ledger.balance().spent == 0
    assert isinstance(ledger.charge(paid("a", None)), Charged)


def test_an_analysts_delta_is_a_limit_of_its_own():
    ledger = Ledger.in_memory(TEN, Delta.of("1e-3"))
    ledger.grant(Epsilon.of(5), "ada", MILLIONTH)
    ledger.grant(Epsilon.of(5), "bob")
    ledger.charge(replace(paid("a"), analyst="ada"))
    for name, key in (("ada", "b"), ("bob", "c")):
        with pytest.raises(BudgetError, match=f"left to {name}"):
            ledger.charge(replace(paid(key), analyst=name))
    assert ledger.balance("ada").remaining_delta == 0


def test_a_limit_of_delta_is_set_and_does_not_fall_below_what_is_spent():
    ledger = Ledger.in_memory(TEN, Delta.of("2e-6"))
    ledger.charge(paid("a"))
    assert ledger.grant(TEN).granted_delta == Fraction(2, 10**6)
    assert ledger.grant(TEN, delta=MILLIONTH).remaining_delta == 0
    with pytest.raises(BudgetError, match="delta"):
        ledger.grant(TEN, delta=Delta.of("1e-7"))
    assert [decision.delta for decision in ledger.decisions()] == [
        Fraction(2, 10**6),
        None,
        Fraction(1, 10**6),
    ]


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_ledger_of_every_older_version_is_brought_up_and_grants_no_delta(version, tmp_path, monkeypatch):
    path = tmp_path / "old.ledger"
    with monkeypatch.context() as old:
        old.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:version])
        old.setattr(schema, "VERSION", version)

        connection = sqlite3.connect(path, isolation_level=None)
        schema.migrate(connection, 0)
        connection.execute("INSERT INTO account (only, granted, spent) VALUES (1, '10', '0')")
        connection.close()
    ledger = Ledger.open(path)
    assert (ledger.balance().granted, ledger.balance().granted_delta) == (10, 0)
    with pytest.raises(BudgetError, match="delta"):
        ledger.charge(paid("a"))
    ledger.grant(TEN, delta=MILLIONTH)
    assert isinstance(ledger.charge(paid("a")), Charged)
    ledger.close()
    assert Ledger.open(path).balance().remaining_delta == 0


def test_a_charge_that_was_changed_in_the_file_is_noticed(tmp_path):
    path = tmp_path / "a.ledger"
    ledger, _ = open_or_create(path, TEN, Delta.of("1e-3"))
    ledger.charge(paid("a"))
    ledger.close()

    connection = sqlite3.connect(path)
    connection.execute("UPDATE charge SET delta = '0'")
    connection.commit()
    connection.close()
    with pytest.raises(LedgerError, match="do not add up"):
        Ledger.open(path)


def raced(path: Path, charge) -> int:
    """Return how many of several processes that ask at once are charged."""
    children = []
    for place in range(4):
        if not (process := os.fork()):
            try:
                charge(path, place)
            except BudgetError:
                os._exit(1)
            except BaseException:
                os._exit(2)
            os._exit(0)
        children.append(process)
    codes = [os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process in children]
    assert set(codes) <= {0, 1}
    return codes.count(0)


def test_of_processes_that_race_for_the_last_delta_one_wins(tmp_path):
    path = tmp_path / "race.ledger"
    made, _ = open_or_create(path, TEN, MILLIONTH)
    made.close()

    def charge(path: Path, place: int) -> None:
        Ledger.open(path).charge(paid(f"k{place}"))

    assert raced(path, charge) == 1
    assert Ledger.open(path).balance().remaining_delta == 0


def test_the_twin_that_does_not_charge_delta_is_caught(tmp_path):
    """Broken: the bill leaves δ out. Then all win, and the ledger says that none was spent."""
    path = tmp_path / "race.ledger"
    made, _ = open_or_create(path, TEN, MILLIONTH)
    made.close()

    def charge(path: Path, place: int) -> None:
        Ledger.open(path).charge(paid(f"k{place}", None))

    assert raced(path, charge) == 4
    assert Ledger.open(path).balance().spent_delta == 0
