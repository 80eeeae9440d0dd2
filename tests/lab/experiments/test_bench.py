"""The benchmark runs from end to end: table, JSON, picture; what fails is a row, not a crash."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import partial
from importlib.util import find_spec
from io import StringIO
from pathlib import Path

import pytest

from recuse.lab.experiments import bench

OwnProcess = Callable[[str, str, float | None], bench.BenchCell]
SQUARE_WITH_TAIL = "0 1\n1 2\n2 0\n2 3\n3 0\n3 4\n"


def mostly_here(own: OwnProcess, kind: str, argument: str, seconds: float | None) -> bench.BenchCell:
    """Return a cell computed here, where everything is loaded; some in a process of their own, as all are."""
    if kind == "distinct" or argument == "100":
        return own(kind, argument, seconds)
    with redirect_stdout(StringIO()) as said:
        bench.main(["--cell", kind, argument])
    found: bench.BenchCell = json.loads(said.getvalue().splitlines()[-1])
    return found


def test_everything_from_one_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "in_own_process", partial(mostly_here, bench.in_own_process))
    graphs, out = tmp_path / "graphs", tmp_path / "out"
    graphs.mkdir()
    (graphs / "tail.txt").write_text(SQUARE_WITH_TAIL)
    sizes = ["--sizes", "100", "200", "--formulas", "20,2"]
    absent = ["--tpch-small", str(tmp_path / "absent")]
    bench.main(
        [
            "--graphs",
            str(graphs),
            "--out",
            str(out),
            *sizes,
            *absent,
            "--full",
            "tail nodes",
            "--seconds",
            "60",
        ]
    )
    table = capsys.readouterr().out
    rows = {row["name"]: row for row in json.loads((out / "bench.json").read_text())["rows"]}
    assert list(rows) == [
        *("tail nodes", "tail edges", "triples 100", "triples 200", "3-DNF 20,2", "3-CNF 20,2"),
        "distinct absent",
    ]
    assert rows["tail nodes"]["tuples"] == 2
    assert {"load", "enumerate", "index", "answer", "megabytes", "masters", "cuts"} <= set(rows["tail nodes"])
    assert rows["tail nodes"]["ratio_simplex"] > 0
    assert rows["tail nodes"]["ratio_pdlp"] > 0
    assert "failed" in rows["distinct absent"]
    assert "(simplex, from one)" in table
    assert "(pdlp, from one)" in table
    assert "time ~ tuples^" in table
    columns = {line.count("|") for line in (out / "bench.md").read_text().splitlines()}
    assert columns == {11}
    assert (out / "bench.png").exists() == bool(find_spec("matplotlib"))


def test_a_cell_that_takes_too_long_says_so() -> None:
    assert "more than" in bench.in_own_process("triples", "1000000", 0.05)["failed"]


def test_growth_needs_two_sizes() -> None:
    assert bench.growth([{"name": "triples 10", "tuples": 10, "index": 1.0, "answer": 1.0}]) is None
    doubled = [
        {"name": "triples", "tuples": size, "index": size / 10, "answer": size / 10} for size in (10, 20, 40)
    ]
    assert bench.growth(doubled) == pytest.approx(1.0)
