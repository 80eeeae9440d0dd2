"""Arrow columns → K-relation: participants numbered by dictionary codes, without Python loops over rows."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, overload

import numpy as np
import pyarrow
from numpy.typing import NDArray

from recuse.krelation.build import from_owners
from recuse.krelation.relation import Integers, KRelation, Shape

Owners = Sequence[tuple[str, Sequence[str]]]
"""for every owner its kind and the columns that name it"""


def encode(
    table: pyarrow.Table, owners: Owners, *, shape: Shape, signed: bool, weight: str = "weight"
) -> KRelation:
    """Return the relation of a result table whose rows have owners and a weight in granules.

    Each kind of participant is a name space of its own: customer 1 and supplier 1 are two.
    """
    if shape is not Shape.CONJUNCTIONS:
        raise ValueError("a table of owner sets holds conjunctions")
    weights = integers(table[weight])
    matrix = np.empty((table.num_rows, len(owners)), np.int64)
    names: list[KindNames] = []
    offset = 0
    for kind in dict.fromkeys(kind for kind, _ in owners):
        places = [place for place, (other, _) in enumerate(owners) if other == kind]
        columns = [owners[place][1] for place in places]
        codes, known = _number(kind, [[table[name] for name in group] for group in columns])
        for place, column in zip(places, codes, strict=True):
            matrix[:, place] = column + offset
        names.append(known)
        offset += len(known)
    return from_owners(weights, matrix, names=Names(tuple(names)), participants=offset, signed=signed)


# ------------------------------------------------------------------ participants


@dataclass(frozen=True, slots=True, eq=False)
class KindNames:
    """The participants of one kind: their key values, column by column, made into Python only when asked."""

    kind: str
    values: tuple[pyarrow.Array, ...]

    def __len__(self) -> int:
        return len(self.values[0])

    def name(self, index: int) -> tuple[Hashable, ...]:
        return (self.kind, *(column[index].as_py() for column in self.values))


@dataclass(frozen=True, slots=True, eq=False)
class Names(Sequence[Hashable]):
    """The name of every participant, (kind, key value, …), looked up lazily."""

    kinds: tuple[KindNames, ...]

    def __len__(self) -> int:
        return sum(map(len, self.kinds))

    @overload
    def __getitem__(self, index: int) -> Hashable: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Hashable]: ...
    def __getitem__(self, index: int | slice) -> Hashable | Sequence[Hashable]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        for kind, end in zip(self.kinds, accumulate(map(len, self.kinds)), strict=True):
            if 0 <= index < end:
                return kind.name(index - end + len(kind))
        raise IndexError(index)

    def __iter__(self) -> Iterator[Hashable]:
        return (kind.name(i) for kind in self.kinds for i in range(len(kind)))


def _number(kind: str, groups: list[list[pyarrow.ChunkedArray]]) -> tuple[list[Integers], KindNames]:
    """Return the codes of every owner column group of one kind, over their common participants."""
    rows = len(groups[0][0])
    stacked = [_stack([group[position] for group in groups]) for position in range(len(groups[0]))]
    codes, first = _codes(stacked)
    values = tuple(_whole(column.take(pyarrow.array(first))) for column in stacked)
    return [codes[i * rows : (i + 1) * rows] for i in range(len(groups))], KindNames(kind, values)


def _stack(columns: list[pyarrow.ChunkedArray]) -> pyarrow.ChunkedArray:
    """Return the columns one after the other, in a type that holds them all exactly."""
    plain = [_without_dictionary(column) for column in columns]
    types = {column.type for column in plain}
    if len(types) > 1:
        if not all(map(pyarrow.types.is_integer, types)):
            raise ValueError("owner columns of one kind have different types")
        plain = [column.cast(pyarrow.int64()) for column in plain]
    return pyarrow.chunked_array([chunk for column in plain for chunk in column.chunks], type=plain[0].type)


def _whole(column: pyarrow.ChunkedArray) -> pyarrow.Array:
    """Return the column as one array."""
    return pyarrow.concat_arrays(column.chunks) if column.num_chunks else pyarrow.array([], column.type)


def _without_dictionary(column: pyarrow.ChunkedArray) -> pyarrow.ChunkedArray:
    return column.cast(column.type.value_type) if pyarrow.types.is_dictionary(column.type) else column


def _codes(columns: list[pyarrow.ChunkedArray]) -> tuple[Integers, Integers]:
    """Return each row's code, and for each code one row that has it.

    Several columns are combined two at a time into one integer and renumbered, so that the codes stay
    below the number of rows and nothing is hashed or joined into text.
    """
    codes: Integers | None = None
    for column in columns:
        if column.null_count:
            raise ValueError("an owner is NULL")
        dictionary = _whole(column).dictionary_encode()
        own = np.asarray(dictionary.indices).astype(np.int64)
        codes = own if codes is None else _renumber(codes * (len(dictionary.dictionary) + 1) + own)
    if codes is None:
        raise ValueError("an owner needs a column")
    size = int(codes.max()) + 1 if len(codes) else 0
    first = np.empty(size, np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    return codes, first


def _renumber(codes: Integers) -> Integers:
    indices = pyarrow.array(codes).dictionary_encode().indices
    return np.asarray(indices).astype(np.int64)


# ------------------------------------------------------------------ weights


def integers(column: pyarrow.ChunkedArray) -> NDArray[Any]:
    """Return whole numbers as int64, or as Python integers where one does not fit.

    DuckDB's 128-bit sums arrive as decimal128(38, 0): two 64-bit words each, read from the buffer.
    """
    if column.null_count:
        raise ValueError("a weight is NULL")
    array = _whole(column)
    if pyarrow.types.is_integer(array.type):
        return np.asarray(array).astype(np.int64)
    if not pyarrow.types.is_decimal128(array.type) or array.type.scale != 0:
        raise ValueError("weights are whole numbers")
    words = np.frombuffer(array.buffers()[1], np.int64).reshape(-1, 2)[
        array.offset : array.offset + len(array)
    ]
    low, high = words[:, 0], words[:, 1]
    if np.array_equal(high, low >> 63):
        return low.copy()
    wide: NDArray[Any] = high.astype(object) * 2**64 + low.view(np.uint64).astype(object)
    return wide
