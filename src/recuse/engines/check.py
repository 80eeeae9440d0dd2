"""Tables that are checked: all is read once, and what cannot be read as it is declared is named.

For the custodian alone: what it says depends on private rows. At question time the same cells are NULL.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import pyarrow

from recuse.arrow import arrow_numbers
from recuse.blocks import BREAK, blocks, follows, parsed
from recuse.engines.duckdb import DuckDB
from recuse.engines.files import DELIMITERS, TABLE_FILES, csv_format, declared_types, table_files
from recuse.engines.literals import name_literal, text_literal
from recuse.engines.parquet import TOTAL, problem_of, unreadable, unreadable_cells
from recuse.fold import fold
from recuse.lines import Format, cells
from recuse.policy import Policy

MANY = 500_000
"""How many rows of a DuckDB table are checked at a time."""
DAMAGED = "damaged: it cannot be read"


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Something that cannot be read: where it is, and why. `line` counts rows where there are no lines."""

    file: str
    line: int | None
    column: str | None
    problem: str

    def __str__(self) -> str:
        places = [self.file]
        if self.line is not None:
            places.append(f"{'line' if Path(self.file).suffix.lower() in DELIMITERS else 'row'} {self.line}")
        if self.column is not None:
            places.append(self.column)
        return f"{', '.join(places)}: {self.problem}"


def check_tables(path: Path, policy: Policy | None) -> Iterator[Unreadable] | None:
    """Return what cannot be read in a DuckDB file, a folder of CSV and Parquet files, or one of them.

    None if the path is something else.
    """
    if path.is_dir():
        files = table_files(path.resolve())
        return (found for file in files for found in _table_file(file, policy))
    if path.suffix.lower() in TABLE_FILES:
        return _table_file(path.resolve(), policy)
    return _database(path, policy) if _is_database(path) else None


def _table_file(path: Path, policy: Policy | None) -> Iterator[Unreadable]:
    yield from _csv(path, policy) if path.suffix.lower() in DELIMITERS else _parquet(path)


# ------------------------------------------------------------------ CSV


@dataclass(frozen=True, slots=True, eq=False)
class _Check:
    """A CSV file that is being checked: its columns with their types, where each stands in a line."""

    file: str
    form: Format
    types: dict[int, str]
    connection: duckdb.DuckDBPyConnection

    def block(self, block: bytes, before: int) -> Iterator[Unreadable]:
        """Yield what is wrong in some lines, line by line; `before` lines stand before them."""
        if self._is_good(block):
            return
        found: list[Unreadable] = []
        read: list[tuple[int, list[str | None]]] = []
        for number, line in enumerate(BREAK.split(block)[:-1], start=before + 1):
            row, unread = cells(line, self.form)
            for wrong in unread:
                column = None if wrong.cell is None else self.form.names[wrong.cell]
                found.append(Unreadable(self.file, number, column, wrong.problem))
            if row is not None:
                read.append((number, row))
        numbers = pyarrow.array([number for number, _ in read], pyarrow.int64())
        for place, lines in self._mistyped(
            {place: pyarrow.array([row[place] for _, row in read], pyarrow.string()) for place in self.types},
            numbers,
        ):
            problem = f"not of type {self.types[place]}"
            found += [Unreadable(self.file, line, self.form.names[place], problem) for line in lines]
        yield from sorted(found, key=lambda unreadable: unreadable.line or 0)

    def _is_good(self, block: bytes) -> bool:
        """Return whether all lines follow the format and all cells have their types; this is quick."""
        if not follows(block, self.form):
            return False
        others: list[bytes] = []
        names = [self.form.names[place] for place in self.types] or [self.form.names[0]]
        batches = parsed(block, self.form, names, others)
        if others or batches is None:
            return False
        for batch in batches if self.types else []:
            columns = dict(zip(self.types, batch.columns, strict=True))
            if any(lines for _, lines in self._mistyped(columns, arrow_numbers(np.arange(batch.num_rows)))):
                return False
        return True

    def _mistyped(
        self, columns: Mapping[int, pyarrow.Array], numbers: pyarrow.Array
    ) -> Iterator[tuple[int, list[int]]]:
        """Yield for every column with a type the lines whose cells are not of it."""
        if not columns:
            return
        table = pyarrow.table([numbers, *columns.values()], ["line", *(f"c{place}" for place in columns)])
        self.connection.register("batch", table)
        for place in columns:
            wrong = f"c{place} IS NOT NULL AND TRY_CAST(c{place} AS {self.types[place]}) IS NULL"
            found = self.connection.execute(f"SELECT line FROM batch WHERE {wrong} ORDER BY 1").fetchall()
            yield place, [int(line) for (line,) in found]
        self.connection.unregister("batch")


def _csv(path: Path, policy: Policy | None) -> Iterator[Unreadable]:
    form = csv_format(path)
    declared = declared_types(path.stem, policy)
    types = {place: declared[fold(name)] for place, name in enumerate(form.names) if fold(name) in declared}
    before = 1  # the header
    with contextlib.closing(duckdb.connect(":memory:")) as connection, path.open("rb") as file:
        checking = _Check(path.name, form, types, connection)
        for block in blocks(file):
            yield from checking.block(block, before)
            before += len(BREAK.findall(block)) if b"\r" in block else block.count(b"\n")


# ------------------------------------------------------------------ Parquet, DuckDB


def _parquet(path: Path) -> Iterator[Unreadable]:
    with contextlib.closing(duckdb.connect(":memory:")) as connection:
        source = f"read_parquet({text_literal(str(path))})"
        try:
            names = [
                str(name) for name, *_ in connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
            ]
            found = list(unreadable_cells(path, names))
        except (duckdb.Error, pyarrow.ArrowException, OSError):
            yield Unreadable(path.name, None, None, "no complete Parquet file")
            return
        seen = set()
        for cell in found:
            seen.add(cell.column)
            damaged = f"row group {cell.group + 1} is damaged"
            yield Unreadable(path.name, cell.row, cell.column, damaged if cell.row is None else cell.problem)
        for name in names:
            if name not in seen and not _runs(
                connection, f"SELECT max(hash({name_literal(name)})) FROM {source}"
            ):
                yield Unreadable(path.name, None, name, DAMAGED)


def _runs(connection: duckdb.DuckDBPyConnection, sql: str) -> bool:
    try:
        connection.execute(sql).fetchall()
    except duckdb.Error:
        return False
    return True


def _is_database(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(12)[8:] == b"DUCK"


def _database(path: Path, policy: Policy | None) -> Iterator[Unreadable]:
    with DuckDB.open(path, policy) as engine:
        for table in engine.catalogue().tables:
            if table.view is not None:
                continue
            place = ".".join(map(name_literal, table.path))
            for column in table.columns:
                yield from _stored(engine.connection, table.name, place, column.name, column.type)


def _stored(
    connection: duckdb.DuckDBPyConnection, table: str, place: str, column: str, kind: str
) -> Iterator[Unreadable]:
    """Yield the values of a stored column that are none, and whether it can be read at all."""
    name = name_literal(column)
    if kind in TOTAL:
        if not _runs(connection, f"SELECT max(hash({name})) FROM {place}"):
            yield Unreadable(table, None, column, DAMAGED)
        return
    try:
        ((last,),) = connection.execute(f"SELECT coalesce(max(rowid), -1) FROM {place}").fetchall()
        for start in range(0, last + 1, MANY):
            part = f"rowid >= {start} AND rowid < {start + MANY}"
            found = connection.sql(f"SELECT rowid + 1, {name} FROM {place} WHERE {part}").to_arrow_table()
            numbers, values = found.column(0), found.column(1).combine_chunks()
            for wrong in unreadable(values):
                yield Unreadable(table, numbers[int(wrong)].as_py(), column, problem_of(values.type))
    except (duckdb.Error, pyarrow.ArrowException):
        yield Unreadable(table, None, column, DAMAGED)
