"""An answer as an Arrow table: keys, then the value and the noise interval of every other column."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pyarrow

from recuse.mechanism.release import Release
from recuse.numerals import nearest
from recuse.session.cells import Cell, Row
from recuse.session.intervals import End

BIGGEST = 2**63


def arrow_table(key_names: Sequence[str], names: Sequence[str], rows: Sequence[Row]) -> pyarrow.Table:
    """Return the rows as Arrow columns: keys, then value, `_low` and `_high` of every other column.

    Whole numbers are int64, all else is double; what is undefined or unbounded is null.
    """
    columns: list[Any] = [
        pyarrow.array(
            [nearest(row.keys[p]) if isinstance(row.keys[p], Fraction) else row.keys[p] for row in rows]
        )
        for p in range(len(key_names))
    ]
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


def _numbers(values: Sequence[End], cells: Sequence[Cell]) -> Any:
    whole = all(isinstance(cell, Release) and cell.unit.denominator == 1 for cell in cells)
    fits = all(v is None or (v.denominator == 1 and abs(v) < BIGGEST) for v in values)
    if whole and fits:
        return pyarrow.array([None if v is None else int(v) for v in values], pyarrow.int64())
    return pyarrow.array([None if v is None else float(nearest(v)) for v in values], pyarrow.float64())
