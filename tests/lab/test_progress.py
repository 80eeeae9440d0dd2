"""Long work in the laboratory says what it does and how long it took, on a terminal."""

from __future__ import annotations

import argparse
import io

import pytest

from recuse.lab.experiments import bench
from recuse.lab.progress import Progress


class Terminal(io.StringIO):
    """A terminal that remembers."""

    def isatty(self) -> bool:
        return True


def options(**more) -> argparse.Namespace:
    none = {"graphs": None, "formulas": (), "tpch_small": None, "tpch_large": None, "seconds": 1, "full": ()}
    return argparse.Namespace(**none | {"sizes": (10, 20)} | more)


def test_a_terminal_is_told_which_cell_is_measured_and_how_long_each_took(monkeypatch):
    monkeypatch.setattr(bench, "in_own_process", lambda kind, argument, _: {"name": f"{kind} {argument}"})
    out = Terminal()
    rows = list(bench.timed(options(), Progress(out)))
    assert [row["name"] for row in rows] == ["triples 10", "triples 20"]
    said = out.getvalue()
    assert "1 of 2: triples 10 …" in said
    assert "2 of 2: triples 20: 0.0 s\n" in said


def test_a_pipe_is_told_nothing(monkeypatch):
    monkeypatch.setattr(bench, "in_own_process", lambda *_: {"name": "triples"})
    out = io.StringIO()
    assert len(list(bench.timed(options(), Progress(out)))) == 2
    assert out.getvalue() == ""


def test_a_stage_that_fails_says_so_and_leaves_no_half_line():
    out = Terminal()
    with pytest.raises(KeyError), Progress(out).stage("measuring"):
        raise KeyError
    assert out.getvalue().endswith("measuring: stopped after 0.0 s\n")


def test_a_step_says_about_how_long_the_rest_takes():
    out = Terminal()
    progress = Progress(out)
    progress.step("runs", 3, 3)
    assert "runs 3 of 3, about 0 s more" in out.getvalue()
