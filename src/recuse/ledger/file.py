"""The ledger as a file: how SQLite opens it, and what is said when it cannot."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from recuse.errors import LedgerError

MALFORMED = (sqlite3.Error, TypeError, ValueError, ZeroDivisionError)
"""What reading a ledger can raise if somebody has written into it."""


def uri_of(path: Path) -> str:
    """Return a path as SQLite's URI has it."""
    return str(path.absolute()).replace("%", "%25").replace("?", "%3f").replace("#", "%23")


@contextmanager
def readable(path: Path | str) -> Iterator[None]:
    """Say of whatever cannot be read that the ledger is not usable."""
    try:
        yield
    except MALFORMED as error:
        raise unusable(path, error) from None


def unusable(path: Path | str, error: Exception) -> LedgerError:
    return LedgerError(
        "the ledger cannot be used, so nothing is answered",
        found=f"{reason(error)}: {path}",
        hint="restore it from a backup; without it nobody knows what has been spent",
    )


def reason(error: Exception) -> str:
    """Return why something failed, in the words of the system."""
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


@contextmanager
def appearing(path: Path) -> Iterator[str]:
    """Yield the name of a draft that becomes the file if all goes well: whole or not at all.

    It never takes the place of a file that is there: that is a `FileExistsError`.
    """
    descriptor, draft = tempfile.mkstemp(prefix=path.name, suffix=".new", dir=path.parent)
    os.close(descriptor)
    try:
        yield draft
        os.link(draft, path)
    finally:
        os.unlink(draft)


def unwritten(problem: str, path: Path, error: Exception, hint: str) -> LedgerError:
    """Return what is said of a file that cannot be written."""
    return LedgerError(problem, found=f"{reason(error)}: {path}", hint=hint)


@contextmanager
def transaction(connection: sqlite3.Connection, kind: Literal["DEFERRED", "IMMEDIATE"]) -> Iterator[None]:
    """Keep all that is done inside, or nothing of it."""
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # a COMMIT that fails may leave it open
            connection.execute("ROLLBACK")
        raise
