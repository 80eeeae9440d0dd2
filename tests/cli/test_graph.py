"""`recuse graph`: from a file to an answer, or one line and nothing charged."""

from __future__ import annotations

import gzip
import json
import re
import shlex
from contextlib import contextmanager
from pathlib import Path

import networkx as nx
import pytest

from recuse.graphs.enumerate import count_copies
from recuse.graphs.read import read_graph
from recuse.ledger import Ledger

ASKED = ("--pattern", "triangle", "--protect", "node", "--epsilon", "0.5")


@pytest.fixture
def friends(tmp_path):
    path = tmp_path / "friends.txt"
    edges = nx.connected_caveman_graph(30, 5).edges
    path.write_text("# friends\n" + "".join(f"{u}\t{v}\n" for u, v in edges))
    return path


def test_an_answer_for_people(recuse, friends):
    code, out, err = recuse("graph", "count", friends, *ASKED)
    assert code == 0
    assert out.startswith("answer    ")
    assert "0.5 charged, 9.5 left" in out
    assert "new ledger" in err
    code, out, err = recuse("graph", "count", friends, *ASKED)
    assert (code, err) == (0, "")
    assert Ledger.open(friends.with_name("friends.txt.ledger")).balance().spent * 2 == 1


def test_an_answer_for_programs(recuse, friends):
    code, out, _ = recuse("graph", "count", friends, *ASKED, "--budget", 2, "--json")
    found = json.loads(out)
    assert code == 0
    assert {"value", "epsilon", "noise_scale", "noise_interval", "mechanism", "remaining"} <= set(found)
    assert (found["epsilon"], found["remaining"]) == (0.5, 1.5)


def test_transitivity(recuse, friends):
    arguments = ("graph", "transitivity", friends, "--protect", "edge", "--epsilon", 2)
    code, out, _ = recuse(*arguments)
    assert code == 0
    assert out.splitlines()[0].split()[0] == "transitivity"
    code, out, _ = recuse(*arguments, "--json")
    assert [json.loads(line)["column"] for line in out.splitlines()] == [
        "transitivity",
        "triangles",
        "2-stars",
    ]


def test_an_explanation_is_drawn_and_free(recuse, friends):
    code, out, err = recuse("graph", "explain", friends, "--pattern", "rectangle", "--protect", "edge")
    assert (code, err) == (0, "")
    assert "rectangle: a-b, b-c, c-d, d-a" in out
    assert "all its edges" in out
    assert not friends.with_name("friends.txt.ledger").exists()
    code, out, _ = recuse("graph", "explain", friends, "--pattern", "star(3)", "--protect", "edge", "--json")
    assert "aggregated" in json.loads(out)["method"]


def test_conditions_induced_and_directed(recuse, tmp_path):
    edges, nodes = tmp_path / "calls.csv", tmp_path / "people.csv"
    edges.write_text("caller,called,minutes\n" + "".join(f"{i},{i + 1},{i % 9}\n" for i in range(99)))
    nodes.write_text("id,city\n" + "".join(f"{i},{'oslo' if i % 3 else 'rome'}\n" for i in range(100)))
    asked = ("--protect", "node", "--epsilon", 1)
    where = ("--where", "a.city = b.city AND ab.minutes > 3")
    code, out, _ = recuse(
        "graph", "count", edges, "--nodes", nodes, "--directed", "--pattern", "a->b", *where, *asked, "--json"
    )
    assert code == 0
    assert json.loads(out)["value"] < 99
    assert recuse("graph", "count", edges, "--pattern", "path(3)", "--induced", *asked)[0] == 0


def test_the_spinner_turns_while_a_file_is_read_and_while_copies_are_counted(recuse, friends, monkeypatch):
    turning, seen = [], []

    @contextmanager
    def working():
        turning.append(True)
        yield
        turning.pop()

    def watched(work):
        def run(*given, **named):
            seen.append((work.__name__, bool(turning)))
            return work(*given, **named)

        return run

    monkeypatch.setattr("recuse.cli.graph.working", working)
    monkeypatch.setattr("recuse.session.graph.read_graph", watched(read_graph))
    monkeypatch.setattr("recuse.session.graph_question.count_copies", watched(count_copies))
    recuse("graph", "count", friends, *ASKED)
    assert seen == [("read_graph", True), ("count_copies", True)]
    assert not turning


BAD = {
    "binary.txt": bytes(range(256)),
    "column.txt": b"1\n2\n",
    "negative.txt": b"1 -1\n",
    "huge.txt": b"1 9223372036854775808\n",
    "cut.txt.gz": gzip.compress(b"1 2\n" * 99)[:-9],
    "binary.mtx": bytes(range(256)),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_one_line(recuse, tmp_path, name):
    path = tmp_path / name
    path.write_bytes(BAD[name])
    code, out, err = recuse("graph", "count", path, *ASKED)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("recuse: ")
    assert [found.name for found in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("command", [["count"], []], ids=["new", "old"])
@pytest.mark.parametrize(
    "wrong",
    [
        ("--pattern", "triangle", "--epsilon", "1"),
        ("--pattern", "triangle", "--protect", "all", "--epsilon", "1"),
        ("--pattern", "triangle", "--protect", "node"),
        ("--protect", "node", "--epsilon", "1"),
        ("--pattern", "triangle", "--transitivity", "--protect", "node", "--epsilon", "1"),
        ("--pattern", "a-b, c-d", "--protect", "node", "--epsilon", "1"),
        ("--pattern", "clique(7)", "--protect", "node", "--epsilon", "1"),
        ("--pattern", "a-b,b-c,c-d,d-e,e-f,f-g", "--protect", "node", "--epsilon", "1"),
        ("--pattern", "path(3)", "--induced", "--protect", "edge", "--epsilon", "1"),
        ("--pattern", "edge", "--where", "a.id IN (SELECT 1)", "--protect", "node", "--epsilon", "1"),
        ("--pattern", "edge", "--protect", "node", "--epsilon", "-1"),
        ("--pattern", "edge", "--protect", "node", "--epsilon", "1", "--budget", "0"),
        ("--pattern", "edge", "--protect", "node", "--epsilon", "11"),
        ("--pattern", "edge", "--protect", "node", "--epsilon", "1", "--mechanism", "magic"),
        ("--pattern", "a->b", "--protect", "node", "--epsilon", "1"),
    ],
)
def test_a_mistake_is_one_line_and_charges_nothing(recuse, friends, wrong, command):
    code, out, err = recuse("graph", *command, friends, *wrong)
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].startswith("recuse: ")
    ledger = friends.with_name("friends.txt.ledger")
    assert not ledger.exists() or Ledger.open(ledger).balance().spent == 0


def test_commands_as_they_were_spelled_before(recuse, friends):
    """Mode flags, options before the file, and options that a mode passed over."""
    code, out, _ = recuse("graph", *ASKED, friends)
    assert (code, "0.5 charged, 9.5 left" in out) == (0, True)
    again = recuse("graph", "count", friends, *ASKED)[1]
    assert "0 charged: the answer of an earlier question" in again
    code, out, _ = recuse("graph", friends, "--transitivity", *ASKED[2:], "--mechanism", "paper")
    assert (code, out.split()[0]) == (0, "transitivity")
    old = recuse("graph", friends, *ASKED, "--explain", "--analyst=ada", "--budget", 3)
    assert old == recuse("graph", "explain", friends, *ASKED[:4])
    assert recuse("graph", friends, "--help")[1] == recuse("graph", "count", "--help")[1]


@pytest.mark.parametrize("also", ["--explain", "--pattern=edge", "--where=a.x = 1", "--induced"])
def test_modes_are_not_mixed(recuse, friends, also):
    asked = ("--protect", "edge", "--epsilon", 1)
    for words in (("transitivity", friends), (friends, "--transitivity")):
        code, out, err = recuse("graph", *words, *asked, also)
        assert (code, out) == (2, "")
        assert "No such option" in err


def test_datasets_are_named_with_their_homes(recuse):
    code, out, _ = recuse("datasets")
    assert code == 0
    assert "https://snap.stanford.edu/data/ca-GrQc.txt.gz" in out
    code, out, _ = recuse("datasets", "--json")
    assert {"name", "about", "home", "fetched"} == set(json.loads(out.splitlines()[0]))


def test_the_page_about_graphs_is_true(recuse, tmp_path, monkeypatch):
    """Its examples run, its commands answer."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "graphs.md").read_text()
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    names: dict[str, object] = {}
    for code in (text for kind, text in blocks if kind == "python"):
        exec(compile(code, "docs/reference/graphs.md", "exec"), names)
    assert names["friends"].budget.remaining == 8
    assert names["answer"].value >= 0
    monkeypatch.chdir(tmp_path)
    edges = nx.connected_caveman_graph(20, 5).edges
    (tmp_path / "friends.csv").write_text("a,b\n" + "".join(f"{u},{v}\n" for u, v in edges))
    commands = [line for kind, text in blocks if kind == "console" for line in text.splitlines()]
    assert len(commands) == 3
    for command in commands:
        words = shlex.split(command)
        assert words[:2] == ["$", "recuse"]
        code, out, _ = recuse(*words[2:])
        assert (code, bool(out)) == (0, True)


def test_motifs_are_drawn_and_counted(recuse, friends, tmp_path):
    picture = tmp_path / "motifs.svg"
    code, out, _ = recuse("graph", "motifs", friends, "--protect", "node", "--epsilon", 3, "--plot", picture)
    assert code == 0
    assert out.startswith("star(2)")
    assert any("⠀" <= letter <= "⣿" for letter in out)
    assert [line.split()[0] for line in out.splitlines() if line.startswith(("triangle ", "clique(4) "))]
    assert picture.read_text().startswith("<svg")
