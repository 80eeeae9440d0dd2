"""What a database looks like: tables, columns, types, enforced keys. Never a value from a row."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fractions import Fraction

from recuse.fold import fold, same
from recuse.sql.dialect import DUCKDB, Dialect

PSEUDO_COLUMNS = frozenset({"rowid", "file_row_number", "filename", "file_index", "row_id", "ctid", "oid"})

REFINED = frozenset({"TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"})
"""types that are read in microseconds: two stored values may be read as one, so no key holds of them"""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name as the database spells it, its type as SQL text, whether it may be NULL.

    `nonnegative` says that the database refuses values below 0, or that the policy says there are none;
    `typical` about how large a value is, if the policy says so.
    """

    name: str
    type: str
    nullable: bool = True
    nonnegative: bool = False
    typical: Fraction | None = None


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """An enforced reference: every non-NULL value of `columns` is a value of `target_columns`."""

    columns: tuple[str, ...]
    target: str
    target_columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table: where the engine finds it, its columns, the unique keys and references it enforces.

    `view` is the text of a view's definition, and None for a table.
    """

    name: str
    columns: tuple[Column, ...]
    keys: tuple[tuple[str, ...], ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    path: tuple[str, ...] = ()
    view: str | None = None
    checks: tuple[str, ...] = ()
    """the conditions that the database enforces for every row, as SQL; they hold where they are NULL, too"""

    def column(self, name: str) -> Column | None:
        """Return the column of that name, in any case."""
        return next((column for column in self.columns if same(column.name, name)), None)

    def nearest_column(self, name: str) -> str | None:
        """Return the column whose name is most like `name`."""
        return nearest(name, (column.name for column in self.columns))


@dataclass(frozen=True, slots=True)
class Catalogue:
    """The tables of a database, and the names of the functions that it defines itself."""

    tables: tuple[Table, ...]
    """those that can be asked about"""
    macros: frozenset[str] = frozenset()
    untyped: tuple[str, ...] = ()
    """the tables whose column types only a policy can say"""
    dialect: Dialect = DUCKDB
    """the SQL of whoever has the tables"""
    left_out: tuple[LeftOut, ...] = ()
    """the tables that are there, and not read"""

    def table(self, name: str) -> Table | None:
        """Return the table of that name, in any case."""
        return next((table for table in self.tables if same(table.name, name)), None)

    def why_not(self, name: str) -> str | None:
        """Return why a table that is there is not read."""
        return next((one.why for one in self.left_out if same(one.name, name)), None)

    def declaring(
        self, nonnegative: Collection[tuple[str, str]], typical: Mapping[tuple[str, str], Fraction]
    ) -> Catalogue:
        """Return the catalogue in which columns, of tables, are said to have no values below 0, or a size."""
        if not nonnegative and not typical:
            return self
        said = {(fold(table), fold(name)) for table, name in nonnegative}
        sizes = {(fold(table), fold(name)): size for (table, name), size in typical.items()}

        def told(table: Table, column: Column) -> Column:
            name = fold(table.name), fold(column.name)
            known = column.nonnegative or name in said
            return replace(column, nonnegative=known, typical=sizes.get(name))

        tables = (
            replace(table, columns=tuple(told(table, c) for c in table.columns)) for table in self.tables
        )
        return replace(self, tables=tuple(tables))

    def nearest_table(self, name: str) -> str | None:
        """Return the table whose name is most like `name`."""
        return nearest(name, (table.name for table in self.tables))


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A table of the database that is not read, and why."""

    name: str
    why: str


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known name that was probably meant.

    >>> nearest("costumer", ["customer", "orders"])
    'customer'
    """
    spelled = {fold(name): name for name in known}
    found = get_close_matches(fold(word), spelled, n=1)
    return spelled[found[0]] if found else None
