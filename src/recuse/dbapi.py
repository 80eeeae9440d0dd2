"""The Python database interface (DB-API 2.0, PEP 249) to private answers, for tools that speak it.

    connection = recuse.dbapi.connect("shop.duckdb", policy="shop.toml", epsilon="0.5")
    pandas.read_sql("SELECT COUNT(*) FROM orders", connection)

Every question costs the connection's ε, or what a leading comment says: `/* epsilon = 0.1 */ SELECT …`. Rows
hold released values only; `Cursor.answer` has their intervals. Parameters (`?`) are written into the text
as literals before it is read, so a question with parameters is the question with their values in it.
"""

from __future__ import annotations

import datetime
import re
import time
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from os import PathLike
from types import TracebackType
from typing import Any, Self

from sqlglot import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from recuse.engines.duckdb import Source
from recuse.errors import DatabaseError as CannotOpen
from recuse.errors import LedgerError, RecuseError
from recuse.mechanism.mechanisms import DEFAULT
from recuse.mechanism.release import Release, nearest
from recuse.policy import Policy
from recuse.privacy import Epsilon, Number
from recuse.session import Session
from recuse.session import connect as open_session
from recuse.session.answer import Answer
from recuse.sql.read import Key, Shown

apilevel = "2.0"
threadsafety = 1
"""Threads may share the module, but not connections."""
paramstyle = "qmark"


# ------------------------------------------------------------------ the tree of errors


class Warning(Exception):  # noqa: N818 - the names are PEP 249's
    """Never raised; the interface asks for it."""


class Error(Exception):
    """Everything that this interface raises."""


class InterfaceError(Error):
    """The interface was misused, such as a closed cursor."""


class DatabaseError(Error):
    """The question was not answered."""


class DataError(DatabaseError):
    """Never raised: no error depends on data."""


class OperationalError(DatabaseError):
    """The database or the ledger cannot be used, or the budget is spent."""


class IntegrityError(DatabaseError):
    """Never raised: nothing is written."""


class InternalError(DatabaseError):
    """Never raised."""


class ProgrammingError(DatabaseError):
    """The SQL, the policy or a parameter is refused."""


class NotSupportedError(DatabaseError):
    """What a private database cannot do: write, or take a charge back."""


class _Refusals:
    """Turns our refusals into those of the interface, with the same one line."""

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, CannotOpen | LedgerError):
            raise OperationalError(str(error)) from error
        if isinstance(error, RecuseError):
            raise ProgrammingError(str(error)) from error


# ------------------------------------------------------------------ types


class _Type:
    """A group of column types that compares equal to each of its members."""

    def __init__(self, name: str, *kinds: type) -> None:
        self.name = name
        self.kinds = kinds

    def __repr__(self) -> str:
        return self.name


STRING = _Type("STRING", str)
BINARY = _Type("BINARY", bytes)
NUMBER = _Type("NUMBER", bool, int, float, Decimal, Fraction)
DATETIME = _Type("DATETIME", datetime.date, datetime.time, datetime.timedelta)
ROWID = _Type("ROWID")

Date = datetime.date
Time = datetime.time
Timestamp = datetime.datetime
Binary = bytes


def DateFromTicks(ticks: float) -> datetime.date:  # noqa: N802
    """Return the local date at some seconds after the epoch."""
    return Date(*time.localtime(ticks)[:3])


def TimeFromTicks(ticks: float) -> datetime.time:  # noqa: N802
    """Return the local time of day at some seconds after the epoch."""
    return Time(*time.localtime(ticks)[3:6])


def TimestampFromTicks(ticks: float) -> datetime.datetime:  # noqa: N802
    """Return the local date and time at some seconds after the epoch."""
    return Timestamp(*time.localtime(ticks)[:6])


# ------------------------------------------------------------------ the text of a question

_LEADING = re.compile(r"\s*/\*\s*epsilon\s*=\s*([^\s*]+)\s*\*/", re.IGNORECASE)
_DUCKDB = Dialect.get_or_raise("duckdb")


def stated_epsilon(sql: str) -> tuple[str, str | None]:
    """Return the question with blanks in place of its leading comment, and the ε that the comment states.

    >>> stated_epsilon("/* epsilon = 0.5 */ SELECT 1")
    ('                    SELECT 1', '0.5')
    """
    found = _LEADING.match(sql)
    if found is None:
        return sql, None
    return " " * found.end() + sql[found.end() :], found[1]


def bound(sql: str, parameters: Sequence[Any]) -> str:
    """Return the question with every `?` replaced by the literal of its parameter.

    >>> bound("SELECT COUNT(*) FROM t WHERE a = ? AND b <> '?'", ["O'Neill"])
    "SELECT COUNT(*) FROM t WHERE a = 'O''Neill' AND b <> '?'"
    """
    if not parameters:
        return sql
    try:
        places = [t.start for t in _DUCKDB.tokenize(sql) if t.token_type is TokenType.PLACEHOLDER]
    except (SqlglotError, RecursionError, ValueError, IndexError):
        raise ProgrammingError("the text cannot be split into words") from None
    if len(places) != len(parameters) or isinstance(parameters, str | bytes):
        raise ProgrammingError(
            f"the question has {len(places)} marks (?), and there are {len(parameters)} parameters"
        )
    pieces, end = [], 0
    for place, value in zip(places, parameters, strict=True):
        pieces += [sql[end:place], literal(value)]
        end = place + 1
    return "".join([*pieces, sql[end:]])


def literal(value: Any) -> str:
    """Return a value as SQL writes it."""
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).upper()
        case int():
            return str(value) if value >= 0 else f"({value})"
        case Decimal() | float() if Decimal(value).is_finite():
            text = format(Decimal(repr(value)) if isinstance(value, float) else value, "f")
            return text if not text.startswith("-") else f"({text})"
        case str() if "\0" not in value:
            return "'" + value.replace("'", "''") + "'"
        case datetime.datetime() if value.tzinfo is None:
            return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
        case datetime.date() if not isinstance(value, datetime.datetime):
            return f"DATE '{value.isoformat()}'"
    raise ProgrammingError(
        f"a parameter of type {type(value).__name__} cannot be written into a question: "
        "None, bool, int, float, Decimal, str, date and datetime can"
    )


# ------------------------------------------------------------------ connections and cursors


def connect(
    database: Source,
    policy: Policy | str | PathLike[str],
    ledger: str | PathLike[str] | None = None,
    epsilon: Number | None = None,
    *,
    analyst: str | None = None,
    mechanism: str = DEFAULT,
) -> Connection:
    """Return a connection whose questions cost `epsilon` each, unless a leading comment says otherwise."""
    with _Refusals():
        loss = None if epsilon is None else Epsilon.of(epsilon)
        return Connection(open_session(database, policy, ledger, analyst=analyst), loss, mechanism)


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

    def __init__(self, session: Session, epsilon: Epsilon | None, mechanism: str) -> None:
        self._session: Session | None = session
        self.epsilon = epsilon
        self.mechanism = mechanism

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
        """Refuse: what has been answered cannot be taken back, and no charge is refunded."""
        _ = self.session
        raise NotSupportedError("a charge is never taken back")

    def close(self) -> None:
        """Close the database and the ledger."""
        if self._session is not None:
            self._session.close()
            self._session = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


Description = tuple[str, _Type, None, None, None, None, None]
Record = tuple[Any, ...]


class Cursor:
    """One question at a time and the rows of its answer."""

    def __init__(self, connection: Connection, session: Session) -> None:
        self.connection = connection
        self.arraysize = 1
        self.description: list[Description] | None = None
        self.answer: Release | Answer | None = None
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
        with _Refusals():
            text, stated = stated_epsilon(operation)
            loss = self.connection.epsilon if stated is None else Epsilon.of(stated)
            if loss is None:
                raise ProgrammingError(
                    "what may the answer cost? connect(…, epsilon=0.5), or begin with /* epsilon = 0.5 */"
                )
            text = bound(text, parameters)
            columns = session.compile(text).columns
            answer = session.ask(text, str(loss), mechanism=self.connection.mechanism)
        self.answer = answer
        self._rows = records(columns, answer)
        self.description = [
            (shown.name, _type(shown, [row[place] for row in self._rows]), None, None, None, None, None)
            for place, shown in enumerate(columns)
        ]
        return self

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

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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


def records(columns: Sequence[Shown], answer: Release | Answer) -> list[Record]:
    """Return the rows of an answer in the order of the SELECT: whole numbers as int, others as float."""
    if isinstance(answer, Release):
        return [(nearest(answer.value),)]
    found = []
    for row in answer:
        keys, cells = iter(row.keys), iter(row.cells)
        found.append(
            tuple(
                _plain(next(keys) if isinstance(shown.what, Key) else next(cells).value) for shown in columns
            )
        )
    return found


def _plain(value: Any) -> Any:
    return nearest(value) if isinstance(value, Fraction) else value


def _type(shown: Shown, values: Sequence[Any]) -> _Type:
    """Return the type of a column: numbers, unless it is a key of another type."""
    if not isinstance(shown.what, Key):
        return NUMBER
    sample = next((value for value in values if value is not None), "")
    return next((kind for kind in (NUMBER, DATETIME, BINARY) if isinstance(sample, kind.kinds)), STRING)
