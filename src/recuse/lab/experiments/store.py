"""Store: results of an experiment as lines of JSON while it runs, as Parquet and CSV when it is done.

A line holds one cell (what was measured) and its rows (what was found). A cell that has a line is done, so
a run that was stopped continues where it was; half a line, written when it was stopped, is measured again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow
from pyarrow import csv, parquet

StoredValue = str | int | float
StoredCell = Mapping[str, StoredValue]
StoredRow = Mapping[str, StoredValue]


@dataclass(frozen=True, slots=True)
class Store:
    """The results of one experiment in a folder."""

    folder: Path

    @property
    def _lines(self) -> Path:
        return self.folder / "results.jsonl"

    def add(self, cell: StoredCell, rows: Sequence[StoredRow], seconds: float = 0.0) -> None:
        """Append the rows of a cell, and how many processor seconds it took."""
        self.folder.mkdir(parents=True, exist_ok=True)
        record = json.dumps({"cell": dict(cell), "rows": [dict(row) for row in rows], "seconds": seconds})
        with self._lines.open("a") as file:
            file.write(f"\n{record}\n")  # a new line first: half a line may stand before

    def _entries(self) -> list[dict[str, Any]]:
        if not self._lines.exists():
            return []
        whole = self._lines.read_text().split("\n")
        found = []
        for line in whole:
            try:
                found.append(json.loads(line))
            except json.JSONDecodeError:
                continue
        return found

    def missing(self, cells: Sequence[StoredCell]) -> list[StoredCell]:
        """Return the cells that have not been measured."""
        done = {_key(entry["cell"]) for entry in self._entries()}
        return [cell for cell in cells if _key(dict(cell)) not in done]

    def rows(self, cells: Sequence[StoredCell]) -> list[dict[str, StoredValue]]:
        """Return the rows of these cells, in their order, each with what its cell says."""
        found = {_key(entry["cell"]): entry["rows"] for entry in self._entries()}
        return [{**cell, **row} for cell in cells for row in found.get(_key(dict(cell)), ())]

    def seconds(self, cells: Sequence[StoredCell]) -> float:
        """Return how many processor seconds these cells took."""
        spent = {_key(entry["cell"]): float(entry.get("seconds", 0.0)) for entry in self._entries()}
        return sum(spent.get(_key(dict(cell)), 0.0) for cell in cells)

    def export(self, rows: Sequence[StoredRow]) -> list[Path]:
        """Write the rows as Parquet and CSV, and return where."""
        names = list(dict.fromkeys(name for row in rows for name in row))
        table = pyarrow.table({name: [row.get(name) for row in rows] for name in names})
        paths = [self.folder / "results.parquet", self.folder / "results.csv"]
        parquet.write_table(table, paths[0])
        csv.write_csv(table, paths[1])
        return paths


def _key(cell: object) -> str:
    return json.dumps(cell, sort_keys=True)
