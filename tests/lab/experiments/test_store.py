"""Results that survive a stop."""

from __future__ import annotations

import csv

import pyarrow.parquet as parquet

from recuse.lab.experiments.store import Store

CELLS = [{"graph": name, "runs": 3} for name in ("a", "b", "c")]


def test_a_stopped_run_continues(tmp_path):
    store = Store(tmp_path / "figure")
    assert store.missing(CELLS) == CELLS
    store.add(CELLS[0], [{"error": 0.5}, {"error": 0.25}])
    store.add(CELLS[1], [])
    with (tmp_path / "figure" / "results.jsonl").open("a") as file:
        file.write('{"cell": {"graph": "c", "ru')  # killed in the middle of a line
    again = Store(tmp_path / "figure")
    assert again.missing(CELLS) == CELLS[2:]
    again.add(CELLS[2], [{"error": 1.0, "note": "late"}])
    assert [row["error"] for row in again.rows(CELLS)] == [0.5, 0.25, 1.0]


def test_other_settings_are_other_cells(tmp_path):
    store = Store(tmp_path)
    store.add(CELLS[0], [{"error": 0.5}])
    more = [{**cell, "runs": 400} for cell in CELLS]
    assert store.missing(more) == more
    assert store.rows(more) == []


def test_export(tmp_path):
    store = Store(tmp_path)
    store.add(CELLS[0], [{"error": 0.5}, {"error": 0.25, "note": "x"}])
    paths = store.export(store.rows(CELLS))
    assert parquet.read_table(paths[0])["error"].to_pylist() == [0.5, 0.25]
    with paths[1].open() as file:
        assert [row["note"] for row in csv.DictReader(file)] == ["", "x"]
