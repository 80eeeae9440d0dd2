"""DuckDB, embedded: a database file, a folder of files, frames in memory, or an open connection.

Hardened before the first query: files are attached read-only, file and network access is off except for
the very files of a folder, extensions are neither installed nor loaded, and the configuration is locked.
Functions are looked up in the system schema only, so that no macro of the database can shadow one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import duckdb
import pyarrow
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from recuse.engines.files import (
    DELIMITERS,
    TABLE_FILES,
    file_tables,
    typed_columns,
)
from recuse.engines.literals import name_literal, text_literal
from recuse.engines.parquet import ParquetFolder, ParquetTable, readable
from recuse.engines.settings import Fresh, fresh
from recuse.errors import DatabaseError, QueryError
from recuse.fold import fold
from recuse.policy import EngineLimits, Policy
from recuse.sql.catalogue import Catalogue, Column, ForeignKey, Table
from recuse.sql.compile import Plan, compiled_sql

Source = str | PathLike[str] | Mapping[str, Any] | duckdb.DuckDBPyConnection

ATTACHED = "data"
TYPES = "cast the values to types that fit"
FILE_TYPES = f"{TYPES}, or declare the types of a CSV file in [columns] of the policy"
_COLLATED = re.compile(r'("(?:[^"]|"")+"|\w+) VARCHAR (COLLATE \w+)')


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
        return cls._of_path(Path(fspath(source)), policy)

    @classmethod
    def _of_path(cls, path: Path, policy: Policy | None) -> Self:
        if path.is_dir():
            return cls._of_folder(path.resolve(), policy)
        if not path.is_file():
            raise DatabaseError(
                f"there is no database {path}", hint="name a DuckDB file, or a folder of CSV or Parquet files"
            )
        own = fresh(_limits(policy))
        try:
            own.connection.execute(f"ATTACH {text_literal(str(path))} AS {ATTACHED} (READ_ONLY, TYPE duckdb)")
        except duckdb.Error as error:
            own.close()
            raise _unopened(path, str(error)) from None
        _harden(own.connection)
        return cls(own.connection, ATTACHED, "main", files=False, own=own)

    @classmethod
    def _of_folder(cls, folder: Path, policy: Policy | None) -> Self:
        tables = file_tables(folder, policy)
        own = fresh(_limits(policy))
        connection, parquet = own.connection, []
        for table in tables:
            try:
                if table.rows is not None:
                    connection.register(table.raw, table.rows)
                connection.execute(f"CREATE VIEW {name_literal(table.name)} AS {table.select}")
                if table.rows is None:
                    parquet.append(ParquetTable(table.name, table.path, _types(connection, table.name)))
            except duckdb.Error:
                own.close()
                raise DatabaseError(
                    f"{table.path.name} cannot be read as a table", hint="is it a complete file of its kind?"
                ) from None
        _harden(connection, allowed=[str(table.path) for table in parquet])
        untyped = tuple(table.name for table in tables if table.path.suffix.lower() in DELIMITERS)
        checked = ParquetFolder(connection, tuple(parquet))
        return cls(connection, "memory", "main", files=True, untyped=untyped, own=own, parquet=checked)

    @classmethod
    def _of_frames(cls, frames: Mapping[str, Any], policy: Policy | None) -> Self:
        own = fresh(_limits(policy))
        connection = own.connection
        for name, frame in frames.items():
            try:
                table = _readable(arrow_table(frame))
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
        _harden(connection)
        return cls(connection, "temp", "main", files=True, own=own)

    @classmethod
    def _of_connection(cls, source: duckdb.DuckDBPyConnection) -> Self:
        """Return a view of somebody else's connection: its settings are theirs and stay as they are."""
        try:
            connection = source.cursor()
            (database, schema, collation), *_ = connection.sql(
                "SELECT current_database(), current_schema(), current_setting('default_collation')"
            ).fetchall()
            _settle(connection)
        except duckdb.Error:
            raise DatabaseError("the connection cannot be used", hint="is it closed?") from None
        if collation:
            raise DatabaseError(
                "the connection has a default collation",
                found=collation,
                hint="equal text must be the same text: RESET default_collation",
            )
        return cls(connection, database, schema, files=False)

    def close(self) -> None:
        """Close the connection, and remove the temporary files of one that we opened."""
        self.connection.close()
        if self.own is not None:
            self.own.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ------------------------------------------------------------------ the seam

    def catalogue(self) -> Catalogue:
        """Return the tables with their columns, types and enforced keys; no values."""
        columns: dict[str, list[Column]] = {}
        for table, name, kind, nullable in self._system(
            "table_name, column_name, data_type, is_nullable", "duckdb_columns()", "NOT internal"
        ):
            columns.setdefault(table, []).append(Column(name, kind, nullable=bool(nullable)))
        definitions = dict(self._system("table_name, sql", "duckdb_tables()", "NOT internal"))
        views = dict(self._system("view_name, sql", "duckdb_views()", "NOT internal"))
        keys, references = self._constraints(columns)
        tables = tuple(
            Table(
                name,
                tuple(_collated(_stored(found, definitions.get(name) or ""), definitions.get(name) or "")),
                tuple(keys.get(name, ())),
                tuple(references.get(name, ())),
                path=(self.database, self.schema, name),
                view=None if self.files else views.get(name),
            )
            for name, found in sorted(columns.items())
        )
        macros = self._system("DISTINCT function_name", "duckdb_functions()", "NOT internal")
        return Catalogue(tables, frozenset(fold(name) for (name,) in macros))

    def check(self, plan: Plan) -> None:
        """Refuse what DuckDB cannot bind. Nothing is run.

        Every expression was typed and compiled before, so that this finds mistakes of ours, not of people.
        """
        public = [plan.grouping.public] if plan.grouping is not None and plan.grouping.public else []
        for sql in (*compiled_sql(plan.measures), *public):
            error = self._error(f"DESCRIBE {sql}")
            if error is not None:
                hint = FILE_TYPES if self.untyped else TYPES
                raise QueryError(f"DuckDB refuses the query: {error}", hint=hint)

    def _error(self, sql: str) -> str | None:
        """Return why a statement that looks at no row fails, in one line."""
        try:
            self.connection.sql(sql).fetchall()
        except duckdb.Error as error:
            reason = str(error).splitlines()[0].partition(": ")[2]
            return reason.partition(". You might")[0] or "it is invalid"
        return None

    def run(self, statements: Sequence[str]) -> list[pyarrow.Table]:
        """Return the rows of the statements, read in one transaction."""
        try:
            if self.parquet is None:
                return self._rows(statements)
            self.parquet.prepare(statements)
            try:
                return self._rows(statements)
            except duckdb.Error:  # a damaged part of a file, which is NULL when it is read otherwise
                if not self.parquet.replace_all():
                    raise
                return self._rows(statements)
        except (duckdb.Error, pyarrow.ArrowException):
            # no part of the message: it may quote a value
            raise DatabaseError(
                "the database could not run the query", hint="is there enough memory and disk space?"
            ) from None

    def _rows(self, statements: Sequence[str]) -> list[pyarrow.Table]:
        self.connection.begin()
        try:
            return [self.connection.sql(sql).to_arrow_table() for sql in statements]
        finally:
            self.connection.rollback()

    # ------------------------------------------------------------------ reading the catalogue

    def _system(self, outputs: str, function: str, condition: str) -> list[tuple[Any, ...]]:
        place = f"database_name = {text_literal(self.database)} AND schema_name = {text_literal(self.schema)}"
        try:
            rows: list[tuple[Any, ...]] = self.connection.sql(
                f"SELECT {outputs} FROM {function} WHERE {place} AND {condition}"
            ).fetchall()
        except duckdb.Error:
            raise DatabaseError("the catalogue cannot be read", hint="is the connection closed?") from None
        return rows

    def _constraints(
        self, columns_of: Mapping[str, Sequence[Column]]
    ) -> tuple[dict[str, list[tuple[str, ...]]], dict[str, list[ForeignKey]]]:
        """Return unique keys and references; DuckDB keeps a reference as written, here it is as spelled."""
        tables = {fold(name): name for name in columns_of}

        def spelled(table: str, names: Iterable[str]) -> tuple[str, ...]:
            known = {fold(column.name): column.name for column in columns_of.get(table, ())}
            return tuple(known.get(fold(name), name) for name in names)

        keys: dict[str, list[tuple[str, ...]]] = {}
        references: dict[str, list[ForeignKey]] = {}
        for table, kind, columns, target, target_columns in self._system(
            "table_name, constraint_type, constraint_column_names, referenced_table, referenced_column_names",
            "duckdb_constraints()",
            "constraint_type IN ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY')",
        ):
            if kind == "FOREIGN KEY":
                target = tables.get(fold(target), target)
                key = ForeignKey(spelled(table, columns), target, spelled(target, target_columns))
                references.setdefault(table, []).append(key)
            else:
                keys.setdefault(table, []).append(spelled(table, columns))
        return keys, references


def _limits(policy: Policy | None) -> EngineLimits:
    return EngineLimits() if policy is None else policy.engine


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


def _unopened(path: Path, reason: str) -> DatabaseError:
    """Return why a file is no database: it is in use, or a table of a folder, or something else."""
    if "lock" in reason.lower():
        return DatabaseError(f"{path} is in use", hint="close the program that has it open")
    if path.suffix.lower() in TABLE_FILES:
        folder = path.absolute().parent
        return DatabaseError(
            f"{path} is one table", hint=f"name its folder {folder}, and {path.stem} in the SQL"
        )
    return DatabaseError(
        f"{path} is not a DuckDB database that can be read",
        hint="name a DuckDB file, or a folder of CSV or Parquet files",
    )


def arrow_table(frame: Any) -> pyarrow.Table:
    """Return a pandas, Polars or Arrow frame as an Arrow table that every version of DuckDB can filter."""
    if type(frame).__module__.partition(".")[0] == "pandas":
        table = pyarrow.Table.from_pandas(frame, preserve_index=False)
    else:
        table = pyarrow.table(frame)
    plain = {pyarrow.string_view(): pyarrow.large_string(), pyarrow.binary_view(): pyarrow.large_binary()}
    return table.cast(
        pyarrow.schema([field.with_type(plain.get(field.type, field.type)) for field in table.schema])
    )


def _stored(columns: Iterable[Column], definition: str) -> Iterable[Column]:
    """Return the columns without generated ones, which are computed when read: a row may make it fail."""
    if "GENERATED ALWAYS AS" not in definition.upper():
        return columns
    try:
        tree = sqlglot.parse_one(definition, dialect="duckdb")
    except SqlglotError:
        return ()
    generated = {
        fold(column.name)
        for column in tree.find_all(exp.ColumnDef)
        for constraint in column.args.get("constraints") or ()
        if isinstance(constraint.kind, exp.GeneratedAsIdentityColumnConstraint | exp.ComputedColumnConstraint)
    }
    return [column for column in columns if fold(column.name) not in generated]


def _collated(columns: Iterable[Column], definition: str) -> Iterable[Column]:
    """Return the columns, a collation added to the type: equal text there is not the same text."""
    marks = {
        fold(match[1].strip('"').replace('""', '"')): match[2] for match in _COLLATED.finditer(definition)
    }
    for column in columns:
        mark = marks.get(fold(column.name))
        yield Column(column.name, f"{column.type} {mark}", column.nullable) if mark else column


def _harden(connection: duckdb.DuckDBPyConnection, allowed: Iterable[str] = ()) -> None:
    """Lock the connection in: these files and nothing else, and no setting can be changed back."""
    paths = ", ".join(text_literal(path) for path in allowed)
    if paths:
        connection.execute(f"SET allowed_paths = [{paths}]")
    connection.execute("SET enable_external_access = false")
    _settle(connection)
    connection.execute("SET lock_configuration = true")


def _settle(connection: duckdb.DuckDBPyConnection) -> None:
    """Look functions up in the system schema only, and print no progress: times tell about private rows."""
    connection.execute("SET search_path = 'system.main'")
    connection.execute("SET enable_progress_bar = false")
