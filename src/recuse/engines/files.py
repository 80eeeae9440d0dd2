"""A folder of CSV and Parquet files → one SELECT a table, with names and types fixed before any row is read.

Of a CSV file only the header line is read here. Every cell is read as text and cast with TRY_CAST to the
type that the policy's [columns] declares (text where it declares none): a bad cell is NULL, a malformed
line is padded or skipped, and nothing raises. Parquet files carry their own names and types.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlglot import exp
from sqlglot.errors import SqlglotError

from recuse.errors import DatabaseError, PolicyError
from recuse.policy import ColumnType, Policy

DELIMITERS = {".csv": ",", ".tsv": "\t"}
TABLE_FILES = frozenset({*DELIMITERS, ".parquet"})
"""How the names of files end that are tables of their folder."""
MAX_HEADER = 1_000_000
PATTERN = re.compile(r"[*?\[\]]")
"""What DuckDB takes for a pattern in the path of a file."""
_TYPE_TEXT = re.compile(r"[A-Za-z][A-Za-z0-9]*(\(\d+(, ?\d+)?\))?")
CSV_OPTIONS = (
    "auto_detect = false, header = true, quote = '\"', escape = '\"', "
    "ignore_errors = true, null_padding = true, strict_mode = false, parallel = false"
)


@dataclass(frozen=True, slots=True)
class FileTable:
    """A file as a table: its name, its path, and the SELECT that reads it."""

    name: str
    path: Path
    select: str


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
    for table in _files(folder, policy):
        other = found.setdefault(table.name.lower(), table)
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


def _files(folder: Path, policy: Policy | None) -> Iterator[FileTable]:
    for path in sorted(path for path in folder.iterdir() if not PATTERN.search(path.name)):
        suffix = path.suffix.lower()
        if suffix == ".parquet" and path.is_file():
            yield FileTable(path.stem, path, f"SELECT * FROM read_parquet({text_literal(str(path))})")
        elif suffix in DELIMITERS and path.is_file():
            yield FileTable(path.stem, path, _csv_select(path, DELIMITERS[suffix], policy))


def _csv_select(path: Path, delimiter: str, policy: Policy | None) -> str:
    names = _header(path, delimiter)
    columns = ", ".join(f"{text_literal(name)}: 'VARCHAR'" for name in names)
    return (
        f"SELECT {typed_columns(path.stem, names, policy)} FROM read_csv({text_literal(str(path))}, "
        f"delim = {text_literal(delimiter)}, columns = {{{columns}}}, {CSV_OPTIONS})"
    )


def typed_columns(table: str, names: Sequence[str], policy: Policy | None) -> str:
    """Return a SELECT list of a table's columns, those cast whose types the policy declares."""
    declared = [c for c in policy.columns if c.table.lower() == table.lower()] if policy else []
    types = {column.column.lower(): _cast_type(column) for column in declared}
    outputs = []
    for name in names:
        quoted = name_literal(name)
        target = types.get(name.lower())
        outputs.append(f"TRY_CAST({quoted} AS {target}) AS {quoted}" if target else quoted)
    return ", ".join(outputs)


def _header(path: Path, delimiter: str) -> list[str]:
    """Return the column names in the first line of a file, and look no further."""
    try:
        with path.open("rb") as file:  # bytes, because decoding reads ahead
            first = file.readline(MAX_HEADER).splitlines()[:1]
        line = b"".join(first).decode("utf-8-sig")
        names = [name.strip() for name in next(csv.reader([line], delimiter=delimiter, strict=True), [])]
    except (OSError, ValueError, csv.Error):
        raise DatabaseError(
            f"the header of {path.name} cannot be read",
            hint="the first line names the columns, as UTF-8 text",
        ) from None
    if not names or not all(names) or len({name.lower() for name in names}) < len(names):
        raise DatabaseError(
            f"the header of {path.name} does not name every column once",
            hint="the first line holds one name for each column",
        )
    return names


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
        *(_TYPE.DATE, _TYPE.TIME, _TYPE.TIMESTAMP, _TYPE.UUID),
    }
)


def text_literal(text: str) -> str:
    """Return an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def name_literal(name: str) -> str:
    """Return a quoted SQL name."""
    return '"' + name.replace('"', '""') + '"'
