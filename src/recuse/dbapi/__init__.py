"""The Python database interface (DB-API 2.0, PEP 249) to private answers, for tools that speak it.

    connection = recuse.dbapi.connect("shop.duckdb", policy="shop.toml", epsilon="0.5")
    pandas.read_sql("SELECT COUNT(*) FROM orders", connection)

Every question costs the connection's ε, or what a leading comment says: `/* epsilon = 0.1 */ SELECT …`
(`/* epsilon = 0.1, delta = 1e-6 */` where groups are found). Rows
hold released values only; `Cursor.answer` has their intervals, and so have columns `_low` and `_high` of a
connection with `intervals=True`. Parameters (`?`) are written into the text as literals before it is read, so
a question with parameters is the question with their values in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os import PathLike
from typing import Any, Self

from recuse.dbapi.errors import (
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Warning,
    refusing,
)
from recuse.dbapi.records import Description, Record, described, records
from recuse.dbapi.text import bound, literal, stated_epsilon, stated_losses
from recuse.dbapi.types import (
    BINARY,
    DATETIME,
    NUMBER,
    ROWID,
    STRING,
    Binary,
    Date,
    DateFromTicks,
    Time,
    TimeFromTicks,
    Timestamp,
    TimestampFromTicks,
)
from recuse.engines.open import Source
from recuse.mechanism.mechanisms import DEFAULT
from recuse.policy import Policy
from recuse.privacy import Epsilon, NumberLike
from recuse.session.answer import Answer
from recuse.session.outward import after_charge
from recuse.session.session import Session
from recuse.session.session import connect as open_session

__all__ = [
    "BINARY",
    "DATETIME",
    "NUMBER",
    "ROWID",
    "STRING",
    "Binary",
    "Connection",
    "Cursor",
    "DataError",
    "DatabaseError",
    "Date",
    "DateFromTicks",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "NotSupportedError",
    "OperationalError",
    "ProgrammingError",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "Warning",
    "apilevel",
    "bound",
    "connect",
    "literal",
    "paramstyle",
    "stated_epsilon",
    "threadsafety",
]

apilevel = "2.0"
threadsafety = 1
"""Threads may share the module, but not connections."""
paramstyle = "qmark"


def connect(
    database: Source,
    policy: Policy | str | PathLike[str],
    ledger: str | PathLike[str] | None = None,
    epsilon: NumberLike | None = None,
    *,
    intervals: bool = False,
    mechanism: str = DEFAULT,
    analyst: str | None = None,
) -> Connection:
    """Return a connection whose questions cost `epsilon` each, unless a leading comment says otherwise."""

    def opened() -> Connection:
        loss = None if epsilon is None else Epsilon.of(epsilon)
        session = open_session(database, policy, ledger, analyst=analyst)
        return Connection(session, loss, mechanism, intervals=intervals)

    return refusing(opened)


class Connection:
    """A session with the manners of DB-API 2.0; `session` is the session itself."""

    Warning = Warning
    Error = Error
    InterfaceError = InterfaceError
    DatabaseError = DatabaseError
    DataError = DataError
    OperationalError = OperationalError
    IntegrityError = IntegrityError
    InternalError = InternalError
    ProgrammingError = ProgrammingError
    NotSupportedError = NotSupportedError

    def __init__(
        self, session: Session, epsilon: Epsilon | None, mechanism: str, *, intervals: bool = False
    ) -> None:
        self._session: Session | None = session
        self.epsilon = epsilon
        self.mechanism = mechanism
        self.intervals = intervals

    @property
    def session(self) -> Session:
        """The session behind the connection, while it is open."""
        if self._session is None:
            raise InterfaceError("the connection is closed")
        return self._session

    def cursor(self) -> Cursor:
        """Return a new cursor."""
        return Cursor(self, self.session)

    def commit(self) -> None:
        """Do nothing: an answer is charged, and final, when it is given."""
        _ = self.session

    def rollback(self) -> None:
        """Do nothing: there is no transaction, and a charge is never taken back."""
        _ = self.session

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the database and the ledger."""
        if self._session is not None:
            self._session.close()
            self._session = None


class Cursor:
    """One question at a time and the rows of its answer."""

    def __init__(self, connection: Connection, session: Session) -> None:
        self.connection = connection
        self.arraysize = 1
        self.description: list[Description] | None = None
        self.answer: Answer | None = None
        """the answer behind the rows, with intervals and what it cost"""
        self._session: Session | None = session
        self._rows: list[Record] | None = None
        self._next = 0

    @property
    def rowcount(self) -> int:
        """How many rows the answer has; -1 before there is one."""
        return -1 if self._rows is None else len(self._rows)

    def execute(self, operation: str, parameters: Sequence[Any] = ()) -> Self:
        """Ask a question and charge its ε; the rows are then fetched."""
        session = self._open()
        self.description, self.answer, self._rows, self._next = None, None, None, 0
        found = refusing(lambda: self._ask(session, operation, parameters))
        self.answer, self._rows, self.description = found
        return self

    def _ask(
        self, session: Session, operation: str, parameters: Sequence[Any]
    ) -> tuple[Answer, list[Record], list[Description]]:
        text, stated, chance = stated_losses(operation)
        loss = self.connection.epsilon if stated is None else Epsilon.of(stated)
        if loss is None:
            raise ProgrammingError(
                "what may the answer cost? connect(…, epsilon=0.5), or begin with /* epsilon = 0.5 */"
            )
        asked, mechanism = bound(text, parameters), self.connection.mechanism
        question = session.question(asked, str(loss), delta=chance, mechanism=mechanism)
        answer, columns = session.reply(question), question.plan.columns

        def fetchable() -> tuple[Answer, list[Record], list[Description]]:
            intervals = self.connection.intervals
            return (
                answer,
                records(columns, answer, intervals=intervals),
                described(columns, intervals=intervals),
            )

        return after_charge(fetchable, session.failures)

    def executemany(self, operation: str, parameters: Sequence[Sequence[Any]]) -> None:  # noqa: ARG002
        """Refuse: of several answers only the last could be fetched, and all would be paid for."""
        self._open()
        raise NotSupportedError("ask one question at a time: every one is paid for")

    def fetchone(self) -> Record | None:
        """Return the next row, or None after the last."""
        found = self.fetchmany(1)
        return found[0] if found else None

    def fetchmany(self, size: int | None = None) -> list[Record]:
        """Return the next `size` rows (`arraysize` unless said), fewer at the end."""
        rows, start = self._fetchable(), self._next
        self._next = min(len(rows), start + (self.arraysize if size is None else size))
        return rows[start : self._next]

    def fetchall(self) -> list[Record]:
        """Return all rows that are left."""
        return self.fetchmany(len(self._fetchable()))

    def __iter__(self) -> Iterator[Record]:
        while (row := self.fetchone()) is not None:
            yield row

    def setinputsizes(self, sizes: Sequence[Any]) -> None:
        """Do nothing."""

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Close the cursor; the connection stays open."""
        self._session = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self) -> Session:
        if self._session is None:
            raise InterfaceError("the cursor is closed")
        return self.connection.session

    def _fetchable(self) -> list[Record]:
        self._open()
        if self._rows is None:
            raise InterfaceError("nothing has been asked yet")
        return self._rows
