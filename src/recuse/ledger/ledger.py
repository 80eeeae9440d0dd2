"""The privacy budget: kept in SQLite, charged before anything is looked at, never refunded.

Amounts are exact rationals, stored as text. One charge is one transaction; processes that race for the last
of the budget are put in order by SQLite's lock, so the grant is never exceeded.

It is longer than other files: all that reads or writes a budget is one type, and stands in one place.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, Self

from recuse.errors import AnalystError, BudgetError, LedgerError
from recuse.ledger.backup import copy_to
from recuse.ledger.entries import (
    Act,
    Analyst,
    Balance,
    Bill,
    Charge,
    Charged,
    Decision,
    Stored,
    checked_name,
)
from recuse.ledger.file import MALFORMED, readable, transaction, unusable, uri_of
from recuse.ledger.mark import NO_CHARGES, Mark, refuse_older
from recuse.ledger.schema import VERSION, lay_out, migrate, now, version_of
from recuse.ledger.spending import (
    AMOUNTS,
    NOTHING,
    Spending,
    balance_of,
    charge_of,
    decision_of,
    refuse_overdraft,
    spent_of,
)
from recuse.ledger.tokens import SHELL, Tokens, write_down
from recuse.privacy import Delta, Epsilon, decimal_text

WAIT_SECONDS = 60.0


class Ledger:
    """An open ledger file."""

    def __init__(self, path: Path | str, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        self._home = _process_and_thread()

    @classmethod
    def in_memory(cls, grant: Epsilon, delta: Delta | None = None) -> Self:
        """Return a ledger that lives as long as the process: for data that has no file."""
        connection = sqlite3.connect(":memory:", isolation_level=None)
        lay_out(connection, grant, delta)
        return cls(":memory:", connection)

    @classmethod
    def open(cls, path: Path) -> Self:
        """Return the ledger at `path`, which must exist and be whole; an older version is brought up."""
        if not path.is_file():
            raise LedgerError(
                "there is no ledger here", found=str(path), hint="ask a first question to create it"
            )
        try:
            connection = sqlite3.connect(
                f"file:{uri_of(path)}?mode=rw", uri=True, timeout=WAIT_SECONDS, isolation_level=None
            )
            connection.execute("PRAGMA synchronous = FULL")
            ledger = cls(path, connection)
            ledger._bring_up()
            ledger._check()
        except MALFORMED as error:
            raise unusable(path, error) from None
        refuse_older(path, ledger.mark)
        return ledger

    def _bring_up(self) -> None:
        if version_of(self._connection) < VERSION:
            with self._transaction("IMMEDIATE"):
                # read again under the lock: another process may have been first
                migrate(self._connection, version_of(self._connection))

    def _check(self) -> None:
        if self._connection.execute("PRAGMA quick_check").fetchone() != ("ok",):
            raise sqlite3.DatabaseError("pages are damaged")
        with self._transaction("DEFERRED"):  # one snapshot: others may be charging
            spent: dict[str | None, Spending] = {}
            for analyst, *texts in self._rows("SELECT analyst, epsilon, delta FROM charge"):
                epsilon, delta = map(Fraction, texts)
                if epsilon <= 0 or delta < 0:
                    raise sqlite3.DatabaseError("the charges do not add up")
                before = spent.get(analyst, NOTHING)
                spent[analyst] = before[0] + epsilon, before[1] + delta
            named = {found.name: spent_of(found.balance) for found in self._analysts()}
            charged = {name: amount for name, amount in spent.items() if name is not None}
            if charged != {name: amount for name, amount in named.items() if amount != NOTHING}:
                raise sqlite3.DatabaseError("the charges do not add up")
            together = tuple(sum(amounts, start=Fraction(0)) for amounts in zip(*spent.values(), strict=True))
            if (together or NOTHING) != spent_of(self._account()[0]):
                raise sqlite3.DatabaseError("the charges do not add up")

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    # -------------------------------------------------------------- reading

    def balance(self, analyst: str | None = None) -> Balance:
        """Return what is granted, spent and left: of the database, or of one analyst."""
        with readable(self.path):
            return self._account()[0] if analyst is None else self._analyst(analyst).balance

    def data_version(self) -> int:
        """Return the number of the data's present state, which only the custodian raises."""
        with readable(self.path):
            return self._account()[1]

    def analysts(self) -> list[Analyst]:
        """Return the analysts whom the custodian has named, by name."""
        with readable(self.path):
            return self._analysts()

    def history(self) -> list[Charge]:
        """Return all charges, oldest first: what was asked, what it cost, what was let out."""
        with readable(self.path):
            rows = self._rows(
                "SELECT at, epsilon, query, analyst, data_version, policy, answer, source, delta, door"
                " FROM charge ORDER BY id"
            )
            return list(map(charge_of, rows))

    def charges(self, analyst: str | None, before: int, most: int) -> list[tuple[int, Charge]]:
        """Return the newest charges of an analyst (None: of all) below a number, each with its number."""
        with readable(self.path):
            rows = self._rows(
                "SELECT id, at, epsilon, query, analyst, data_version, policy, answer, source, delta, door"
                " FROM charge WHERE id < ? AND (? IS NULL OR analyst = ?) ORDER BY id DESC LIMIT ?",
                *(before, analyst, analyst, most),
            )
            return [(int(number), charge_of(row)) for number, *row in rows]

    def decisions(self) -> list[Decision]:
        """Return what the custodian has decided, oldest first; the first grant is the policy's."""
        with readable(self.path):
            rows = self._rows(
                "SELECT at, what, analyst, epsilon, data_version, delta, who FROM decision ORDER BY id"
            )
            return list(map(decision_of, rows))

    def audit(self) -> list[Act]:
        """Return what custodians did, oldest first: grants, publications, tokens, backups."""
        with readable(self.path):
            return [Act(*row) for row in self._rows("SELECT at, who, what, detail FROM audit ORDER BY id")]

    def tokens(self) -> Tokens:
        """Return the tokens by which a server knows who asks."""
        self._stay()
        return Tokens(self.path, self._connection)

    def mark(self, after: Mark = NO_CHARGES, most: int = -1) -> Mark:
        """Return the mark of all charges, or of the first so many; `after` is one that was made before."""
        with readable(self.path):
            rows = self._rows(
                "SELECT at, epsilon, query, key, analyst, delta FROM charge ORDER BY id LIMIT ? OFFSET ?",
                *(most if most < 0 else most - after.charges, after.charges),
            )
            return after.extended(rows)

    def backup(self, copy: Path, who: str = SHELL) -> None:
        """Write the ledger as it is now into a new file, while others may charge; only its owner reads it."""
        with readable(self.path), self._transaction("IMMEDIATE"):
            write_down(self._connection, who, "backup", copy.name)
        self._stay()
        copy_to(self._connection, copy)

    def _rows(self, sql: str, *values: object) -> list[Any]:
        self._stay()
        return self._connection.execute(sql, values).fetchall()

    def _account(self) -> tuple[Balance, int]:
        found = self._rows(f"SELECT {AMOUNTS}, data_version FROM account")
        if len(found) != 1:
            raise sqlite3.DatabaseError("the account is missing")
        *amounts, version = found[0]
        return balance_of(*amounts), int(version)

    def _analysts(self) -> list[Analyst]:
        rows = self._rows(f"SELECT name, {AMOUNTS} FROM analyst ORDER BY name")
        return [Analyst(name, balance_of(*amounts)) for name, *amounts in rows]

    def _analyst(self, name: str) -> Analyst:
        found = [analyst for analyst in self._analysts() if analyst.name == name]
        if not found:
            raise AnalystError(
                "the custodian has named no such analyst", found=name, hint="a grant to an analyst names one"
            )
        return found[0]

    # -------------------------------------------------------------- spending

    def charge(self, question: Bill) -> Charged | Stored:
        """Return the stored answer to the same question, or the charge for a new one: spent for good.

        Two processes that ask the same at once both pay, unless one has stored its answer before the other
        comes: there is never a second draw of noise that nobody paid for.

        Guarantee: a charge is on disk before this returns; the sum of all charges never exceeds the grant,
        nor an analyst's sum the analyst's (proofs.md, theorem R4). What is stored was released before.
        """
        with readable(self.path), self._transaction("IMMEDIATE"):
            before, version = self._account()
            own = self._payer(question.analyst)
            remaining = before.remaining if own is None else min(own.balance.remaining, before.remaining)
            if stored := self._stored(question, remaining, version):
                return stored
            epsilon = question.epsilon.value
            delta = Fraction(0) if question.delta is None else question.delta.value
            refuse_overdraft(question, before, own)
            cursor = self._connection.execute(
                "INSERT INTO charge"
                " (at, epsilon, query, analyst, data_version, policy, key, source, delta, door)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    now(),
                    str(epsilon),
                    question.text,
                    question.analyst,
                    version,
                    question.policy,
                    question.key,
                    question.source,
                    str(delta),
                    question.door,
                ),
            )
            self._connection.execute(
                "UPDATE account SET spent = ?, spent_delta = ?",
                (str(before.spent + epsilon), str(before.spent_delta + delta)),
            )
            if own is not None:
                mine = own.balance
                self._connection.execute(
                    "UPDATE analyst SET spent = ?, spent_delta = ? WHERE name = ?",
                    (str(mine.spent + epsilon), str(mine.spent_delta + delta), own.name),
                )
            return Charged(int(cursor.lastrowid or 0), remaining - epsilon, version)

    def store(self, charged: Charged, answer: str) -> None:
        """Write down what a charge was answered with, before anybody sees it. It is never replaced."""
        with readable(self.path), self._transaction("IMMEDIATE"):
            self._connection.execute(
                "UPDATE charge SET answer = ? WHERE id = ? AND answer IS NULL", (answer, charged.number)
            )

    def stored(self, question: Bill) -> Stored | None:
        """Return the answer that the same question had before; None if it has to be charged, and could be.

        Nothing is charged; what is not covered is refused.
        """
        with readable(self.path), self._transaction("DEFERRED"):
            before, version = self._account()
            own = self._payer(question.analyst)
            remaining = before.remaining if own is None else min(own.balance.remaining, before.remaining)
            found = self._stored(question, remaining, version)
            if found is None:
                refuse_overdraft(question, before, own)
            return found

    def _stored(self, question: Bill, remaining: Fraction, version: int) -> Stored | None:
        rows = self._rows(
            "SELECT answer FROM charge WHERE key = ? AND source = ? AND data_version = ?"
            " AND analyst IS ? AND answer IS NOT NULL ORDER BY id LIMIT 1",
            *(question.key, question.source, version, question.analyst),
        )
        return Stored(rows[0][0], remaining, version) if rows else None

    def _payer(self, name: str | None) -> Analyst | None:
        """Return the analyst who asks: once the custodian has named one, every question says whose it is."""
        if name is not None:
            return self._analyst(name)
        if self._analysts():
            raise AnalystError(
                "this ledger has analysts, and the question does not say whose it is",
                hint="name the analyst who asks; the custodian can be one too",
            )
        return None

    # -------------------------------------------------------------- the custodian

    def grant(
        self, epsilon: Epsilon, analyst: str | None = None, delta: Delta | None = None, who: str = SHELL
    ) -> Balance:
        """Return the balance after the limit of the database, or of an analyst, has been set to `epsilon`.

        The whole limit is named, so that granting twice grants no more. It cannot fall below what is spent.
        Without `delta` the limit of δ stays as it is: none at first.
        """
        with readable(self.path), self._transaction("IMMEDIATE"):
            if analyst is None:
                (before, version), what = self._account(), "UPDATE account SET granted = ?, granted_delta = ?"
            else:
                known = {found.name: found.balance for found in self._analysts()}
                before = known.get(checked_name(analyst), Balance(Fraction(0), Fraction(0)))
                _, version = self._account()
                what = (
                    "INSERT INTO analyst (name, granted, spent, granted_delta) VALUES (?3, ?1, '0', ?2)"
                    " ON CONFLICT (name) DO UPDATE SET granted = ?1, granted_delta = ?2"
                )
            if epsilon.value < before.spent:
                raise BudgetError(
                    "more than this has been spent already",
                    found=f"a limit of {epsilon}, {decimal_text(before.spent)} spent",
                    hint=f"{decimal_text(before.spent)} stops all further questions",
                )
            chance = before.granted_delta if delta is None else delta.value
            if chance < before.spent_delta:
                raise BudgetError(
                    "more delta than this has been spent already",
                    found=f"a limit of {decimal_text(chance)}, {decimal_text(before.spent_delta)} spent",
                )
            values = [str(epsilon.value), str(chance)]
            self._connection.execute(what, values if analyst is None else [*values, analyst])
            self._decide("grant", analyst, epsilon, version, delta, who=who)
            return replace(before, granted=epsilon.value, granted_delta=chance)

    def publish(self, who: str = SHELL) -> int:
        """Return the new data version: the custodian says that the data has changed.

        Answers of earlier versions stay in the history and are not given again.
        """
        with readable(self.path), self._transaction("IMMEDIATE"):
            version = self._account()[1] + 1
            self._connection.execute("UPDATE account SET data_version = ?", (version,))
            self._decide("publish", None, None, version, who=who)
            return version

    def _decide(
        self,
        what: str,
        analyst: str | None,
        epsilon: Epsilon | None,
        version: int,
        delta: Delta | None = None,
        *,
        who: str,
    ) -> None:
        losses = [None if loss is None else str(loss.value) for loss in (epsilon, delta)]
        self._connection.execute(
            "INSERT INTO decision (at, what, analyst, epsilon, delta, data_version, who)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (now(), what, analyst, *losses, version, who),
        )
        said = [("analyst", analyst), *zip(("epsilon", "delta"), losses, strict=True), ("version", version)]
        write_down(self._connection, who, what, ", ".join(f"{name} {value}" for name, value in said if value))

    def _stay(self) -> None:
        """Refuse to be used elsewhere: a connection that a fork has copied could spend a budget twice."""
        if _process_and_thread() != self._home:
            raise LedgerError(
                "the ledger was opened in another process or thread, so nothing is answered",
                hint="connect again in this one",
            )

    @contextmanager
    def _transaction(self, kind: Literal["DEFERRED", "IMMEDIATE"]) -> Iterator[None]:
        self._stay()
        with transaction(self._connection, kind):
            yield


def _process_and_thread() -> tuple[int, int]:
    return os.getpid(), threading.get_ident()
