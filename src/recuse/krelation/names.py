"""The names of participants, looked up when somebody asks for one."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import pyarrow


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
class OwnerNames(Sequence[Hashable]):
    """The name of every participant, (kind, key value, …), looked up lazily."""

    kinds: tuple[KindNames, ...]

    def __len__(self) -> int:
        return sum(map(len, self.kinds))

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        for kind, end in zip(self.kinds, accumulate(map(len, self.kinds)), strict=True):
            if 0 <= index < end:
                return kind.name(index - end + len(kind))
        raise IndexError(index)

    def __iter__(self) -> Iterator[Hashable]:
        return (kind.name(i) for kind in self.kinds for i in range(len(kind)))
