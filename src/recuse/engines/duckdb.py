"""DuckDB, embedded: a database file, a folder of files, frames in memory, or an open connection.

Hardened before the first query: files are attached read-only, file and network access is off except for
the very files of a folder, extensions are neither installed nor loaded, and the configuration is locked.
Functions are looked up in the system schema only, so that no macro of the database can shadow one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Self, TypeVar

import duckdb
import pyarrow

from recuse.arrow import frame_table
from recuse.engines.duckdb_catalogue import SystemTables
from recuse.engines.duckdb_kept import DuckDBWarehouse
from recuse.engines.files import DELIMITERS, file_tables, raw_name, typed_columns, unopened
from recuse.engines.literals import name_literal, text_literal
from recuse.engines.open import Source
from recuse.engines.parquet import ParquetFolder, ParquetTable, readable
from recuse.engines.settings import WITHOUT, Fresh, fresh, harden, plainly, settle, switchable
from recuse.errors import DatabaseError
from recuse.policy import EngineLimits, Policy
from recuse.solver.kept.warehouse import Warehouse
from recuse.sql.catalogue import Catalogue
from recuse.sql.dialect import DUCKDB, Dialect

Returned = TypeVar("Returned")
ATTACHED = "data"
ARRIVING = "arriving"
UNLIMITED = EngineLimits()


@dataclass(frozen=True, slots=True, eq=False)
class DuckDB:
    """An opened database: where its tables are, and whether they stand for files or frames."""

    connection: duckdb.DuckDBPyConnection
    database: str
    schema: str
    files: bool
    untyped: tuple[str, ...] = ()
    """the tables whose column types only the policy can say"""
    own: Fresh | None = None
    """the connection with its temporary files, if we opened it"""
    parquet: ParquetFolder | None = None
    limits: EngineLimits = UNLIMITED
    dialect: Dialect = DUCKDB
    settled: list[Catalogue] = field(default_factory=list)
    """the catalogue, once it was read: of a connection that we opened, whose tables nobody can change"""

    @classmethod
    def open(cls, source: Source, policy: Policy | None = None) -> Self:
        """Return the database at a path, in a mapping of frames, or behind a connection.

        The policy gives the columns of CSV files their types, and those of frames where it declares any: what
        pandas makes of a column depends on its values (one NULL turns integers into floats).
        """
        if isinstance(source, duckdb.DuckDBPyConnection):
            return cls._of_connection(source)
        if isinstance(source, Mapping):
            return cls._of_frames(source, policy)
        if isinstance(source, str | PathLike):
            return cls._of_path(Path(fspath(source)), policy)
        raise TypeError("this is no source of DuckDB")

    @classmethod
    def _of_path(cls, path: Path, policy: Policy | None) -> Self:
        if path.is_dir():
            return cls._of_folder(path.resolve(), policy)
        if not path.is_file():
            raise DatabaseError(
                f"there is no database {path}", hint="name a DuckDB file, or a folder of CSV or Parquet files"
            )
        limits = _limits(policy)
        own = fresh(limits)
        try:
            own.connection.execute(f"ATTACH {text_literal(str(path))} AS {ATTACHED} (READ_ONLY, TYPE duckdb)")
        except duckdb.Error as error:
            own.close()
            raise unopened(path, str(error)) from None
        harden(own.connection)
        return cls(own.connection, ATTACHED, "main", files=False, own=own, limits=limits)

    @classmethod
    def _of_folder(cls, folder: Path, policy: Policy | None) -> Self:
        tables, limits = file_tables(folder, policy), _limits(policy)
        own = fresh(limits)
        connection, parquet = own.connection, []
        for table in tables:
            try:
                if table.rows is not None:
                    connection.register(raw_name(table.name), table.rows)
                connection.execute(f"CREATE VIEW {name_literal(table.name)} AS {table.select}")
                if table.rows is None:
                    parquet.append(ParquetTable(table.name, table.path, _types(connection, table.name)))
            except duckdb.Error:
                own.close()
                raise DatabaseError(
                    f"{table.path.name} cannot be read as a table", hint="is it a complete file of its kind?"
                ) from None
        harden(connection, allowed=[str(table.path) for table in parquet])
        untyped = tuple(table.name for table in tables if table.path.suffix.lower() in DELIMITERS)
        checked = ParquetFolder(connection, tuple(parquet))
        return cls(
            connection, "memory", "main", files=True, untyped=untyped, own=own, parquet=checked, limits=limits
        )

    @classmethod
    def _of_frames(cls, frames: Mapping[str, Any], policy: Policy | None) -> Self:
        limits = _limits(policy)
        own = fresh(limits)
        connection = own.connection
        for name, frame in frames.items():
            try:
                table = _readable(frame_table(frame))
                connection.register(name, table)
                outputs = typed_columns(name, table.column_names, policy)
                typed = connection.sql(f"SELECT {outputs} FROM {name_literal(name)}").to_arrow_table()
                connection.unregister(name)
                connection.register(name, typed)
            except (duckdb.Error, pyarrow.ArrowException, TypeError, ValueError):
                own.close()
                raise DatabaseError(
                    f"frame {name} is not a table",
                    found=type(frame).__name__,
                    accepted="a pandas or Polars frame or an Arrow table, each column of one type",
                ) from None
        harden(connection)
        return cls(connection, "temp", "main", files=True, own=own, limits=limits)

    @classmethod
    def of_tables(cls, tables: Mapping[str, pyarrow.Table]) -> Self:
        """Return a database of tables of ours, found by their names alone; joins run as they are written.

        The tables are copied, which gives them statistics. Nothing else is in this database that could stand
        in for a function.
        """
        own = fresh(UNLIMITED, without=(*WITHOUT, "join_order"))
        connection = own.connection
        try:
            for name, table in tables.items():
                connection.register(ARRIVING, table)
                connection.execute(f"CREATE TABLE {name_literal(name)} AS FROM {ARRIVING}")
                connection.unregister(ARRIVING)
        except duckdb.Error:
            own.close()
            raise DatabaseError("the tables cannot be kept", hint="is there enough memory?") from None
        harden(connection, functions="memory.main")
        return cls(connection, "memory", "main", files=False, own=own)

    @classmethod
    def _of_connection(cls, source: duckdb.DuckDBPyConnection) -> Self:
        """Return a view of somebody else's connection: its settings are theirs and stay as they are."""
        try:
            connection = source.cursor()
            (database, schema, collation, lossless), *_ = connection.sql(
                "SELECT current_database(), current_schema(), current_setting('default_collation'), "
                "current_setting('arrow_lossless_conversion')"
            ).fetchall()
            settle(connection)
            plannable = switchable(connection)
        except duckdb.Error:
            raise DatabaseError("the connection cannot be used", hint="is it closed?") from None
        if not plannable:  # a question that fails over a plan could not be asked again
            raise DatabaseError(
                "the connection's optimisers cannot be switched off, and its configuration is locked",
                hint="before it is locked: SET disabled_optimizers = 'statistics_propagation'",
            )
        if collation:
            raise DatabaseError(
                "the connection has a default collation",
                found=collation,
                hint="equal text must be the same text: RESET default_collation",
            )
        if lossless:  # wide numbers and UUIDs would come as types of DuckDB's own, after the charge
            raise DatabaseError(
                "the connection hands values over in types of its own",
                found="arrow_lossless_conversion = true",
                hint="RESET arrow_lossless_conversion",
            )
        return cls(connection, database, schema, files=False)

    def close(self) -> None:
        """Close the connection, and remove the temporary files of one that we opened."""
        self.settled.clear()
        self.connection.close()
        if self.own is not None:
            self.own.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ------------------------------------------------------------------ the seam

    def catalogue(self) -> Catalogue:
        """Return the tables with their columns, types and enforced keys; no values."""
        if self.settled:
            return self.settled[0]
        place = self.connection, self.database, self.schema, self.untyped
        found = SystemTables(*place, ours=self.own is not None and self.database != ATTACHED).catalogue()
        if self.own is not None:
            self.settled.append(found)
        return found

    def bind(self, sql: str) -> str | None:
        """Return why a statement does not bind, in one line; nothing is run."""
        try:
            self.connection.sql(f"DESCRIBE {sql}").fetchall()
        except duckdb.Error as error:
            reason = str(error).splitlines()[0].partition(": ")[2]
            return reason.partition(". You might")[0] or "it is invalid"
        return None

    def run(self, statements: Sequence[str]) -> list[pyarrow.Table]:
        """Return the rows of the statements, read in one transaction."""
        return self._tried(statements, self._read)

    @property
    def keeps(self) -> bool:
        """Whether relations stay in the engine: where the policy says how much memory there is."""
        return self.limits.memory is not None

    def keep(self, statements: Sequence[str]) -> tuple[Warehouse, list[str]]:
        """Return tables with the rows of the statements, all of one state of the database."""
        warehouse = DuckDBWarehouse(self.connection)
        return warehouse, self._tried(statements, warehouse.kept)

    def _tried(self, statements: Sequence[str], ask: Callable[[Sequence[str]], Returned]) -> Returned:
        try:
            if self.parquet is None:
                return self._asked(statements, ask)
            self.parquet.prepare(statements)
            try:
                return self._asked(statements, ask)
            except duckdb.Error:  # a damaged part of a file, which is NULL when it is read otherwise
                if not self.parquet.replace_all():
                    raise
                return self._asked(statements, ask)
        except (duckdb.Error, pyarrow.ArrowException):
            # no part of the message: it may quote a value
            raise DatabaseError(
                "the database could not run the query", hint="is there enough memory and disk space?"
            ) from None

    def _asked(self, statements: Sequence[str], ask: Callable[[Sequence[str]], Returned]) -> Returned:
        """Return the rows; if a plan fails, those of the plan that follows from the text alone.

        Guarantee: what is written cannot fail (scalars.duckdb), so what fails is a plan, and it was made from
        private values: proofs.md, section 11.
        """
        try:
            return ask(statements)
        except duckdb.Error:
            with plainly(self.connection):
                return ask(statements)

    def _read(self, statements: Sequence[str]) -> list[pyarrow.Table]:
        self.connection.begin()
        try:
            return [self._table(sql) for sql in statements]
        finally:
            self.connection.rollback()

    def _table(self, sql: str) -> pyarrow.Table:
        found: duckdb.DuckDBPyRelation | None = self.connection.sql(sql)
        if found is None:
            raise duckdb.InvalidInputException("this is no query")
        return found.to_arrow_table()


open_source = DuckDB.open
"""what `engines.open` calls"""


def _limits(policy: Policy | None) -> EngineLimits:
    return UNLIMITED if policy is None else policy.engine


def _types(connection: duckdb.DuckDBPyConnection, view: str) -> dict[str, str]:
    """Return the columns of a view with their types; no row is read."""
    found = connection.execute(f"DESCRIBE {name_literal(view)}").fetchall()
    return {str(name): str(kind) for name, kind, *_ in found}


def _readable(table: pyarrow.Table) -> pyarrow.Table:
    """Return a table whose cells can all be read: NULL where Arrow holds what is no value of its type."""
    columns = [
        pyarrow.chunked_array([readable(chunk) for chunk in column.chunks], column.type)
        for column in table.columns
    ]
    return pyarrow.table(columns, schema=table.schema)
