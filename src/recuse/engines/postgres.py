"""PostgreSQL, read through ADBC: one transaction a question, REPEATABLE READ and READ ONLY.

Nothing is written, and no temporary table is made unless relations stay in the server (`postgres_kept`): it
works on a standby, and for a role that may only SELECT.
Functions, operators and types are looked up in pg_catalog; tables are named by their schema. Row-level
security is switched off, so that it is an error and never a part of the rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakSet

import adbc_driver_manager
import adbc_driver_postgresql.dbapi
import pyarrow

from recuse.engines.postgres_arrow import plain_table
from recuse.engines.postgres_catalogue import SystemCatalogue
from recuse.engines.postgres_kept import BEGIN, PostgresWarehouse
from recuse.engines.postgres_place import PostgresPlace
from recuse.errors import DatabaseError
from recuse.policy import EngineLimits, Policy
from recuse.solver.kept.warehouse import Warehouse
from recuse.sql.catalogue import Catalogue
from recuse.sql.dialect import Dialect
from recuse.sql.postgres import POSTGRES

OLDEST = 140000
NO_LIMITS = EngineLimits()
"""what a server may use is its custodian's to say"""
SETTINGS = {
    "row_security": "off",
    "default_transaction_read_only": "on",
    "timezone": "'UTC'",
    "datestyle": "'ISO, YMD'",
    "intervalstyle": "'postgres'",
    "extra_float_digits": "1",
    "standard_conforming_strings": "on",
    "transform_null_equals": "off",
    "quote_all_identifiers": "off",
    "statement_timeout": "0",
    "lock_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    "client_min_messages": "error",
}
"""what a session of ours is set to, whatever the role or the database say"""
LOOKED_UP = "pg_catalog, pg_temp"
"""where functions, operators and types are looked up; the role's search path says which tables are meant"""
SEEN = "SELECT s::text FROM pg_catalog.unnest(pg_catalog.current_schemas(false)) AS s"
ABOUT = (
    "SELECT pg_catalog.current_setting('server_version_num')::pg_catalog.int4, "
    "pg_catalog.current_setting('server_encoding'), (SELECT pg_catalog.count(*) FROM pg_catalog.pg_cast "
    "WHERE oid >= 16384 AND castsource < 16384 AND casttarget < 16384)"
)
_ERROR = re.compile(r"ERROR:\s+([^\n]*)")
_CLOSED = "the database is closed"


@dataclass(slots=True, eq=False)
class Postgres:
    """An open database. A connection that failed is thrown away; the next question makes another."""

    place: PostgresPlace
    schemas: tuple[str, ...] = ()
    version: int = 0
    limits: EngineLimits = NO_LIMITS
    dialect: Dialect = POSTGRES
    connection: Any = field(default=None, repr=False)
    closed: bool = False
    keeps: bool = False
    """whether relations stay in the server: where the policy says how much memory there is"""
    warehouses: WeakSet[PostgresWarehouse] = field(default_factory=WeakSet, repr=False)

    def catalogue(self) -> Catalogue:
        """Return the tables with their columns, types and enforced keys; no values."""
        with self._cursor("the catalogue cannot be read") as cursor:
            return SystemCatalogue(lambda sql: _fetched(cursor, sql), self.schemas, self.version).catalogue()

    def bind(self, sql: str) -> str | None:
        """Return why a statement does not bind, in one line; it is prepared, and not run."""
        with self._cursor("the database cannot be asked") as cursor:
            try:
                cursor.adbc_prepare(sql)
            except adbc_driver_manager.Error as error:
                found = _ERROR.search(str(error))
                return (found[1].strip() if found else "") or "it is invalid"
        return None

    def run(self, statements: Sequence[str]) -> list[pyarrow.Table]:
        """Return the rows of the statements, read in one transaction."""
        with self._cursor("the database could not run the query") as cursor:
            cursor.execute(BEGIN)
            found = [_read(cursor, sql) for sql in statements]
            cursor.execute("ROLLBACK")
            return found

    def keep(self, statements: Sequence[str]) -> tuple[Warehouse, list[str]]:
        """Return tables with the rows of the statements, all of one state of the database."""
        with self._cursor("the database could not run the query"):
            connection, *_ = _connected(self.place)
            warehouse, names = PostgresWarehouse.of(connection, statements)
            self.warehouses.add(warehouse)
            return warehouse, names

    def close(self) -> None:
        """Close the connection, and those of what stays; a second time does nothing."""
        self.closed = True
        for warehouse in self.warehouses:
            warehouse.close()
        self._drop()

    def __enter__(self) -> Postgres:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _cursor(self, problem: str) -> Iterator[Any]:
        """Give a cursor; whatever fails is said in our own words, and the connection is thrown away."""
        if self.closed:
            raise DatabaseError(_CLOSED, hint="open it again")
        try:
            if self.connection is None:
                self.connection, self.schemas, self.version = _connected(self.place)
            with self.connection.cursor() as cursor:
                yield cursor
        except (adbc_driver_manager.Error, pyarrow.ArrowException):
            # no part of the message: it may quote a value, or the connection's words
            self._drop()
            raise DatabaseError(
                problem, hint="is the server there, and may the role read the tables?"
            ) from None

    def _drop(self) -> None:
        if self.connection is not None:
            with suppress(adbc_driver_manager.Error):
                self.connection.close()
            self.connection = None


def open_source(source: str, policy: Policy | None) -> Postgres:
    """Return the database that a connection string names: what `engines.open` calls."""
    place = PostgresPlace(source)
    found = Postgres(place, keeps=policy is not None and policy.engine.memory is not None)
    with found._cursor(f"{place} cannot be opened") as cursor:
        ((version, encoding, casts),) = _fetched(cursor, ABOUT)
        if problem := _problem(int(version), encoding, casts):
            found.close()
            raise DatabaseError(problem, hint="see docs/reference/postgresql.md")
    return found


def _problem(version: int, encoding: str, casts: int) -> str | None:
    """Return why a server is not read."""
    if version < OLDEST:
        return "this PostgreSQL is older than version 14"
    if encoding != "UTF8":
        return "the encoding of this database is not UTF8"
    return "this database has casts of its own between built-in types" if casts else None


def _connected(place: PostgresPlace) -> tuple[Any, tuple[str, ...], int]:
    """Return a connection that is set, the schemas of its role's search path, and the server's version."""
    connection = adbc_driver_postgresql.dbapi.connect(place.uri, autocommit=True)
    with connection.cursor() as cursor:
        for name, value in SETTINGS.items():
            cursor.execute(f"SET {name} = {value}")
        schemas = tuple(str(name) for (name,) in _fetched(cursor, SEEN))
        ((version, *_),) = _fetched(cursor, ABOUT)
        cursor.execute(f"SET search_path = {LOOKED_UP}")
    return connection, schemas, int(version)


def _read(cursor: Any, sql: str) -> pyarrow.Table:
    cursor.execute(sql)
    return plain_table(cursor.fetch_arrow_table())


def _fetched(cursor: Any, sql: str) -> list[tuple[Any, ...]]:
    cursor.execute(sql)
    return [tuple(row) for row in cursor.fetchall()]
