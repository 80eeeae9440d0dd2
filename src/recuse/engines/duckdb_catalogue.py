"""The catalogue of a DuckDB database: tables, columns, types, enforced keys. Never a value from a row."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import duckdb
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from recuse.engines.literals import text_literal
from recuse.errors import DatabaseError
from recuse.fold import fold
from recuse.sql.catalogue import REFINED, Catalogue, Column, ForeignKey, Table
from recuse.sql.dialect import DUCKDB
from recuse.sql.signs import states_no_negative

_COLLATED = re.compile(r'("(?:[^"]|"")+"|\w+) VARCHAR (COLLATE \w+)')


@dataclass(frozen=True, slots=True, eq=False)
class SystemTables:
    """Where DuckDB says what tables a schema has, and whether all that is in it is ours."""

    connection: duckdb.DuckDBPyConnection
    database: str
    schema: str
    untyped: tuple[str, ...]
    ours: bool

    def catalogue(self) -> Catalogue:
        """Return the tables with their columns, types and enforced keys."""
        columns: dict[str, list[Column]] = {}
        for table, name, kind, nullable in self._system(
            "table_name, column_name, data_type, is_nullable", "duckdb_columns()", "NOT internal"
        ):
            columns.setdefault(table, []).append(Column(name, kind, nullable=bool(nullable)))
        definitions = dict(self._system("table_name, sql", "duckdb_tables()", "NOT internal"))
        checks: dict[str, list[str]] = {}
        views = dict(self._system("view_name, sql", "duckdb_views()", "NOT internal"))
        for table, expression in self._system(
            "table_name, expression", "duckdb_constraints()", "constraint_type = 'CHECK'"
        ):
            columns[table] = _checked(columns.get(table, []), expression or "")
            checks.setdefault(table, []).append(expression or "TRUE")
        keys, references = self._constraints(columns)
        tables = tuple(
            Table(
                name,
                tuple(_collated(_stored(found, definitions.get(name) or ""), definitions.get(name) or "")),
                tuple(keys.get(name, ())),
                tuple(references.get(name, ())),
                path=(self.database, self.schema, name),
                view=None if self.ours else views.get(name),
                checks=tuple(checks.get(name, ())),
            )
            for name, found in sorted(columns.items())
        )
        return Catalogue(tables, self._macros(), self.untyped, DUCKDB)

    def _macros(self) -> frozenset[str]:
        """Return the functions that the database defines itself; where we made its tables there are none.

        DuckDB lists thousands of its own beside them, which takes as long as to open it.
        """
        if self.ours:
            return frozenset()
        found = self._system("DISTINCT function_name", "duckdb_functions()", "NOT internal")
        return frozenset(fold(name) for (name,) in found)

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
        """Return unique keys and references; DuckDB keeps a reference as written, here it is as spelled.

        Guarantee: no two rows have the values of a key as they are read.
        """
        tables = {fold(name): name for name in columns_of}

        def spelled(table: str, names: Iterable[str]) -> tuple[str, ...]:
            known = {fold(column.name): column.name for column in columns_of.get(table, ())}
            return tuple(known.get(fold(name), name) for name in names)

        def told_apart(table: str, names: Sequence[str]) -> bool:
            return not any(one.type in REFINED for one in columns_of.get(table, ()) if one.name in names)

        keys: dict[str, list[tuple[str, ...]]] = {}
        references: dict[str, list[ForeignKey]] = {}
        for table, kind, columns, target, target_columns in self._system(
            "table_name, constraint_type, constraint_column_names, referenced_table, referenced_column_names",
            "duckdb_constraints()",
            "constraint_type IN ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY')",
        ):
            if kind == "FOREIGN KEY":
                target = tables.get(fold(target), target)
                reference = ForeignKey(spelled(table, columns), target, spelled(target, target_columns))
                references.setdefault(table, []).append(reference)
            elif told_apart(table, key := spelled(table, columns)):
                keys.setdefault(table, []).append(key)
        return keys, references


def _checked(columns: Sequence[Column], expression: str) -> list[Column]:
    """Return the columns, those marked that an enforced CHECK keeps from being below 0."""
    try:
        tree = sqlglot.parse_one(expression, dialect="duckdb").unnest()
    except SqlglotError:
        return list(columns)
    parts = list(tree.flatten()) if isinstance(tree, exp.And) else [tree]
    named = {fold(found.name) for found in map(states_no_negative, parts) if found is not None}
    return [replace(column, nonnegative=True) if fold(column.name) in named else column for column in columns]


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
        yield replace(column, type=f"{column.type} {mark}") if mark else column
