"""Versions of the ledger: an old file is brought up whole or not at all, a later one refused."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from fractions import Fraction

import pytest

from recuse.errors import LedgerError
from recuse.ledger import Balance, Charged, Ledger, open_or_create, schema
from recuse.privacy import Epsilon
from support.questions import question

ONE = Epsilon.of(1)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "shop.ledger"


VERSION_1 = """
PRAGMA application_id = 1380270933;
PRAGMA user_version = 1;
CREATE TABLE account (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    granted TEXT NOT NULL,
    spent TEXT NOT NULL
);
CREATE TABLE charge (
    id INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    epsilon TEXT NOT NULL,
    query TEXT NOT NULL
);
INSERT INTO account VALUES (1, '2', '5/6');
INSERT INTO charge VALUES (1, '2026-01-02T03:04:05+00:00', '1/2', 'SELECT COUNT(*) FROM a');
INSERT INTO charge VALUES (2, '2026-01-02T03:04:06+00:00', '1/3', 'SELECT COUNT(*) FROM b');
"""
"""What the first version of the program wrote, word for word."""


def tables(path):
    with closing(sqlite3.connect(path)) as connection:
        columns = 'SELECT m.name, c.name, c.type, c."notnull", c.dflt_value, c.pk FROM sqlite_master m'
        return connection.execute(columns + ", pragma_table_info(m.name) c ORDER BY 1, 2").fetchall()


def declare(path, version):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")


def test_a_ledger_of_version_1_is_brought_up(path, tmp_path):
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(VERSION_1)
    ledger, created = open_or_create(path, ONE)
    assert (created, ledger.balance()) == (False, Balance(Fraction(2), Fraction(5, 6)))
    assert [(c.query, c.epsilon, c.answer) for c in ledger.history()] == [
        ("SELECT COUNT(*) FROM a", Fraction(1, 2), None),
        ("SELECT COUNT(*) FROM b", Fraction(1, 3), None),
    ]
    ledger.store(ledger.charge(question("1/6", key="k")), "yes")
    ledger.grant(Epsilon.of("0.5"), "ada")
    ledger.close()
    again = Ledger.open(path)
    assert again.balance().remaining == 1
    new = tmp_path / "new.ledger"
    open_or_create(new, ONE)
    assert tables(path) == tables(new), "an old file and a new one have the same tables"


VERSION_2 = f"""
{VERSION_1}
{";".join(schema.VERSION_2)};
UPDATE charge SET key = 'k', answer = 'of some data';
PRAGMA user_version = 2;
"""


def test_an_answer_that_does_not_say_of_what_is_not_given_again(path):
    """Before version 3 a ledger did not know its sources: whose answer it is cannot be told any more."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(VERSION_2)
    ledger = Ledger.open(path)
    assert [(charge.answer, charge.source) for charge in ledger.history()] == [("of some data", None)] * 2
    assert isinstance(ledger.charge(question("1/6", key="k")), Charged)
    assert [charge.source for charge in ledger.history()] == [None, None, ""]


def test_a_migration_that_fails_changes_nothing(path, monkeypatch):
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(VERSION_1)
    before = tables(path)
    with monkeypatch.context() as broken:
        broken.setattr(
            schema, "MIGRATIONS", (*schema.MIGRATIONS[:1], (*schema.VERSION_2[:5], "CREATE nonsense"))
        )
        with pytest.raises(LedgerError, match="cannot be used"):
            Ledger.open(path)
    assert tables(path) == before
    assert Ledger.open(path).balance().spent == Fraction(5, 6)


def test_many_may_bring_it_up_at_once(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("PRAGMA journal_mode = WAL;" + VERSION_1)
    with ThreadPoolExecutor(8) as pool:
        spent = list(pool.map(lambda _: Ledger.open(path).balance().spent, range(16)))
    assert set(spent) == {Fraction(5, 6)}


def test_a_later_version_is_refused(path):
    open_or_create(path, ONE)
    later = schema.VERSION + 1
    declare(path, later)
    with pytest.raises(LedgerError, match=f"version {later}, this program knows {schema.VERSION}"):
        Ledger.open(path)
    declare(path, 0)
    with pytest.raises(LedgerError, match="version 0"):
        Ledger.open(path)


@pytest.mark.parametrize("version", range(1, schema.VERSION))
def test_a_ledger_of_every_earlier_version_opens_and_can_be_charged(path, tmp_path, version):
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(VERSION_1)
        for step in schema.MIGRATIONS[1:version]:
            for statement in step:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {version}")
        connection.commit()
    ledger = Ledger.open(path)
    ledger.charge(question("1/6"))
    assert (ledger.balance().spent, ledger.audit(), ledger.tokens().all()) == (1, [], [])
    assert [charge.door for charge in ledger.history()] == [None] * 3
    new = tmp_path / "new.ledger"
    open_or_create(new, ONE)
    assert tables(path) == tables(new)
