"""A folder of CSV and Parquet files → one SELECT a table, with names and types fixed before any row is read.

Of a CSV file only the header line is read here. Its lines are read one by one (`recuse.lines`), every cell as
text that is cast with TRY_CAST to the type that the policy's [columns] declares (text where it declares
none): a bad cell is NULL, and nothing raises. Parquet files carry their own names and types (`parquet`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow
from sqlglot import exp
from sqlglot.errors import SqlglotError

from recuse.blocks import batches, header
from recuse.engines.literals import name_literal, text_literal
from recuse.engines.scan import rows
from recuse.errors import DatabaseError, PolicyError
from recuse.fold import fold, same
from recuse.lines import Format
from recuse.policy import ColumnType, Policy

DELIMITERS = {".csv": ",", ".tsv": "\t"}
TABLE_FILES = frozenset({*DELIMITERS, ".parquet"})
"""How the names of files end that are tables of their folder."""
PATTERN = re.compile(r"[*?\[\]]")
"""What DuckDB takes for a pattern in the path of a file."""
_TYPE_TEXT = re.compile(r"[A-Za-z][A-Za-z0-9]*(\(\d+(, ?\d+)?\))?")


@dataclass(frozen=True, slots=True)
class FileTable:
    """A file as a table: its name, its path, the SELECT that reads it, and the rows of a CSV file."""

    name: str
    path: Path
    select: str
    rows: Any
    """of a CSV file, cleaned; None of a Parquet file"""


def raw_name(table: str) -> str:
    """Return what the text cells of a CSV file are called: no table that a question can name."""
    return f"recuse lines of {table}"


def file_tables(folder: Path, policy: Policy | None) -> list[FileTable]:
    """Return the tables of a folder, one a file, named after it.

    A file whose name DuckDB would take for a pattern is no table: it would read others' rows as its own.
    """
    if PATTERN.search(str(folder)):
        raise DatabaseError(
            "the folder's path holds a character that stands for others in file names",
            found=str(folder),
            accepted="paths without * ? [ ]",
            hint="rename the folder",
        )
    found: dict[str, FileTable] = {}
    for table in (_table(path, policy) for path in table_files(folder)):
        other = found.setdefault(fold(table.name), table)
        if other is not table:
            raise DatabaseError(
                f"two files are called {table.name}",
                found=f"{other.path.name} and {table.path.name}",
                hint="keep one of them in the folder",
            )
    if not found:
        raise DatabaseError(
            f"the folder {folder} holds no tables",
            accepted=".csv, .tsv, .parquet",
            hint="name a folder with files, or a DuckDB file",
        )
    return list(found.values())


def table_files(folder: Path) -> list[Path]:
    """Return the files of a folder that are tables, in order of their names."""
    return sorted(
        path
        for path in folder.iterdir()
        if path.suffix.lower() in TABLE_FILES and path.is_file() and not PATTERN.search(path.name)
    )


def _table(path: Path, policy: Policy | None) -> FileTable:
    if path.suffix.lower() not in DELIMITERS:
        return FileTable(path.stem, path, f"SELECT * FROM read_parquet({text_literal(str(path))})", None)
    form = csv_format(path)
    outputs = typed_columns(path.stem, form.names, policy)
    select = f"SELECT {outputs} FROM temp.main.{name_literal(raw_name(path.stem))}"
    return FileTable(path.stem, path, select, csv_rows(path, form))


def csv_rows(path: Path, form: Format) -> Any:
    """Return the rows of a file, all cells as text."""
    schema = pyarrow.schema([(name, pyarrow.string()) for name in form.names])
    return rows(schema, lambda names: _read(path, form, names))


def _read(path: Path, form: Format, names: Sequence[str]) -> Iterator[pyarrow.RecordBatch]:
    with path.open("rb") as file:
        yield from batches(file, form, names)


def csv_format(path: Path) -> Format:
    """Return how the lines of a CSV file are read: its delimiter by its name, its columns by its header."""
    delimiter = DELIMITERS[path.suffix.lower()]
    return Format(delimiter, header(path, delimiter))


def typed_columns(table: str, names: Sequence[str], policy: Policy | None) -> str:
    """Return a SELECT list of a table's columns, those cast whose types the policy declares."""
    types = declared_types(table, policy)
    outputs = []
    for name in names:
        quoted = name_literal(name)
        target = types.get(fold(name))
        outputs.append(f"TRY_CAST({quoted} AS {target}) AS {quoted}" if target else quoted)
    return ", ".join(outputs)


def declared_types(table: str, policy: Policy | None) -> dict[str, str]:
    """Return the types that the policy declares for a table, by column in lower case."""
    declared = [c for c in policy.columns if same(c.table, table)] if policy else []
    return {fold(column.column): _cast_type(column) for column in declared}


def _cast_type(column: ColumnType) -> str:
    """Return a declared type as DuckDB spells it; only plain types without collation are accepted."""
    wrong = PolicyError(
        f"column {column.column} of {column.table} has an unknown type",
        line=column.line,
        found=column.type,
        accepted="BIGINT, DOUBLE, DECIMAL(p, s), VARCHAR, DATE, TIMESTAMP, BOOLEAN, UUID",
    )
    if not _TYPE_TEXT.fullmatch(column.type):
        raise wrong
    try:
        kind = exp.DataType.build(column.type, dialect="duckdb")
    except (SqlglotError, ValueError):
        raise wrong from None
    if kind.this not in PLAIN_TYPES or kind.args.get("nested"):
        raise wrong
    return kind.sql("duckdb")


_TYPE = exp.DataType.Type
PLAIN_TYPES = frozenset(
    {
        *(_TYPE.TINYINT, _TYPE.SMALLINT, _TYPE.INT, _TYPE.BIGINT, _TYPE.INT128),
        *(_TYPE.UTINYINT, _TYPE.USMALLINT, _TYPE.UINT, _TYPE.UBIGINT),
        *(_TYPE.FLOAT, _TYPE.DOUBLE, _TYPE.DECIMAL, _TYPE.VARCHAR, _TYPE.TEXT, _TYPE.BOOLEAN),
        *(_TYPE.DATE, _TYPE.TIME, _TYPE.TIMESTAMP, _TYPE.TIMESTAMPNTZ, _TYPE.UUID),
    }
)


def unopened(path: Path, reason: str) -> DatabaseError:
    """Return why a file is no database: it is in use, or a table of a folder, or something else."""
    if "lock" in reason.lower() or "in use" in reason.lower():  # by another program, or by this one
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
