"""An answer as an Arrow table: keys, then the value and the noise interval of every other column."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow

from recuse.mechanism.release import Release
from recuse.numerals import double, nearest
from recuse.session.cells import Cell, Row
from recuse.session.intervals import End

BIGGEST, LARGEST = 2**63, 10**38
WIDE = pyarrow.decimal128(38, 0)


def arrow_table(key_names: Sequence[str], names: Sequence[str], rows: Sequence[Row]) -> pyarrow.Table:
    """Return the rows as Arrow columns: keys, then value, `_low` and `_high` of every other column.

    Whole numbers are int64, all else is double; what is undefined or unbounded is null.
    """
    columns: list[Any] = [_keys([row.keys[p] for row in rows]) for p in range(len(key_names))]
    labels = list(key_names)
    for place, name in enumerate(names):
        cells = [row.cells[place] for row in rows]
        values: list[list[End]] = [
            [cell.value for cell in cells],
            [cell.interval[0] for cell in cells],
            [cell.interval[1] for cell in cells],
        ]
        columns += [_numbers(found, cells) for found in values]
        labels += [name, f"{name}_low", f"{name}_high"]
    return pyarrow.Table.from_arrays(columns, names=labels)


def _keys(values: Sequence[Any]) -> Any:
    """Return the keys in the type that holds them all: beyond 64 bits decimals, beyond 38 digits doubles."""
    plain: list[Any] = [nearest(value) if isinstance(value, Fraction) else value for value in values]
    largest = max((abs(value) for value in plain if isinstance(value, int)), default=0)
    if largest < BIGGEST:
        return pyarrow.array(plain)
    if largest < LARGEST and not any(isinstance(value, float) for value in plain):
        return pyarrow.array([None if value is None else Decimal(value) for value in plain], WIDE)
    return pyarrow.array([None if value is None else double(value) for value in plain], pyarrow.float64())


def _numbers(values: Sequence[End], cells: Sequence[Cell]) -> Any:
    whole = all(isinstance(cell, Release) and cell.unit.denominator == 1 for cell in cells)
    fits = all(v is None or (v.denominator == 1 and abs(v) < BIGGEST) for v in values)
    if whole and fits:
        return pyarrow.array([None if v is None else int(v) for v in values], pyarrow.int64())
    return pyarrow.array([None if v is None else double(v) for v in values], pyarrow.float64())
