"""Rows → the place of each among the groups of a question."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow

from recuse.krelation.codes import codes_of, integers, places_in
from recuse.krelation.encode import Derivations
from recuse.krelation.relation import Integers
from recuse.sql.dense import Dense
from recuse.sql.grouping import Grouping, InTable
from recuse.sql.listed import KeyValue


def group_places(
    found: Derivations, grouping: Grouping | None, tables: Sequence[pyarrow.Table], count: int
) -> Integers:
    """Return the group of every row, of so many; a number beyond all of them where its keys are in none."""
    rows = found.table.num_rows
    if grouping is None:
        return np.zeros(rows, np.int64)
    columns: dict[int, list[str]] = {}
    placed: list[tuple[Integers, int]] = []
    for name, key in zip(found.key, grouping.keys, strict=True):
        if isinstance(key, InTable):
            columns.setdefault(key.table, []).append(name)
        else:
            placed.append(_place(found.table[name], key))
    for number, names in sorted(columns.items()):
        table = tables[number]
        placed.append((_places(found.table, names, table), table.num_rows))
    if len(placed) == 1:
        return placed[0][0]
    position, inside = np.zeros(rows, np.int64), np.ones(rows, bool)
    for place, size in placed:
        inside &= place < size
        position = position * size + np.minimum(place, max(size - 1, 0))
    return np.where(inside, position, count)


def _place(column: pyarrow.ChunkedArray, key: tuple[KeyValue, ...] | Dense) -> tuple[Integers, int]:
    """Return the place of every row among the values of a key, the number of them where it has none."""
    if isinstance(key, tuple):
        return integers(column), len(key)
    size = len(key.labels())
    null = column.is_null().to_numpy(zero_copy_only=False)
    return np.where(
        null, size - 1 if key.null else size, _among(column, key.first, size - key.null, size)
    ), size


def _among(column: pyarrow.ChunkedArray, first: int, count: int, outside: int) -> Integers:
    """Return how far every number is from the first of `count`, and `outside` where it is none of them.

    One number of any size changes nothing for the others: only what lies among them is computed with.
    """
    values = integers(column.fill_null(0))
    inside = (values >= first) & (values < first + count)
    place = np.full(len(values), outside)
    near = values[inside]
    fits = near.dtype != object and abs(first) + count < 2**62
    place[inside] = near - first if fits else (near.astype(object) - first).astype(np.int64)
    return place


def _places(table: pyarrow.Table, names: Sequence[str], public: pyarrow.Table) -> Integers:
    """Return for every row of a table where its keys stand in the public table."""
    if len(names) == 1 and (near := places_in(table[names[0]], public.column(0))) is not None:
        return near
    columns = [[table[name] for name in names], [public[name] for name in public.column_names]]
    mine, theirs = codes_of(columns, [table.num_rows, public.num_rows])
    place = np.full(
        max((int(codes.max()) + 1 for codes in (mine, theirs) if len(codes)), default=0), public.num_rows
    )
    place[theirs] = np.arange(public.num_rows)
    return place[mine]
