"""A ledger that version 0.1 wrote, word for word: it opens, migrates, and keeps its history."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest

import recuse
from recuse.ledger import Ledger
from recuse.ledger.schema import VERSION

WRITTEN = (Path(__file__).parent / "version_3.sql").read_text()
POLICY = """
[[protect]]
table = "customer"
key = ["id"]
[[link]]
table = "orders"
column = ["customer"]
to = "customer"
[budget]
epsilon = 4
"""


@pytest.fixture
def shop(tmp_path):
    """The database of which the ledger was written, and the ledger beside it."""
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(path) as made:
        made.execute("CREATE TABLE customer AS SELECT range::INTEGER AS id FROM range(40)")
        made.execute("ALTER TABLE customer ADD PRIMARY KEY (id)")
        made.execute("CREATE TABLE orders AS SELECT range::INTEGER AS id, (range % 40)::INTEGER AS customer"
                     " FROM range(120)")  # fmt: skip
    with closing(sqlite3.connect(tmp_path / "shop.duckdb.ledger")) as ledger:
        ledger.executescript(WRITTEN)
    return path


def first_answers(ledger):
    return [json.loads(charge.answer)["value"] for charge in ledger.history()[:2]]


def test_it_opens_and_is_brought_up(shop):
    with closing(sqlite3.connect(f"{shop}.ledger")) as before:
        assert before.execute("PRAGMA user_version").fetchone() == (3,)
    ledger = Ledger.open(Path(f"{shop}.ledger"))
    assert (ledger.balance().granted, ledger.balance().spent) == (4, Fraction(3, 2))
    assert first_answers(ledger) == ["133", "42"]
    assert [charge.delta for charge in ledger.history()] == [0, 0]
    ledger.close()
    with closing(sqlite3.connect(f"{shop}.ledger")) as after:
        assert after.execute("PRAGMA user_version").fetchone() == (VERSION,)


def test_what_was_stored_stays_in_the_history_and_is_not_given_as_todays(shop):
    """Keys name what a question means, and the version of the program that answers: 0.1's are other keys."""
    with recuse.connect(shop, recuse.Policy.parse(POLICY)) as session:
        session.ask("SELECT COUNT(*) FROM orders", 1)
        assert session.budget.spent == Fraction(5, 2)
        session.ask("SELECT COUNT(1) AS n FROM orders o", 1)
        assert session.budget.spent == Fraction(5, 2), "asked before, today"
        assert first_answers(session.ledger) == ["133", "42"]
        assert len(session.ledger.history()) == 3
