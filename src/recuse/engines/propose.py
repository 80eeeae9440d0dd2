"""What a folder of CSV files is probably like: types, keys and references, from a sample of its lines.

NOT PRIVATE: this reads rows, for a custodian who drafts a policy and confirms what is proposed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from pathlib import Path

from recuse.blocks import batches
from recuse.engines.files import DELIMITERS, csv_format, table_files
from recuse.fold import fold, same
from recuse.sql.catalogue import Catalogue, Column, ForeignKey, Table

SAMPLE = 1_000
"""lines of a file that are looked at"""
MOST = 200_000
"""lines of a file whose keys are compared with what others name"""
_WHOLE = re.compile(r"-?(0|[1-9]\d{0,17})")
_DECIMAL = re.compile(r"-?(0|[1-9]\d{0,11})(\.(\d{1,6}))?")
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][-+]?\d+)?")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?")
_TRUTH = re.compile(r"true|false", re.IGNORECASE)

SampledCells = Sequence[str | None]


@dataclass(frozen=True, slots=True)
class SampledTable:
    """The first lines of a file, column by column."""

    table: Table
    columns: dict[str, SampledCells]


@dataclass(frozen=True, slots=True)
class Contained:
    """Columns whose sampled values all name rows of another table, though their names do not say so."""

    table: str
    keys: tuple[ForeignKey, ...]


def proposed(catalogue: Catalogue, folder: Path) -> Catalogue:
    """Return a catalogue with types, keys and references as the files' first lines and names suggest."""
    files = {fold(path.stem): path for path in table_files(folder) if path.suffix.lower() in DELIMITERS}
    sampled = {
        table.name: _sampled(table, files[fold(table.name)])
        for table in catalogue.tables
        if fold(table.name) in files
    }
    typed = [_typed(sampled[table.name]) if table.name in sampled else table for table in catalogue.tables]
    tables = [replace(table, foreign_keys=(*table.foreign_keys, *_named(table, typed))) for table in typed]
    return replace(catalogue, tables=tuple(tables))


def contained(catalogue: Catalogue, folder: Path, target: str) -> Iterator[Contained]:
    """Yield the columns of tables without references whose sampled values are all keys of a table."""
    files = {fold(path.stem): path for path in table_files(folder) if path.suffix.lower() in DELIMITERS}
    there = catalogue.table(target)
    if there is None or fold(target) not in files or not there.keys or len(there.keys[0]) != 1:
        return
    (key,) = there.keys[0]
    known = set(_column(files[fold(target)], key, MOST))
    for table in catalogue.tables:
        if table.foreign_keys or same(table.name, target) or fold(table.name) not in files:
            continue
        sample = _sampled(table, files[fold(table.name)])
        found = tuple(name for name, values in sample.columns.items() if _within(values, known))
        if found:
            yield Contained(table.name, tuple(ForeignKey((name,), there.name, (key,)) for name in found))


def _within(values: SampledCells, known: set[str | None]) -> bool:
    present = [value for value in values if value is not None]
    return bool(present) and known.issuperset(present)


def _sampled(table: Table, path: Path) -> SampledTable:
    names = [column.name for column in table.columns]
    return SampledTable(table, {name: list(_column(path, name, SAMPLE)) for name in names})


def _column(path: Path, name: str, most: int) -> Iterator[str | None]:
    with path.open("rb") as file:
        cells = (cell for batch in batches(file, csv_format(path), [name]) for cell in batch.column(0))
        yield from (cell.as_py() for cell in islice(cells, most))


def _typed(sample: SampledTable) -> Table:
    """Return the table with types for its columns, and a key where one is named and the sample has it."""
    columns = tuple(_column_of(column, sample.columns[column.name]) for column in sample.table.columns)
    keys = [
        (column.name,)
        for place, column in enumerate(columns)
        if _is_distinct(sample.columns[column.name])
        and (place == 0 or fold(column.name) in ("id", *_names(sample.table.name)))
    ]
    return replace(sample.table, columns=columns, keys=tuple(keys[:1]))


def _column_of(column: Column, values: SampledCells) -> Column:
    kind = type_of(values)
    is_number = kind in ("BIGINT", "DOUBLE") or kind.startswith("DECIMAL")
    below = any(value is not None and value.startswith("-") for value in values)
    size = typical_size(values) if is_number else None
    return replace(column, type=kind, nonnegative=is_number and not below, typical=size)


def typical_size(values: SampledCells) -> Fraction | None:
    """Return the middle one of the sizes of numbers, down to 1, 2 or 5 times a power of ten; None of zeros.

    >>> str(typical_size(["49.90", "-20", "0", "73"])), typical_size(["0", None])
    ('20', None)
    """
    sizes = sorted(abs(float(value)) for value in values if value is not None)
    sizes = [size for size in sizes if 0 < size < math.inf]
    if not sizes:
        return None
    middle = sizes[(len(sizes) - 1) // 2]
    power = Fraction(10) ** math.floor(math.log10(middle))
    return max((step * power for step in (1, 2, 5) if step * power <= middle), default=power)


def _is_distinct(values: SampledCells) -> bool:
    return bool(values) and None not in values and len(set(values)) == len(values)


def _names(table: str) -> tuple[str, ...]:
    """Return how columns are called that name rows of a table.

    >>> _names("Orders")
    ('orders', 'order', 'orders_id', 'order_id', 'ordersid', 'orderid')
    """
    name = fold(table)
    stems = tuple(dict.fromkeys((name, name.removesuffix("s"))))
    return (*stems, *(f"{stem}_id" for stem in stems), *(f"{stem}id" for stem in stems))


def _named(table: Table, tables: Sequence[Table]) -> Iterator[ForeignKey]:
    """Yield the references that the columns' names suggest, to a table whose key has their type."""
    for column in table.columns:
        for other in tables:
            key = other.column(other.keys[0][0]) if other.keys and len(other.keys[0]) == 1 else None
            if key is None or other.name == table.name or key.type != column.type:
                continue
            if fold(column.name) in _names(other.name):
                yield ForeignKey((column.name,), other.name, (key.name,))


def type_of(values: SampledCells) -> str:
    """Return the type that all values of a sample have; codes with leading zeros are text.

    >>> type_of(["1", "-20"]), type_of(["007"]), type_of(["1.5", "2.25"]), type_of(["2026-01-31", None])
    ('BIGINT', 'VARCHAR', 'DECIMAL(18, 2)', 'DATE')
    """
    found = [value for value in values if value is not None]
    kinds: tuple[tuple[str, re.Pattern[str]], ...] = (
        ("BIGINT", _WHOLE),
        ("DECIMAL", _DECIMAL),
        ("DATE", _DAY),
        ("TIMESTAMP", _MOMENT),
        ("BOOLEAN", _TRUTH),
    )
    for kind, form in kinds:
        if found and all(map(form.fullmatch, found)):
            return f"DECIMAL(18, {_digits(found)})" if kind == "DECIMAL" else kind
    numbers: Callable[[str], object] = _NUMBER.fullmatch
    led = any(value.lstrip("-").startswith("0") and value.lstrip("-")[1:2].isdigit() for value in found)
    return "DOUBLE" if found and all(map(numbers, found)) and not led else "VARCHAR"


def _digits(values: Sequence[str]) -> int:
    return max(len(value.partition(".")[2]) for value in values)
