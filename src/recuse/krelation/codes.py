"""Arrow columns → whole numbers: equal values have equal numbers, whatever their order."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import pyarrow
from numpy.typing import NDArray

from recuse.deferred import compute
from recuse.krelation.relation import Integers


def codes_of(groups: Sequence[Sequence[pyarrow.ChunkedArray]], sizes: Sequence[int]) -> list[Integers]:
    """Return codes for the rows of several tables: equal values, NULL among them, have equal codes."""
    width = len(groups[0])
    codes = np.zeros(sum(sizes), np.int64)
    if width:
        codes, _ = numbered([stacked([group[place] for group in groups]) for place in range(width)])
    ends = list(accumulate(sizes, initial=0))
    return [codes[start:end] for start, end in pairwise(ends)]


def stacked(columns: list[pyarrow.ChunkedArray]) -> pyarrow.ChunkedArray:
    """Return the columns one after the other, in a type that holds them all exactly."""
    plain = [_plain(column) for column in columns]
    types = {column.type for column in plain}
    if len(types) > 1:
        common = _common_type(types)
        plain = [column.cast(common) for column in plain]
    return pyarrow.chunked_array([chunk for column in plain for chunk in column.chunks], type=plain[0].type)


def _common_type(types: set[pyarrow.DataType]) -> pyarrow.DataType:
    if all(map(pyarrow.types.is_integer, types)):
        return pyarrow.int64()
    if all(map(pyarrow.types.is_floating, types)):
        return pyarrow.float64()
    if all(map(pyarrow.types.is_decimal, types)):
        return pyarrow.decimal256(76, max(kind.scale for kind in types))
    raise ValueError("columns that name the same things have different types")


def _whole(column: pyarrow.ChunkedArray) -> pyarrow.Array:
    """Return the column as one array."""
    return pyarrow.concat_arrays(column.chunks) if column.num_chunks else pyarrow.array([], column.type)


def _plain(column: pyarrow.ChunkedArray) -> pyarrow.ChunkedArray:
    """Return the column without a dictionary, and decimals in a width that Arrow can compare."""
    kind = column.type
    if pyarrow.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if pyarrow.types.is_decimal(kind) and kind.bit_width < 128:  # some versions of DuckDB send narrow ones
        return column.cast(pyarrow.decimal128(kind.precision, kind.scale))
    return column


def numbered(columns: list[pyarrow.ChunkedArray]) -> tuple[Integers, tuple[pyarrow.Array, ...]]:
    """Return each row's code, and column by column the values that each code stands for.

    Several columns are combined two at a time into one integer and renumbered, so that the codes stay
    below the number of rows and nothing is hashed or joined into text.
    """
    codes, values = _own_codes(_whole(columns[0]))
    if len(columns) == 1:
        return codes, (values,)
    for column in columns[1:]:
        own, others = _own_codes(_whole(column))
        codes = _renumber(codes * len(others) + own)
    first = np.empty(int(codes.max(initial=-1)) + 1, np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    return codes, tuple(_whole(column.take(arrow_array(first))) for column in columns)


def loosely_numbered(columns: list[pyarrow.ChunkedArray]) -> tuple[Integers, int]:
    """Return each row's code, and a number above all codes; there may be codes that no row has.

    So integers that lie close together are their own codes, but for where they begin.
    """
    if len(columns) == 1 and (ends := _close(columns[0])) is not None:
        return _shifted(columns[0], ends[0]), ends[1] - ends[0] + 1
    codes, values = numbered(columns)
    return codes, len(values[0])


def places_in(column: pyarrow.ChunkedArray, known: pyarrow.ChunkedArray) -> Integers | None:
    """Return where each integer stands in a column of different ones, its length for others.

    None if they are no integers, or do not lie close together.
    """
    ends = _close(known, most=len(column))
    signed = pyarrow.types.is_signed_integer(column.type)  # of others some are beyond 64 bits with a sign
    if ends is None or not signed or column.null_count:
        return None
    least, most = ends
    table = np.full(most - least + 3, len(known), np.int64)  # the first and the last are beyond the ends
    table[_shifted(known, least) + 1] = np.arange(len(known))
    found, start = np.empty(len(column), np.int64), 0
    for chunk in column.chunks:  # one by one, so that what is in between stays small
        values = np.from_dlpack(chunk).astype(np.int64, copy=False)
        np.take(table, values.clip(least - 1, most + 1) - (least - 1), out=found[start : start + len(chunk)])
        start += len(chunk)
    return found


def _close(column: pyarrow.ChunkedArray | pyarrow.Array, most: int = 0) -> tuple[int, int] | None:
    """Return the ends of integers that lie close together: a table of all between them is small."""
    if not pyarrow.types.is_integer(column.type) or column.null_count or not len(column):
        return None
    parts = [np.from_dlpack(chunk) for chunk in _chunks(column) if len(chunk)]
    low, high = min(int(part.min()) for part in parts), max(int(part.max()) for part in parts)
    near = high - low < 8 * max(most, len(column)) and low > -(2**62) and high < 2**62
    return (low, high) if near else None


def _chunks(column: pyarrow.ChunkedArray | pyarrow.Array) -> Sequence[pyarrow.Array]:
    return column.chunks if isinstance(column, pyarrow.ChunkedArray) else [column]


def _shifted(column: pyarrow.ChunkedArray | pyarrow.Array, least: int) -> Integers:
    """Return the integers less the least of them, chunk by chunk: nothing is copied in between."""
    found, start = np.empty(len(column), np.int64), 0
    for chunk in _chunks(column):
        np.subtract(np.from_dlpack(chunk), least, dtype=np.int64, out=found[start : start + len(chunk)])
        start += len(chunk)
    return found


def in_order(
    codes: Integers, values: tuple[pyarrow.Array, ...]
) -> tuple[Integers, tuple[pyarrow.Array, ...]]:
    """Return codes and their values in the order of the values."""
    order = np.lexsort([_rank(column) for column in values[::-1]])
    if (order[1:] > order[:-1]).all():
        return codes, values
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    return number[codes], tuple(column.take(arrow_array(order)) for column in values)


def _rank(column: pyarrow.Array) -> NDArray[Any]:
    """Return the rank of every value; by its text where Arrow knows no order, which its type says.

    Whole numbers are ranks already.
    """
    if pyarrow.types.is_integer(column.type) and not column.null_count:
        return np.from_dlpack(column)
    try:
        ranks = compute.rank(column, tiebreaker="dense")
    except pyarrow.ArrowNotImplementedError:
        ranks = compute.rank(pyarrow.array(map(repr, column.to_pylist())), tiebreaker="dense")
    found: Integers = np.from_dlpack(ranks).astype(np.int64)
    return found


def _own_codes(column: pyarrow.Array) -> tuple[Integers, pyarrow.Array]:
    """Return the codes of one column's values, and the value of each; NULL is a value.

    Integers that lie close together are numbered through a table of all that could occur.
    """
    if (ends := _close(column)) is not None:
        least, most = ends
        places = _shifted(column, least)
        there = np.zeros(most - least + 1, bool)
        there[places] = True
        found = np.flatnonzero(there)
        known = arrow_array(found + least, column.type)
        if len(found) == len(there):
            return places, known
        number = np.empty(len(there), np.int64)
        number[found] = np.arange(len(found))
        return number[places], known
    dictionary = column.dictionary_encode(null_encoding="encode")
    return np.from_dlpack(dictionary.indices).astype(np.int64), dictionary.dictionary


def _renumber(codes: Integers) -> Integers:
    return np.from_dlpack(arrow_array(codes).dictionary_encode().indices).astype(np.int64)


def arrow_array(values: Integers, kind: pyarrow.DataType | None = None) -> pyarrow.Array:
    """Return an Arrow array of whole numbers; `pyarrow.array` would import pandas first.

    Those of 64 bits are over the same memory.
    """
    kind = kind or pyarrow.int64()
    narrow = values.astype(str(kind), copy=False)
    return pyarrow.Array.from_buffers(kind, len(narrow), [None, pyarrow.py_buffer(narrow)])


def integers(column: pyarrow.ChunkedArray) -> NDArray[Any]:
    """Return whole numbers as int64, or as Python integers where one does not fit.

    DuckDB's 128-bit sums arrive as decimal128(38, 0): two 64-bit words each, read from the buffer.
    """
    if column.null_count:
        raise ValueError("a weight is NULL")
    array = _whole(column)
    if pyarrow.types.is_integer(array.type):
        return _negatable(np.from_dlpack(array))
    if not pyarrow.types.is_decimal128(array.type) or array.type.scale != 0:
        raise ValueError("weights are whole numbers")
    words = np.frombuffer(array.buffers()[1], np.int64).reshape(-1, 2)[
        array.offset : array.offset + len(array)
    ]
    low, high = words[:, 0], words[:, 1]
    if np.array_equal(high, low >> 63):
        return _negatable(low)
    wide: NDArray[Any] = high.astype(object) * 2**64 + low.view(np.uint64).astype(object)
    return wide


def _negatable(values: NDArray[Any]) -> NDArray[Any]:
    """Return the integers as int64 if their negatives fit too: -2⁶³ must not vanish when signs are split."""
    fits = len(values) == 0 or (values.max() < 2**63 and values.min() > -(2**63))
    return values.astype(np.int64 if fits else object)
