"""The tables that Spark reads: their columns and types, and how the state is read in which they are now.

Spark enforces no keys: a policy declares them. What could hide rows, compute them when they are read, or fail
on one of them is left out, and it is said why.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recuse.fold import fold
from recuse.scalars.spark.spelling import ZONED
from recuse.sql.catalogue import Catalogue, Column, LeftOut, Table
from recuse.sql.spark import SPARK_SQL

SparkRows = Callable[[str], list[dict[str, Any]]]
"""how a statement about the catalogue is run"""
TYPES = {
    "tinyint": "TINYINT",
    "smallint": "SMALLINT",
    "int": "INTEGER",
    "bigint": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "string": "VARCHAR",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp_ntz": "TIMESTAMP",
    "timestamp": ZONED,
}
"""types that are read, besides decimal(p,s) and varchar(n), and how the total language spells them"""
LEFT_OUT = {
    "view": "it is a view, whose query Spark may fail to compute on a row",
    "twice": "it or a column of it differs from another in capitals only",
    "format": "its rows are neither in Parquet files nor in a table with versions (Delta, Iceberg)",
}
VERSIONS = {
    "delta": "SELECT max(version) AS version FROM (DESCRIBE HISTORY {table})",
    "iceberg": "SELECT max_by(snapshot_id, committed_at) AS version FROM {table}.snapshots",
}
"""which version a table is in now, by its format"""
PREFIX = "recuse_"


@dataclass(frozen=True, slots=True)
class SparkTable:
    """A table that can be asked about, and where Spark has it: in its catalogue, or at a path."""

    name: str
    columns: tuple[Column, ...]
    place: str
    provider: str = "parquet"
    schema: Any = None
    """Spark's types of a path's columns, so that no file is opened to find them again"""

    @property
    def view(self) -> str:
        """The name under which a session of ours knows the state that a question sees."""
        return f"{PREFIX}{self.name}"

    def statement(self, version: int | None) -> str:
        """Return the SQL of all rows; of a table with versions, of one of them."""
        if version is None:
            return f"SELECT * FROM {self.place}"
        return f"SELECT * FROM {self.place} VERSION AS OF {version}"


def quoted(name: str) -> str:
    """Return a name in Spark's SQL, whatever it is."""
    return SPARK_SQL.identifier(name)


def spelled(kind: str) -> str:
    """Return a type as `scalars.types.stored` reads it; one that is not read stays as Spark spells it.

    VARCHAR(n) is text of any length: files may hold longer text. CHAR(n) is filled up, and not read.
    """
    if kind.startswith("decimal("):
        return kind.upper()
    return "VARCHAR" if kind.startswith("varchar(") else TYPES.get(kind, kind)


def columns_of(pairs: Iterable[tuple[str, str]]) -> tuple[Column, ...]:
    """Return columns from their names and Spark's types."""
    return tuple(Column(name, spelled(kind)) for name, kind in pairs)


def catalogue_of(tables: Sequence[SparkTable], left: Sequence[LeftOut]) -> Catalogue:
    """Return the catalogue of tables that a session of ours knows under their views' names."""
    found = tuple(Table(table.name, table.columns, path=(table.view,)) for table in tables)
    return Catalogue(found, dialect=SPARK_SQL, left_out=tuple(left))


def described(rows: SparkRows, catalog: str, database: str) -> tuple[list[SparkTable], list[LeftOut]]:
    """Return the tables of a database of Spark's catalogue, and those that are left out."""
    found: list[SparkTable] = []
    left: list[LeftOut] = []
    for row in rows("SHOW TABLES"):
        name = str(row["tableName"])
        if row["isTemporary"]:
            left.append(LeftOut(name, LEFT_OUT["view"]))
            continue
        place = ".".join(map(quoted, (catalog, database, name)))
        about = json.loads(next(iter(rows(f"DESCRIBE EXTENDED {place} AS JSON")[0].values())))
        provider = fold(str(about.get("provider", "")))
        columns = columns_of(_listed(rows(f"DESCRIBE {place}")))
        if "VIEW" in str(about.get("type", "")):
            left.append(LeftOut(name, LEFT_OUT["view"]))
        elif provider not in ("parquet", *VERSIONS):
            left.append(LeftOut(name, LEFT_OUT["format"]))
        elif not _is_clear(column.name for column in columns):
            left.append(LeftOut(name, LEFT_OUT["twice"]))
        else:
            found.append(SparkTable(name, columns, place, provider))
    return found, left


def _listed(rows: Sequence[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield names and types; what Spark says of partitions follows after an empty line."""
    for row in rows:
        if not row["col_name"] or str(row["col_name"]).startswith("#"):
            return
        yield str(row["col_name"]), str(row["data_type"])


def in_folder(folder: Path) -> dict[str, str]:
    """Return the tables of a folder by their names: Parquet files, and folders of them."""
    found: dict[str, str] = {}
    for entry in sorted(folder.iterdir()):
        if entry.is_dir() or entry.suffix == ".parquet":
            found[entry.stem if entry.is_file() else entry.name.removesuffix(".parquet")] = entry.as_uri()
    return found


def _is_clear(names: Iterable[str]) -> bool:
    listed = [fold(name) for name in names]
    return len(set(listed)) == len(listed)
