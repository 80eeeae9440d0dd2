"""A toy engine: Arrow tables in a dictionary, and a new database for every run. It is this one file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow

from recuse.engines.bare import Bare, BareError, bare
from recuse.errors import DatabaseError
from recuse.policy import EngineLimits, Policy
from recuse.sql.catalogue import Catalogue, Column, Table
from recuse.sql.dialect import DUCKDB, Dialect

TOY = replace(DUCKDB, name="Toy")


@dataclass(frozen=True, slots=True)
class Box:
    """What the toy opens: tables by name."""

    tables: Mapping[str, pyarrow.Table]


@dataclass(slots=True, eq=False)
class Toy:
    """A box that is open."""

    box: Box | None
    limits: EngineLimits
    dialect: Dialect = TOY

    def catalogue(self) -> Catalogue:
        with self._unpacked() as connection:
            found = [
                Table(
                    name,
                    tuple(Column(c, kind) for c, kind, *_ in connection.sql(f"DESCRIBE {name}").fetchall()),
                )
                for name in sorted(self.box.tables)
            ]
        return Catalogue(tuple(found), dialect=self.dialect)

    def bind(self, sql: str) -> str | None:
        with self._unpacked() as connection:
            try:
                connection.sql(f"DESCRIBE {sql}").fetchall()
            except BareError as error:
                return str(error).splitlines()[0]
        return None

    def run(self, statements: Sequence[str]) -> list[pyarrow.Table]:
        with self._unpacked() as connection:
            try:
                return [connection.sql(sql).to_arrow_table() for sql in statements]
            except (BareError, AttributeError):
                raise DatabaseError("the toy is broken", hint="buy a real one") from None

    def close(self) -> None:
        self.box = None

    def _unpacked(self) -> Bare:
        if self.box is None:
            raise DatabaseError("the box is closed", hint="open it")
        connection = bare()
        for name, table in self.box.tables.items():
            connection.register("arriving", table)
            connection.execute(f"CREATE TABLE {name} AS FROM arriving")
        connection.unregister("arriving")
        return connection


def open_source(source: Box, policy: Policy | None) -> Toy:
    """Return the open box: what `engines.open` calls."""
    return Toy(source, EngineLimits() if policy is None else policy.engine)
