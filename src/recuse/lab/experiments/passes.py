"""Passes: what a warehouse is asked for during an answer, each with its rows, bytes and processor time.

NOT PRIVATE: sizes of tables depend on rows.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypeVar

import pyarrow

from recuse.krelation.relation import Integers
from recuse.solver.kept.warehouse import Spelling, Warehouse

Timed = TypeVar("Timed")
KEPT = re.compile(r'(?:temp\.main\.)?"recuse kept \d+"')


@dataclass(frozen=True, slots=True)
class WarehousePass:
    """One statement: what it did, how many rows it went through and left, and what left the engine."""

    kind: str
    """derive, keep, read or lend"""
    scanned: int
    made: int
    moved: int
    seconds: float


@dataclass(slots=True)
class RecordingWarehouse:
    """A warehouse that writes down every pass."""

    warehouse: Warehouse
    sizes: dict[str, int]
    """rows of the tables that are kept"""
    passes: list[WarehousePass] = field(default_factory=list)
    counting: float = 0.0
    """what it took to count the rows of tables, which no answer does"""

    @property
    def moved(self) -> int:
        """The bytes that left the engine or were lent to it."""
        return sum(one.moved for one in self.passes)

    def keep(self, sql: str) -> str:
        name, seconds = timed(lambda: self.warehouse.keep(sql))
        self.sizes[name] = self._count(name)
        self.passes.append(WarehousePass("keep", self._scanned(sql), self.sizes[name], 0, seconds))
        return name

    def lend(self, columns: Mapping[str, Integers]) -> str:
        name, seconds = timed(lambda: self.warehouse.lend(columns))
        self.sizes[name] = max((len(column) for column in columns.values()), default=0)
        moved = sum(column.nbytes for column in columns.values())
        self.passes.append(WarehousePass("lend", 0, self.sizes[name], moved, seconds))
        return name

    def read(self, sql: str) -> pyarrow.Table:
        found, seconds = timed(lambda: self.warehouse.read(sql))
        self.passes.append(WarehousePass("read", self._scanned(sql), found.num_rows, found.nbytes, seconds))
        return found

    @property
    def spelling(self) -> Spelling:
        return self.warehouse.spelling

    def _scanned(self, sql: str) -> int:
        return sum(self.sizes.get(name, 0) for name in KEPT.findall(sql))

    def _count(self, name: str) -> int:
        found, seconds = timed(lambda: self.warehouse.read(f"SELECT COUNT(*) AS n FROM {name} AS t"))
        self.counting += seconds
        return int(found["n"][0].as_py())


def recorded(warehouse: Warehouse, names: Iterable[str], scanned: int, seconds: float) -> RecordingWarehouse:
    """Return a warehouse that writes down passes, after the one that kept the tables so named."""
    found = RecordingWarehouse(warehouse, {})
    found.sizes.update((name, found._count(name)) for name in names)
    found.passes.append(WarehousePass("derive", scanned, sum(found.sizes.values()), 0, seconds))
    return found


def timed(ask: Callable[[], Timed]) -> tuple[Timed, float]:
    """Return what is asked for, and the processor time that it took."""
    began = time.process_time()
    return ask(), time.process_time() - began


@contextmanager
def noted(path: Path | None) -> Iterator[dict[str, Sequence[WarehousePass]]]:
    """Give a dictionary of the passes of questions, and write it to a file in the end."""
    found: dict[str, Sequence[WarehousePass]] = {}
    yield found
    if path is not None:
        path.write_text(json.dumps({name: [asdict(one) for one in passes] for name, passes in found.items()}))


def read_passes(path: Path) -> dict[str, list[WarehousePass]]:
    """Return the passes of questions that were written to a file."""
    return {
        name: [WarehousePass(**one) for one in passes]
        for name, passes in json.loads(path.read_text()).items()
    }
