"""`recuse shell`: from a pipe, and line by line."""

from __future__ import annotations

import io
import json
import sys

import pytest

from recuse.cli import shell as shell_module
from recuse.cli.shell import lines
from support.shop import COUNT, make_shop


@pytest.fixture
def talk(recuse, tmp_path, monkeypatch):
    database, policy = make_shop(tmp_path)

    def said(text, *more):
        monkeypatch.setattr(sys, "stdin", io.StringIO(text))
        return recuse("shell", database, "--policy", policy, *more)

    return said


def test_a_conversation(talk):
    questions = [f"{COUNT};", "SELECT COUNT(*)", "FROM orders", "", f":explain {COUNT}"]
    code, out, err = talk("\n".join([":epsilon 0.5", ":budget", *questions, ":budget", ":quit", COUNT]))
    assert code == 0
    assert out.startswith("epsilon   0.5\n2 of 2 left\nanswer ")
    assert out.count("answer    ") == 2, "what stands after :quit is not asked"
    assert "0 charged: the answer of an earlier question" in out
    assert "owner       customer" in out
    assert out.endswith("1.5 of 2 left\n")
    assert err.count("new ledger") == 1


def test_a_refusal_is_a_line_and_the_talk_goes_on(talk):
    wrong = [f"{COUNT};", ":epsilon lots", ":epsilon 1", "SELECT * FROM orders;", ":frob", ":epsilon 5"]
    code, out, err = talk("\n".join([*wrong, f"{COUNT};", ":epsilon 1", COUNT]))
    assert code == 0
    *refused, announced = err.splitlines()
    assert [line.partition(" ")[0] for line in refused] == ["recuse:"] * 5
    assert announced.startswith("new ledger ")
    assert "what may it cost?" in err
    assert "the budget does not cover" in err
    assert out.endswith("epsilon   1 charged, 1 left\n"), "the last question needs no semicolon"


def test_tables_and_whose_they_are(talk):
    _, out, _ = talk(":tables\n")
    assert "orders (id INTEGER, customer INTEGER, price DECIMAL(9,2)): " in out
    assert len(out.splitlines()) == 4
    _, out, _ = talk(":tables\n", "--json")
    names = [table["name"] for table in json.loads(out)["tables"]]
    assert names == ["customer", "nation", "orders", "secret"]


def test_epsilon_and_json_from_the_start(talk):
    _, out, _ = talk(f"{COUNT};\n:epsilon\n:budget\n:explain {COUNT};\n", "--epsilon", "1/4", "--json")
    answer, epsilon, budget, explained = map(json.loads, out.splitlines())
    assert answer["epsilon"] == 0.25
    assert epsilon == {"epsilon": 0.25}
    assert budget == {"granted": 2, "spent": 0.25, "remaining": 1.75}
    assert explained["questions"] == ["how many rows there are"]
    assert ":explain" in talk(":help\n")[1]


def test_a_question_that_is_begun_has_another_prompt():
    prompts = []
    script = iter(["SELECT", "1;", "", ":budget", "SELECT 2"])

    def read(prompt):
        prompts.append(prompt)
        try:
            return next(script)
        except StopIteration:
            raise EOFError from None

    assert list(lines(read)) == ["SELECT\n1;", "", ":budget", "SELECT 2"]
    assert prompts == ["recuse> ", "   ...> ", "recuse> ", "recuse> ", "recuse> ", "   ...> "]


def test_a_terminal_has_a_history(talk, monkeypatch, tmp_path):
    pytest.importorskip("readline")
    monkeypatch.setattr(shell_module, "HISTORY", tmp_path / "history")
    kept = []
    monkeypatch.setattr(shell_module.atexit, "register", lambda *given: kept.append(given))
    assert shell_module.from_terminal() is input
    ((keep, write, path),) = kept
    keep(write, path)
    assert (tmp_path / "history").exists()
