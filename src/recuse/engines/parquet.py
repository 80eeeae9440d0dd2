"""Parquet files whose cells can all be read, or are NULL.

DuckDB reads Parquet quickly, but one cell that is no UTF-8, or a time beyond its day, makes it raise, or not,
depending on what is asked of the column. So the columns that a statement names are read through once before
(`GATES`); if anything in them cannot be read, the file is read by `parquet_rows` instead, where exactly the
cells are NULL that cannot be read. For a file without such cells both are the same table.

NaN is another reason: the statistics of a file leave it out, and DuckDB, which trusts them, finds that
NaN = 0 holds in a file of zeros and not in one that has a 6 in it as well.

Guarantee: a cell's value depends on the cell alone, never on others in its file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow

from recuse.deferred import compute
from recuse.engines.literals import name_literal, text_literal
from recuse.engines.scan import rows
from recuse.fold import fold

EARLIEST = -9_223_372_022_400_000_000
"""DuckDB's first timestamp, in microseconds; the one below it is -infinity"""
ENDLESS = -(2**63) + 1
DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
GATES = {
    **{kind: f"bool_or(hash({{0}}) = hash(CAST('nan' AS {kind})))" for kind in ("FLOAT", "DOUBLE")},
    "TIME": "bool_or(NOT {0} BETWEEN TIME '00:00:00' AND TIME '24:00:00')",
    "TIMESTAMP": "bool_or({0} < TIMESTAMP '290309-12-22 (BC) 00:00:00' "
    "AND {0} <> CAST('-infinity' AS TIMESTAMP))",
    "TIMESTAMP WITH TIME ZONE": "bool_or({0} < CAST('290309-12-22 (BC) 00:00:00+00' AS TIMESTAMPTZ) "
    "AND {0} <> CAST('-infinity' AS TIMESTAMPTZ))",
}
"""What reads a column and is true, or raises, if a cell cannot be read by DuckDB; a hash has no statistics"""
TOTAL = frozenset(
    {"BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"}
    | {"FLOAT", "DOUBLE", "DATE", "UUID", "BLOB", "TIMESTAMP_NS"}
)
"""Types of which every bit pattern is a value"""
_DECIMAL = re.compile(r"DECIMAL\((\d+),(\d+)\)")
_ALL_COLUMNS = re.compile(r"(SELECT|DISTINCT|ALL|,)\s*\*|\.\*", re.IGNORECASE)
LARGE = {pyarrow.string(): pyarrow.large_string(), pyarrow.binary(): pyarrow.large_binary()}
_READ_ERRORS = (pyarrow.ArrowException, OSError, ValueError)


@dataclass(slots=True, eq=False)
class ParquetTable:
    """A Parquet file as a view: its types as DuckDB reads them, and what is known of its cells by now."""

    name: str
    path: Path
    types: dict[str, str]
    clean: set[str] = field(default_factory=set)
    replaced: bool = False

    def gated(self, statements: Sequence[str]) -> list[str]:
        """Return the columns that statements may read and whose cells are not known to be readable."""
        text = fold("\n".join(statements))
        everything = any(map(_ALL_COLUMNS.search, statements))
        return [
            name
            for name, kind in self.types.items()
            if (kind not in TOTAL or kind in GATES)
            and name not in self.clean
            and (everything or name_literal(fold(name))[1:-1] in text)
        ]


@dataclass(frozen=True, slots=True, eq=False)
class ParquetFolder:
    """The Parquet files of a connection, each read by DuckDB for as long as it can be."""

    connection: duckdb.DuckDBPyConnection
    tables: tuple[ParquetTable, ...] = ()

    def prepare(self, statements: Sequence[str]) -> None:
        """Read the columns that statements name, and replace the files in which a cell cannot be read."""
        for table in self.tables:
            columns = [] if table.replaced else table.gated(statements)
            if not columns:
                continue
            if _is_clean(self.connection, table, columns):
                table.clean.update(columns)
            else:
                self._replace(table)

    def replace_all(self) -> bool:
        """Read no file by DuckDB any more, since one is damaged; return whether that changes anything."""
        left = [table for table in self.tables if not table.replaced]
        for table in left:
            self._replace(table)
        return bool(left)

    def _replace(self, table: ParquetTable) -> None:
        raw = f"recuse cells of {table.name}"
        self.connection.register(raw, parquet_rows(table.path))
        outputs = ", ".join(
            f"TRY_CAST({name_literal(name)} AS {kind}) AS {name_literal(name)}"
            for name, kind in table.types.items()
        )
        self.connection.execute(
            f"CREATE OR REPLACE VIEW memory.main.{name_literal(table.name)} AS "
            f"SELECT {outputs} FROM temp.main.{name_literal(raw)}"
        )
        table.replaced = True


def _is_clean(connection: duckdb.DuckDBPyConnection, table: ParquetTable, columns: Sequence[str]) -> bool:
    """Return whether every cell of the columns can be read."""
    if any(_wraps(table, name) and unreadable_rows(table.path, name) for name in columns):
        return False
    tests = ", ".join(_gate(name, table.types[name]) for name in columns)
    try:
        (found,) = connection.sql(
            f"SELECT {tests} FROM read_parquet({text_literal(str(table.path))})"
        ).fetchall()
    except duckdb.Error:
        return False
    return not any(value is True for value in found)


def _gate(name: str, kind: str) -> str:
    column = name_literal(name)
    if match := _DECIMAL.fullmatch(kind):
        digits, scale = int(match[1]), int(match[2])
        most = "9" * digits if not scale else f"{'9' * (digits - scale)}.{'9' * scale}"
        return f"bool_or(NOT {column} BETWEEN CAST('-{most}' AS {kind}) AND CAST('{most}' AS {kind}))"
    return GATES.get(kind, "max(hash({0}))").format(column)


def _wraps(table: ParquetTable, name: str) -> bool:
    """Return whether a decimal is stored in more bytes than DuckDB keeps of it."""
    match = _DECIMAL.fullmatch(table.types[name])
    if match is None:
        return False
    kept = next(size for digits, size in ((4, 2), (9, 4), (18, 8), (38, 16)) if int(match[1]) <= digits)
    schema = _opened(table.path).schema
    stored = next(schema.column(i) for i in range(len(schema)) if schema.column(i).path == name)
    return bool({"INT32": 4, "INT64": 8}.get(stored.physical_type, stored.length or 17) > kept)


# ------------------------------------------------------------------ reading by Arrow, cell by cell


def parquet_rows(path: Path) -> Any:
    """Return the rows of a file: a cell that cannot be read is NULL, and so are those of a damaged part."""
    return rows(_schema(_opened(path)), lambda names: _batches(path, names))


def _opened(path: Path) -> Any:
    return import_module("pyarrow.parquet").ParquetFile(
        path, memory_map=True, coerce_int96_timestamp_unit="us"
    )


def _schema(file: Any) -> pyarrow.Schema:
    """Return the columns of a file, text in the form that holds any amount of it."""
    return pyarrow.schema([field.with_type(LARGE.get(field.type, field.type)) for field in file.schema_arrow])


def _batches(path: Path, names: Sequence[str]) -> Iterator[pyarrow.RecordBatch]:
    file = _opened(path)
    kinds = _schema(file)
    for group in range(file.num_row_groups):
        count = file.metadata.row_group(group).num_rows
        columns = []
        for name in names:
            found = _column(file, group, name)
            missing = pyarrow.nulls(count, kinds.field(name).type)
            columns.append(missing if found is None else readable(found))
        yield pyarrow.record_batch(columns, schema=pyarrow.schema([kinds.field(name) for name in names]))


def _column(file: Any, group: int, name: str) -> pyarrow.Array | None:
    """Return a column of a row group, None if its bytes are damaged."""
    try:
        read = file.read_row_group(group, columns=[name], use_threads=False)[name]
        found = read.cast(LARGE.get(read.type, read.type)).combine_chunks()
    except _READ_ERRORS:
        return None
    return found if len(found) == file.metadata.row_group(group).num_rows else None


def readable(column: pyarrow.Array) -> pyarrow.Array:
    """Return a column with NULL in place of every value that is none of its type."""
    wrong = unreadable(column)
    if not len(wrong):
        return column
    mask = np.zeros(len(column), bool)
    mask[wrong] = True
    # a mask is applied to indices, because other kernels may look into the values
    kept = pyarrow.array(np.arange(len(column)), mask=mask)
    return column.take(kept)


def unreadable(column: pyarrow.Array) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the places of the values that are none of their column's type."""
    kind = column.type
    if pyarrow.types.is_time(kind):
        wide = column.view(pyarrow.int32() if kind.bit_width == 32 else pyarrow.int64())
        return _outside(wide, 0, DAY[kind.unit])
    if pyarrow.types.is_timestamp(kind):
        return _outside_timestamps(column.view(pyarrow.int64()), kind.unit)
    try:
        column.validate(full=True)
    except pyarrow.ArrowInvalid:
        return np.array([i for i in range(len(column)) if not _valid(column.slice(i, 1))], np.int64)
    return np.array([], np.int64)


def _outside_timestamps(values: pyarrow.Array, unit: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    if unit == "ns":
        return np.array([], np.int64)
    scale = {"s": 1_000_000, "ms": 1_000, "us": 1}[unit]
    found = _outside(values, -(-EARLIEST // scale), (2**63 - 1) // scale)
    if unit != "us":
        return found
    endless = values.take(pyarrow.array(found)).to_pylist()
    return np.array(
        [place for place, value in zip(found, endless, strict=True) if value != ENDLESS], np.int64
    )


def _outside(values: pyarrow.Array, least: int, most: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    low, high = pyarrow.scalar(least, values.type), pyarrow.scalar(most, values.type)
    wrong = compute.or_(compute.less(values, low), compute.greater(values, high))
    places = compute.indices_nonzero(compute.fill_null(wrong, False))
    return np.asarray(places.to_pylist(), np.int64)


def problem_of(kind: pyarrow.DataType) -> str:
    """Return what is wrong with a value that is none of its type."""
    types = pyarrow.types
    if types.is_string(kind) or types.is_large_string(kind):
        return "not UTF-8"
    if types.is_time(kind):
        return "a time beyond its day"
    if types.is_timestamp(kind):
        return "a timestamp out of range"
    return "a number with more digits than its type" if types.is_decimal(kind) else "no value of its type"


def _valid(cell: pyarrow.Array) -> bool:
    try:
        cell.validate(full=True)
    except pyarrow.ArrowInvalid:
        return False
    return True


def unreadable_rows(path: Path, name: str) -> bool:
    """Return whether a column of a file has a cell that cannot be read."""
    return any(True for _ in unreadable_cells(path, [name]))


@dataclass(frozen=True, slots=True)
class UnreadCell:
    """A cell that cannot be read: its row from 1, or None where a whole row group is damaged."""

    column: str
    group: int
    row: int | None
    problem: str


def unreadable_cells(path: Path, names: Iterable[str]) -> Iterator[UnreadCell]:
    """Yield the cells of a file that cannot be read, and the parts of it that are damaged."""
    file = _opened(path)
    before = 0
    for group in range(file.num_row_groups):
        for name in names:
            found = _column(file, group, name)
            if found is None:
                yield UnreadCell(name, group, None, "damaged")
                continue
            for place in unreadable(found):
                yield UnreadCell(name, group, before + int(place) + 1, problem_of(found.type))
        before += file.metadata.row_group(group).num_rows
