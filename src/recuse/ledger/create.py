"""A new ledger: its file appears whole or not at all, and never in place of one that is there."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from pathlib import Path

from recuse.errors import LedgerError
from recuse.ledger.file import reason
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
        descriptor, draft = tempfile.mkstemp(prefix=path.name, suffix=".new", dir=path.parent)
        os.close(descriptor)
        try:
            connection = sqlite3.connect(draft, isolation_level=None)
            connection.execute("PRAGMA journal_mode = WAL")
            lay_out(connection, grant, delta)
            connection.close()
            os.link(draft, path)
            created = True
        except FileExistsError:  # another process was first
            created = False
        finally:
            os.unlink(draft)
    except (OSError, sqlite3.Error) as error:
        raise LedgerError(
            "the ledger cannot be created, so nothing is answered",
            found=f"{reason(error)}: {path}",
            hint="name a file in a folder that is there and that you may write to",
        ) from None
    return Ledger.open(path), created
