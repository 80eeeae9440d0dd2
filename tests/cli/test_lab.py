"""`recuse lab`: measured against the truth, marked NOT PRIVATE, refused where a ledger is kept."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from math import comb
from pathlib import Path

import pytest

from recuse.lab.progress import Progress
from support.shop import COUNT, make_shop

KEYS = {
    "true_value",
    "median_relative_error",
    "p90_relative_error",
    "mean_relative_error",
    "trimmed_relative_error",
    "seconds",
}


@pytest.fixture
def graph(tmp_path):
    path = tmp_path / "wheel.txt"
    path.write_text("".join(f"0 {i}\n{i} {i % 20 + 1}\n" for i in range(1, 21)))
    return path


@pytest.mark.parametrize("protect", ["node", "edge"])
@pytest.mark.parametrize("mechanism", ["selective", "paper", "r2t"])
def test_a_graph(recuse, graph, protect, mechanism):
    code, out, _ = recuse(
        "lab", "error", graph, "--pattern", "triangle", "--protect", protect, "--epsilon", 1,
        "--mechanism", mechanism, "--runs", 20, "--json",
    )  # fmt: skip
    assert code == 0
    found = json.loads(out)
    assert set(found) >= KEYS
    assert (found["true_value"], found["private"]) == (20, False)


@pytest.mark.parametrize("protect", ["node", "edge"])
def test_stars_are_measured_without_being_listed(recuse, tmp_path, protect):
    """Ten hubs of two thousand: more than ten thousand million 3-stars, which nobody could list."""
    path = tmp_path / "hubs.txt"
    path.write_text("".join(f"h{hub} h{hub}n{leaf}\n" for hub in range(10) for leaf in range(2_000)))
    arguments = ("--pattern", "star(3)", "--protect", protect, "--runs", 5, "--json")
    found = json.loads(recuse("lab", "error", path, *arguments)[1])
    assert found["true_value"] == 10 * comb(2_000, 3)


def test_progress_is_told_to_terminals_only():
    class Screen(io.StringIO):
        def isatty(self) -> bool:
            return terminal

    for terminal in (True, False):
        screen = Screen()
        progress = Progress(screen)
        with progress.stage("measuring"):
            progress.step("runs", 3, 3)
        assert ("runs 3 of 3" in screen.getvalue()) == terminal
        assert screen.getvalue().endswith(" s\n") == terminal


def test_a_graph_for_people(recuse, graph):
    code, out, _ = recuse("lab", "error", graph, "--pattern", "edge", "--protect", "edge", "--runs", 50)
    assert code == 0
    assert out.startswith("NOT PRIVATE")
    assert "true value       40" in out


def test_a_database(recuse, tmp_path):
    database, policy = make_shop(tmp_path)
    code, out, _ = recuse("lab", "error", database, COUNT, "--policy", policy, "--runs", 50, "--json")
    assert code == 0
    assert json.loads(out)["true_value"] == 1000


def test_data_with_a_ledger_is_refused_unless_one_insists(recuse, tmp_path):
    database, policy = make_shop(tmp_path)
    recuse("ask", database, COUNT, "--policy", policy, "--epsilon", 1)
    arguments = ("lab", "error", database, COUNT, "--policy", policy, "--runs", 5)
    code, out, err = recuse(*arguments)
    assert (code, out) == (2, "")
    assert "--not-private" in err
    assert recuse(*arguments, "--not-private")[0] == 0


@pytest.mark.parametrize(
    "wrong",
    [
        ("--pattern", "pentagon", "--protect", "node"),
        ("--pattern", "triangle"),
        ("--pattern", "triangle", "--protect", "nobody"),
        ("--pattern", "triangle", "--protect", "node", "--mechanism", "magic"),
        ("--pattern", "triangle", "--protect", "node", "--epsilon", "0"),
        ("--pattern", "triangle", "--protect", "node", "--runs", "0"),
    ],
)
def test_mistakes_are_one_line(recuse, graph, wrong):
    code, out, err = recuse("lab", "error", graph, *wrong)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("recuse: ")


def test_compare_shows_all_that_apply_and_why_others_do_not(recuse, graph):
    code, out, _ = recuse("lab", "compare", graph, "--pattern", "triangle", "--protect", "edge", "--runs", 5)
    assert code == 0
    assert out.startswith("NOT PRIVATE")
    lines = {line.split()[0]: line for line in out.splitlines()[2:]}
    assert "pure ε, one edge; nothing" in lines["ladder"]
    assert "does not apply: the global sensitivity of an unrestricted join" in lines["global"]
    assert "does not apply" in lines["naive"]


def test_compare_on_a_database(recuse, tmp_path):
    database, policy = make_shop(tmp_path)
    code, out, _ = recuse("lab", "compare", database, COUNT, "--policy", policy, "--runs", 5, "--json")
    assert code == 0
    found = {row["mechanism"]: row for row in json.loads(out)}
    assert found["selective"]["median"] >= 0
    assert "subgraphs" in found["ladder"]["refused"]


def test_patterns_that_comparators_do_not_know_are_counted_by_ours(recuse, graph):
    arguments = ("lab", "error", graph, "--pattern", "cycle(5)", "--protect", "node", "--runs", 3)
    assert recuse(*arguments, "--json")[0] == 0
    assert recuse(*arguments, "--mechanism", "rhms")[0] == 2


def test_reproduce_refuses_in_one_line(recuse, tmp_path):
    for wrong in (("magic",), ("real-graphs",), ("r2t-tpch", "--tpch", tmp_path / "none")):
        code, out, err = recuse("lab", "reproduce", *wrong, "--out", tmp_path)
        assert (code, out, err.count("\n")) == (2, "", 1)


@dataclass
class Figure:
    """A figure that is quickly made."""

    name: str = "figure-1"
    cells: tuple[int, ...] = (1, 2)
    seconds: float = 1.0

    def run(self, jobs):
        yield from self.cells

    def finish(self):
        return [Path("out/a.csv"), Path("out/a.png")]


def test_reproduce_names_what_it_made_and_shows_progress_beside_it(recuse, tmp_path, monkeypatch):
    monkeypatch.setattr("recuse.lab.command.reproduce", lambda name, setting: [Figure(), Figure("figure-2")])
    code, out, err = recuse("lab", "reproduce", "all", "--out", tmp_path)
    assert (code, out.split()) == (0, ["out/a.csv", "out/a.png"] * 2)
    assert "figure-1" in err
    code, out, _ = recuse("lab", "reproduce", "all", "--out", tmp_path, "--json")
    told = [json.loads(line) for line in out.splitlines()]
    assert told == [{"name": f"figure-{n}", "files": ["out/a.csv", "out/a.png"]} for n in (1, 2)]


def test_a_file_of_a_folder_that_is_asked_privately_is_refused_too(recuse, tmp_path):
    folder = tmp_path / "school"
    folder.mkdir()
    (folder / "friends.csv").write_text("a,b\n1,2\n")
    (tmp_path / "school.ledger").write_bytes(b"")
    asked = ("--pattern", "edge", "--protect", "node", "--runs", 2)
    code, _, err = recuse("lab", "error", folder / "friends.csv", *asked)
    assert (code, "--not-private" in err) == (2, True)
    assert recuse("lab", "error", folder / "friends.csv", *asked, "--not-private")[0] == 0
