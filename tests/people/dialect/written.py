"""The dialect with a pen: what writes goes to DuckDB itself, what asks goes the way of every question.

The suite makes its tables, fills and drops them. Nobody can do that through Recuse, so this driver does it
beside: all tables are then public, and each SELECT is answered exactly, by the dialect that people use.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, Self

import duckdb
from sqlalchemy.engine import URL

import recuse.dbapi
from recuse.dbapi.dialect import RecuseDialect
from recuse.dbapi.text import bound
from recuse.mechanism.mechanisms import DEFAULT
from recuse.policy import Policy
from recuse.policy.terms import Protect, Public
from recuse.privacy import Epsilon
from recuse.session.session import Session, connect

ASKS = re.compile(r"[\s(]*(SELECT|WITH|VALUES|FROM)\b", re.IGNORECASE)
TABLES = "SELECT table_name FROM duckdb_tables() WHERE NOT internal"


@dataclass
class Home:
    """The suite's tables, and a session that has seen the last of what was written."""

    connection: duckdb.DuckDBPyConnection = field(default_factory=duckdb.connect)
    _session: Session | None = None

    @property
    def session(self) -> Session:
        """A session in which every table is public."""
        if self._session is None:
            names = [name for (name,) in self.connection.sql(TABLES).fetchall()]
            policy = Policy(protect=(Protect.virtual("nobody"),), public=tuple(map(Public, names)))
            self._session = connect(self.connection, policy)
        return self._session

    def write(self, text: str) -> None:
        """Run what is no question."""
        try:
            self.connection.execute(text)
        except duckdb.Error as error:
            raise recuse.dbapi.ProgrammingError(str(error)) from None
        self._session = None


HOME = Home()


class Written(recuse.dbapi.Connection):
    """A connection that writes, too."""

    def __init__(self) -> None:
        super().__init__(HOME.session, Epsilon.of(1), DEFAULT)

    @property
    def session(self) -> Session:
        """The session of all connections, while this one is open."""
        _ = super().session
        return HOME.session

    def close(self) -> None:
        """Close this connection; the session is not its own."""
        self._session = None

    def cursor(self) -> Pen:
        """Return a new cursor."""
        return Pen(self, self.session)


class Pen(recuse.dbapi.Cursor):
    """A cursor that writes, too."""

    def execute(self, operation: str, parameters: Sequence[Any] = ()) -> Self:
        """Ask, or write."""
        if ASKS.match(operation):
            return super().execute(operation, parameters)
        HOME.write(bound(operation, parameters))
        self.description, self._rows = None, None
        return self

    def executemany(self, operation: str, parameters: Sequence[Sequence[Any]]) -> None:
        """Write several rows."""
        for row in parameters:
            HOME.write(bound(operation, row))


DRIVER = SimpleNamespace(**vars(recuse.dbapi) | {"connect": Written})


class WrittenDialect(RecuseDialect):
    """The dialect that people use, over that driver."""

    driver = "written"
    supports_statement_cache = True

    @classmethod
    def import_dbapi(cls) -> Any:
        """Return that driver."""
        return DRIVER

    def create_connect_args(self, url: URL) -> tuple[list[Any], dict[str, Any]]:
        """Return nothing: there is one home."""
        super().create_connect_args(url)
        return [], {}
