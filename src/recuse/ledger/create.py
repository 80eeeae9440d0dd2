"""A new ledger: its file appears whole or not at all, and never in place of one that is there."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from recuse.errors import LedgerError
from recuse.ledger.file import appearing, unwritten
from recuse.ledger.ledger import Ledger
from recuse.ledger.schema import lay_out
from recuse.privacy import Delta, Epsilon


def open_or_create(path: Path, grant: Epsilon | None, delta: Delta | None = None) -> tuple[Ledger, bool]:
    """Return the ledger at `path` and whether it was created now, from the policy's budget.

    A new file appears whole or not at all, and never in place of one that is there.
    """
    if path.exists():
        return Ledger.open(path), False
    if grant is None:
        raise LedgerError(
            "a new ledger needs a budget, and the policy names none",
            found=str(path),
            hint="add to the policy: [budget] and below it epsilon = 10",
        )
    try:
        with appearing(path) as draft:
            connection = sqlite3.connect(draft, isolation_level=None)
            connection.execute("PRAGMA journal_mode = WAL")
            lay_out(connection, grant, delta)
            connection.close()
    except FileExistsError:  # another process was first
        return Ledger.open(path), False
    except (OSError, sqlite3.Error) as error:
        hint = "name a file in a folder that is there and that you may write to"
        raise unwritten("the ledger cannot be created, so nothing is answered", path, error, hint) from None
    return Ledger.open(path), True
