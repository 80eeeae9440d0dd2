"""What leaves the engine is written down pass by pass, and can be read again."""

from __future__ import annotations

from itertools import combinations

from recuse.lab.experiments.moved import main
from recuse.lab.experiments.passes import WarehousePass, noted, read_passes


def test_what_an_answer_moves_is_printed(tmp_path, capsys):
    graph = tmp_path / "clique.txt"
    graph.write_text("\n".join(f"{u} {v}" for u, v in combinations(range(9), 2)))
    for protected in ("node", "edge"):
        main([str(graph), "--protect", protected, "--runs", "2", "--memory", "200MB", "--passes"])
        first, *passes = capsys.readouterr().out.splitlines()
        assert "bytes" in first
        assert passes[0].startswith("derive")
        assert "→ 84 " in passes[0]


def test_passes_are_read_as_they_were_written(tmp_path):
    with noted(tmp_path / "passes.json") as found:
        found["Q3"] = [WarehousePass("read", 5, 1, 26, 0.25)]
    assert read_passes(tmp_path / "passes.json") == found
