"""The privacy budget: kept in SQLite, charged before anything is looked at, never refunded.

Amounts are exact rationals, stored as text. One charge is one transaction; two processes that race for
the last of the budget are put in order by SQLite's lock, so exactly one wins.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Literal, Self

from recuse.errors import BudgetError, LedgerError
from recuse.privacy import Epsilon, decimal_text

APPLICATION = 0x52454355  # "RECU": the file says whose it is
VERSION = 1
WAIT_SECONDS = 60.0
MALFORMED = (sqlite3.Error, TypeError, ValueError, ZeroDivisionError)
"""What reading a ledger can raise if somebody has written into it."""

SCHEMA = f"""
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {VERSION};
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
"""


@dataclass(frozen=True, slots=True)
class Balance:
    """What was granted and what has been spent, exactly."""

    granted: Fraction
    spent: Fraction

    @property
    def remaining(self) -> Fraction:
        """What may still be spent."""
        return self.granted - self.spent


@dataclass(frozen=True, slots=True)
class Charge:
    """One entry of the history."""

    at: str
    epsilon: Fraction
    query: str


class Ledger:
    """An open ledger file."""

    def __init__(self, path: Path | str, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._process = os.getpid()

    @classmethod
    def in_memory(cls, grant: Epsilon) -> Self:
        """Return a ledger that lives as long as the process: for data that has no file."""
        connection = sqlite3.connect(":memory:", isolation_level=None)
        _lay_out(connection, grant)
        return cls(":memory:", connection)

    @classmethod
    def open(cls, path: Path) -> Self:
        """Return the ledger at `path`, which must exist and be whole."""
        if not path.is_file():
            raise LedgerError(
                "there is no ledger here", found=str(path), hint="ask a first question to create it"
            )
        try:
            connection = sqlite3.connect(
                f"file:{_uri(path)}?mode=rw", uri=True, timeout=WAIT_SECONDS, isolation_level=None
            )
            connection.execute("PRAGMA synchronous = FULL")
            ledger = cls(path, connection)
            ledger._check()
        except MALFORMED as error:
            raise _unusable(path, error) from None
        return ledger

    def _check(self) -> None:
        (application,) = self._connection.execute("PRAGMA application_id").fetchone()
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        if application != APPLICATION:
            raise sqlite3.DatabaseError("not a ledger of this program")
        if version != VERSION:
            raise sqlite3.DatabaseError(f"version {version}, this program knows {VERSION}")
        if self._connection.execute("PRAGMA quick_check").fetchone() != ("ok",):
            raise sqlite3.DatabaseError("pages are damaged")
        with self._transaction("DEFERRED"):  # one snapshot: others may be charging
            charges = [charge.epsilon for charge in self.history()]
            if sum(charges, start=Fraction(0)) != self._balance().spent or min(charges, default=1) <= 0:
                raise sqlite3.DatabaseError("the charges do not add up")

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    # -------------------------------------------------------------- reading

    def balance(self) -> Balance:
        """Return what is granted, spent and left."""
        with _readable(self.path):
            return self._balance()

    def _balance(self) -> Balance:
        found = self._connection.execute("SELECT granted, spent FROM account").fetchall()
        if len(found) != 1:
            raise sqlite3.DatabaseError("the account is missing")
        balance = Balance(*map(Fraction, found[0]))
        if balance.spent < 0 or balance.remaining < 0:
            raise sqlite3.DatabaseError("the account is overdrawn")
        return balance

    def history(self) -> list[Charge]:
        """Return all charges, oldest first: what was asked and what it cost, never what was answered."""
        with _readable(self.path):
            rows = self._connection.execute("SELECT at, epsilon, query FROM charge ORDER BY id").fetchall()
            return [Charge(at, Fraction(epsilon), query) for at, epsilon, query in rows]

    # -------------------------------------------------------------- spending

    def charge(self, epsilon: Epsilon, query: str) -> Balance:
        """Return the balance after `epsilon` has been spent for good.

        Guarantee: returns only once the charge is on disk; the sum of all charges never exceeds the grant
        (docs/proofs.md, theorem R4).
        """
        with _readable(self.path), self._transaction("IMMEDIATE"):
            before = self._balance()
            if epsilon.value > before.remaining:
                raise BudgetError(
                    "the budget does not cover this question",
                    found=f"epsilon {epsilon} asked, {decimal_text(before.remaining)} left",
                    hint="ask with a smaller --epsilon"
                    if before.remaining > 0
                    else "nothing is left to spend",
                )
            after = Balance(before.granted, before.spent + epsilon.value)
            now = datetime.now(UTC).isoformat(timespec="seconds")
            self._connection.execute(
                "INSERT INTO charge (at, epsilon, query) VALUES (?, ?, ?)", (now, str(epsilon.value), query)
            )
            self._connection.execute("UPDATE account SET spent = ?", (str(after.spent),))
            return after

    @contextmanager
    def _transaction(self, kind: Literal["DEFERRED", "IMMEDIATE"]) -> Iterator[None]:
        if os.getpid() != self._process:
            raise sqlite3.ProgrammingError("it was opened before a fork; connect again in this process")
        self._connection.execute(f"BEGIN {kind}")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")


def open_or_create(path: Path, grant: Epsilon | None) -> tuple[Ledger, bool]:
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
            _lay_out(connection, grant)
            connection.close()
            os.link(draft, path)
            created = True
        except FileExistsError:  # another process was first
            created = False
        finally:
            os.unlink(draft)
    except (OSError, sqlite3.Error) as error:
        raise _unusable(path, error) from None
    return Ledger.open(path), created


def _lay_out(connection: sqlite3.Connection, grant: Epsilon) -> None:
    connection.executescript(f"BEGIN; {SCHEMA} COMMIT;")
    connection.execute("INSERT INTO account VALUES (1, ?, '0')", (str(grant.value),))


def _uri(path: Path) -> str:
    return str(path.absolute()).replace("%", "%25").replace("?", "%3f").replace("#", "%23")


@contextmanager
def _readable(path: Path | str) -> Iterator[None]:
    try:
        yield
    except MALFORMED as error:
        raise _unusable(path, error) from None


def _unusable(path: Path | str, error: Exception) -> LedgerError:
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return LedgerError(
        "the ledger cannot be used, so nothing is answered",
        found=f"{path}: {reason}",
        hint="restore it from a backup; without it nobody knows what has been spent",
    )
