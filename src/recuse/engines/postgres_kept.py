"""PostgreSQL as a warehouse: temporary tables where the role may make them, else one statement a pass.

Either way all rows are of one state of the database. Temporary tables are made empty, and filled in one
transaction that is REPEATABLE READ and READ ONLY; what is made after it looks at nothing but them. On a
standby, and for a role without the right to make any, such a transaction stays open until the answer is
there, and every pass derives its rows anew as a part of its own statement.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Self

import adbc_driver_manager
import pyarrow

from recuse.engines.postgres_arrow import plain_table
from recuse.errors import DatabaseError
from recuse.krelation.relation import Integers
from recuse.solver.kept.warehouse import Spelling, narrow

BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
MAY_MAKE_TABLES = (
    "SELECT NOT pg_catalog.pg_is_in_recovery() AND pg_catalog.has_database_privilege("
    "pg_catalog.current_database(), 'TEMPORARY')"
)
WIDTHS = {15: "int2", 31: "int4", 63: "int8"}
_NUMBERS = count()
"""tables of one process have names of their own"""
_NAME = re.compile(r'"recuse kept \d+"')


class PostgresSpelling:
    """How PostgreSQL spells whole numbers: a numeric has as many digits as it takes."""

    def wide(self, number: str) -> str:
        return f"CAST({number} AS numeric)"

    def narrow(self, number: str, most: int) -> str:
        return narrow(number, most, WIDTHS)

    def quotient(self, number: str, divisor: str) -> str:
        return f"DIV({number}, {divisor})"

    def ordered(self, numbers: Sequence[str], place: int) -> str:
        return _picked("x", numbers, place)

    def members(self, numbers: Sequence[str], place: int) -> str:
        return _picked("DISTINCT x", numbers, place)


def _picked(what: str, numbers: Sequence[str], place: int) -> str:
    listed = ", ".join(f"({number})" for number in numbers)
    return f"(SELECT (ARRAY_AGG({what} ORDER BY x))[{place}] FROM (VALUES {listed}) AS v(x))"


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class PostgresWarehouse:
    """`solver.kept.warehouse.Warehouse` over a connection of its own, which it closes."""

    connection: Any
    makes: bool
    """whether it may make temporary tables"""
    texts: dict[str, str] = field(default_factory=dict)
    """the statements of tables that it may not make"""
    spelling: Spelling = field(default_factory=PostgresSpelling)

    def __post_init__(self) -> None:
        weakref.finalize(self, _close, self.connection)

    @classmethod
    def of(cls, connection: Any, statements: Sequence[str]) -> tuple[Self, list[str]]:
        """Return a warehouse, and the names of tables with the rows of statements, all of one state."""
        with connection.cursor() as cursor:
            cursor.execute(MAY_MAKE_TABLES)
            ((makes,),) = cursor.fetchall()
        found = cls(connection, bool(makes))
        try:
            return found, found._first(statements)
        except DatabaseError:
            found.close()
            raise

    def keep(self, sql: str) -> str:
        name = _name()
        if self.makes:
            self._run(
                "BEGIN READ WRITE", f"CREATE TEMPORARY TABLE {name} AS {sql}", f"ANALYZE {name}", "COMMIT"
            )
        else:
            self.texts[name] = sql
        return name

    def lend(self, columns: Mapping[str, Integers]) -> str:
        arrays = ", ".join(
            f"CAST('{{{','.join(map(str, values.tolist()))}}}' AS int8[])" for values in columns.values()
        )
        return self.keep(f"SELECT * FROM UNNEST({arrays}) AS l({', '.join(columns)})")

    def read(self, sql: str) -> pyarrow.Table:
        try:
            with self.connection.cursor() as cursor:
                cursor.execute(self._with(sql))
                return plain_table(cursor.fetch_arrow_table())
        except (adbc_driver_manager.Error, pyarrow.ArrowException):
            raise _unkept() from None

    def close(self) -> None:
        """Close the connection; a second time does nothing."""
        _close(self.connection)

    def _first(self, statements: Sequence[str]) -> list[str]:
        """Return the names of tables with the rows of the database."""
        names = [_name() for _ in statements]
        if not self.makes:
            self.texts.update(zip(names, statements, strict=True))
            self._run(BEGIN)
            return names
        made = zip(names, statements, strict=True)
        empty = [f"CREATE TEMPORARY TABLE {name} AS {sql} WITH NO DATA" for name, sql in made]
        filled = [f"INSERT INTO {name} {sql}" for name, sql in zip(names, statements, strict=True)]
        self._run("BEGIN READ WRITE", *empty, "COMMIT", BEGIN, *filled, "COMMIT")
        self._run("BEGIN READ WRITE", *(f"ANALYZE {name}" for name in names), "COMMIT")
        return names

    def _run(self, *statements: str) -> None:
        try:
            with self.connection.cursor() as cursor:
                for sql in statements:
                    cursor.execute(sql)
        except adbc_driver_manager.Error:  # no part of the message: it may quote a value
            raise _unkept() from None

    def _with(self, sql: str) -> str:
        """Return a statement with those of the tables that it looks at, each before it is needed."""
        needed, asked = set[str](), [sql]
        while asked:
            found = set(_NAME.findall(asked.pop())) & self.texts.keys() - needed
            needed |= found
            asked += [self.texts[name] for name in found]
        if not needed:
            return sql
        made = ((name, text) for name, text in self.texts.items() if name in needed)
        return f"WITH {', '.join(f'{name} AS MATERIALIZED ({text})' for name, text in made)} {sql}"


def _name() -> str:
    return f'"recuse kept {next(_NUMBERS)}"'


def _unkept() -> DatabaseError:
    return DatabaseError(
        "the database could not run the query", hint="is the server there, and may the role read the tables?"
    )


def _close(connection: Any) -> None:
    with suppress(adbc_driver_manager.Error):  # the server may have closed it
        connection.close()
