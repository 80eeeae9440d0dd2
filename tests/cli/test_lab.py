"""`recuse lab error`: measured against the truth, marked NOT PRIVATE, refused where a ledger is kept."""

from __future__ import annotations

import json

import pytest

from made import COUNT, make_shop

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
