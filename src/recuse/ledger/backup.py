"""Copies of a ledger: made while others charge, and put back without forgetting what was spent since."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from fractions import Fraction
from pathlib import Path

from recuse.ledger.file import appearing, unwritten


def copy_to(connection: sqlite3.Connection, path: Path) -> None:
    """Write the whole of an open ledger into a new file, which appears whole or not at all."""
    try:
        with appearing(path) as draft, closing(sqlite3.connect(draft)) as target:
            connection.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")
    except (OSError, sqlite3.Error) as error:
        hint = "name a file that is not there yet, in a folder that you may write to"
        raise unwritten("the copy cannot be written", path, error, hint) from None


def charge_lost(
    connection: sqlite3.Connection, analyst: str | None, epsilon: Fraction, delta: Fraction, at: str
) -> None:
    """Write down what was spent after a copy was made, as one charge; a limit that is below it grows to it.

    Guarantee: what is left is no more than before the ledger was lost (proofs.md, theorem R4).
    """
    connection.execute(
        "INSERT INTO charge (at, epsilon, query, analyst, data_version, delta)"
        " SELECT ?, ?, 'charges that were lost with the ledger', ?, data_version, ? FROM account",
        (at, str(epsilon), analyst, str(delta)),
    )
    _spend(connection, "account", "only = ?", 1, epsilon, delta)
    if analyst is not None:
        _spend(connection, "analyst", "name = ?", analyst, epsilon, delta)


def _spend(
    connection: sqlite3.Connection, table: str, which: str, key: str | int, epsilon: Fraction, delta: Fraction
) -> None:
    (row,) = connection.execute(
        f"SELECT granted, spent, granted_delta, spent_delta FROM {table} WHERE {which}", (key,)
    ).fetchall()
    granted, spent, granted_delta, spent_delta = map(Fraction, row)
    spent, spent_delta = spent + epsilon, spent_delta + delta
    limits = max(granted, spent), spent, max(granted_delta, spent_delta), spent_delta
    connection.execute(
        f"UPDATE {table} SET granted = ?, spent = ?, granted_delta = ?, spent_delta = ? WHERE {which}",
        (*map(str, limits), key),
    )
