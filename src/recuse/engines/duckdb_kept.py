"""DuckDB as a warehouse: temporary tables of one connection, dropped when nobody needs them any more."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count

import duckdb
import pyarrow

from recuse.errors import DatabaseError
from recuse.krelation.relation import Integers
from recuse.solver.kept.warehouse import Spelling, narrow

ARRIVING = "recuse arriving"
WIDTHS = {7: "TINYINT", 15: "SMALLINT", 31: "INTEGER", 63: "BIGINT"}
_NUMBERS = count()
"""tables of one process have names of their own"""


class DuckDBSpelling:
    """How DuckDB spells whole numbers."""

    def wide(self, number: str) -> str:
        return f"CAST({number} AS HUGEINT)"

    def narrow(self, number: str, most: int) -> str:
        return narrow(number, most, WIDTHS)

    def quotient(self, number: str, divisor: str) -> str:
        return f"({number} // {divisor})"

    def ordered(self, numbers: Sequence[str], place: int) -> str:
        return f"LIST_SORT([{', '.join(numbers)}])[{place}]"

    def members(self, numbers: Sequence[str], place: int) -> str:
        return f"LIST_SORT(LIST_DISTINCT([{', '.join(numbers)}]))[{place}]"


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class DuckDBWarehouse:
    """`solver.kept.warehouse.Warehouse` over a connection."""

    connection: duckdb.DuckDBPyConnection
    tables: list[str] = field(default_factory=list)
    spelling: Spelling = field(default_factory=DuckDBSpelling)

    def __post_init__(self) -> None:
        weakref.finalize(self, _drop, self.connection, self.tables)

    def kept(self, statements: Sequence[str]) -> list[str]:
        """Return the names of tables with the rows of statements, all of one state of the database."""
        self.connection.begin()
        try:
            made = [self._made(sql) for sql in statements]
        except duckdb.Error:
            self.connection.rollback()
            raise
        self.connection.commit()
        self.tables.extend(made)
        return made

    def keep(self, sql: str) -> str:
        try:
            made = self._made(sql)
        except duckdb.Error:
            raise _unkept() from None
        self.tables.append(made)
        return made

    def lend(self, columns: Mapping[str, Integers]) -> str:
        table = pyarrow.table({name: pyarrow.array(values) for name, values in columns.items()})
        self.connection.register(ARRIVING, table)
        try:
            return self.keep(f'SELECT * FROM temp.main."{ARRIVING}"')
        finally:
            self.connection.unregister(ARRIVING)

    def read(self, sql: str) -> pyarrow.Table:
        try:
            return self.connection.sql(sql).to_arrow_table()
        except (duckdb.Error, pyarrow.ArrowException):
            raise _unkept() from None

    def _made(self, sql: str) -> str:
        name = f'temp.main."recuse kept {next(_NUMBERS)}"'
        self.connection.execute(f"CREATE TEMP TABLE {name} AS {sql}")
        return name


def _unkept() -> DatabaseError:
    return DatabaseError(
        "the database could not run the query", hint="is there enough memory and disk space?"
    )


def _drop(connection: duckdb.DuckDBPyConnection, tables: Sequence[str]) -> None:
    with suppress(duckdb.Error):  # a connection that is closed has dropped them
        for name in tables:
            connection.execute(f"DROP TABLE IF EXISTS {name}")
