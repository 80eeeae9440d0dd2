"""The tables of a ledger, version by version: a new file is made by the steps that bring an old one up.

Amounts are exact rationals, as text. Everything here can be read with any SQLite tool.
"""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime

from recuse.privacy import Delta, Epsilon

APPLICATION = 0x52454355  # "RECU": the file says whose it is

VERSION_1 = (
    f"PRAGMA application_id = {APPLICATION}",
    """CREATE TABLE account (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        granted TEXT NOT NULL,
        spent TEXT NOT NULL
    )""",
    """CREATE TABLE charge (
        id INTEGER PRIMARY KEY,
        at TEXT NOT NULL,
        epsilon TEXT NOT NULL,
        query TEXT NOT NULL
    )""",
)

VERSION_2 = (
    "ALTER TABLE account ADD COLUMN data_version INTEGER NOT NULL DEFAULT 1",
    "ALTER TABLE charge ADD COLUMN analyst TEXT",
    "ALTER TABLE charge ADD COLUMN data_version INTEGER NOT NULL DEFAULT 1",
    "ALTER TABLE charge ADD COLUMN policy TEXT",
    "ALTER TABLE charge ADD COLUMN key TEXT",
    "ALTER TABLE charge ADD COLUMN answer TEXT",
    "CREATE INDEX asked ON charge (key)",
    "CREATE TABLE analyst (name TEXT PRIMARY KEY, granted TEXT NOT NULL, spent TEXT NOT NULL)",
    """CREATE TABLE decision (
        id INTEGER PRIMARY KEY,
        at TEXT NOT NULL,
        what TEXT NOT NULL CHECK (what IN ('grant', 'publish')),
        analyst TEXT,
        epsilon TEXT,
        data_version INTEGER NOT NULL
    )""",
)

VERSION_3 = ("ALTER TABLE charge ADD COLUMN source TEXT",)

VERSION_4 = (
    "ALTER TABLE account ADD COLUMN granted_delta TEXT NOT NULL DEFAULT '0'",
    "ALTER TABLE account ADD COLUMN spent_delta TEXT NOT NULL DEFAULT '0'",
    "ALTER TABLE analyst ADD COLUMN granted_delta TEXT NOT NULL DEFAULT '0'",
    "ALTER TABLE analyst ADD COLUMN spent_delta TEXT NOT NULL DEFAULT '0'",
    "ALTER TABLE charge ADD COLUMN delta TEXT NOT NULL DEFAULT '0'",
    "ALTER TABLE decision ADD COLUMN delta TEXT",
)
"""δ beside ε: a ledger from before has granted none"""

VERSION_5 = (
    """CREATE TABLE token (
        id TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        role TEXT NOT NULL CHECK (role IN ('analyst', 'custodian')),
        purpose TEXT NOT NULL,
        sha256 TEXT NOT NULL,
        scram TEXT NOT NULL,
        created TEXT NOT NULL,
        expires TEXT,
        revoked TEXT,
        last_used TEXT
    )""",
    """CREATE TABLE audit (
        id INTEGER PRIMARY KEY,
        at TEXT NOT NULL,
        who TEXT NOT NULL,
        what TEXT NOT NULL,
        detail TEXT NOT NULL
    )""",
    "CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit"
    " BEGIN SELECT RAISE(ABORT, 'the audit is not changed'); END",
    "CREATE TRIGGER audit_is_not_deleted BEFORE DELETE ON audit"
    " BEGIN SELECT RAISE(ABORT, 'the audit is not deleted'); END",
    "ALTER TABLE charge ADD COLUMN door TEXT",
    "ALTER TABLE decision ADD COLUMN who TEXT",
)
"""tokens for those who ask a server, and what the custodian did: lines are added, and stay"""

MIGRATIONS = (VERSION_1, VERSION_2, VERSION_3, VERSION_4, VERSION_5)
VERSION = len(MIGRATIONS)


def migrate(connection: sqlite3.Connection, version: int) -> None:
    """Bring tables of an older version (0: none) to this program's, inside the caller's transaction."""
    for step in MIGRATIONS[version:]:
        for statement in step:
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {VERSION}")


def version_of(connection: sqlite3.Connection) -> int:
    """Return the version of a ledger's tables, or refuse a file that is none of ours or newer than we are."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise sqlite3.DatabaseError("not a ledger of this program")
    if not 1 <= version <= VERSION:
        raise sqlite3.DatabaseError(f"version {version}, this program knows {VERSION}")
    return int(version)


def now() -> str:
    """Return the time as it is written down."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def lay_out(connection: sqlite3.Connection, grant: Epsilon, delta: Delta | None = None) -> None:
    """Make the tables of a new ledger, and write down what it grants."""
    connection.execute("BEGIN")
    migrate(connection, 0)
    amount, chance = str(grant.value), None if delta is None else str(delta.value)
    connection.execute(
        "INSERT INTO account (only, granted, spent, granted_delta) VALUES (1, ?, '0', ?)",
        (amount, chance or "0"),
    )
    connection.execute(
        "INSERT INTO decision (at, what, epsilon, delta, data_version) VALUES (?, 'grant', ?, ?, 1)",
        (now(), amount, chance),
    )
    connection.execute("COMMIT")
