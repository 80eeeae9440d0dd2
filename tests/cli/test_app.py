"""The command line: what it prints, and one line with exit code 2 for every refusal."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from importlib.metadata import version

from support.shop import COUNT


def test_ask(recuse, shop):
    database, policy = shop
    code, out, err = recuse("ask", database, COUNT, "--policy", policy, "--epsilon", "0.5")
    assert code == 0
    assert err.strip() == f"new ledger {database}.ledger with a budget of epsilon = 2"
    assert [line.split()[0] for line in out.splitlines()] == ["answer", "truth", "noise", "epsilon"]
    assert "with 95 %, about the truncated answer" in out
    assert "with 97.5 %" in out
    assert "0.5 charged, 1.5 left" in out


def test_ask_json(recuse, shop, tmp_path):
    database, policy = shop
    ledger = tmp_path / "other.ledger"
    code, out, _ = recuse(
        "ask", database, COUNT, "--policy", policy, "--epsilon", "1/4", "--ledger", ledger, "--json"
    )
    assert code == 0
    found = json.loads(out)
    assert set(found) == {
        *("value", "epsilon", "truth", "truth_confidence", "noise_interval", "noise_confidence"),
        *("noise_epsilon", "noise_scale", "noise_is_large", "mechanism"),
        *("remaining", "stored", "policy", "data_version"),
    }
    assert (found["epsilon"], found["remaining"]) == (0.25, 1.75)
    low, high = found["noise_interval"]
    assert low <= found["value"] <= high
    assert found["truth"] == [low, None]
    assert ledger.exists()


def test_a_signed_sum_says_that_truncation_moves_it_either_way(recuse, shop):
    database, policy = shop
    _, out, _ = recuse("ask", database, "SELECT SUM(price) FROM orders", "--policy", policy, "--epsilon", "1")
    assert "truncation can move a signed sum either way" in out


def test_a_question_from_standard_input(recuse, shop, monkeypatch):
    database, policy = shop
    monkeypatch.setattr(sys, "stdin", io.StringIO(COUNT))
    assert recuse("ask", database, "-", "--policy", policy, "--epsilon", "1")[0] == 0


def test_explain_reads_no_data_and_costs_nothing(recuse, shop):
    database, policy = shop
    code, out, _ = recuse("explain", database, COUNT, "--policy", policy)
    assert code == 0
    assert "customer" in out
    assert "GROUP BY" not in out
    assert "GROUP BY" in recuse("explain", database, COUNT, "--policy", policy, "--sql")[1]
    told = [
        recuse("explain", database, COUNT, "--policy", policy, "--json", *run)[1] for run in ([], ["--sql"])
    ]
    assert [bool(json.loads(text)["sql"]) for text in told] == [False, True]
    assert not database.with_name(database.name + ".ledger").exists()


def test_policy_check(recuse, shop):
    database, policy = shop
    code, out, _ = recuse("policy", "check", policy, database)
    assert code == 0
    lines = dict(line.split(": ", 1) for line in out.splitlines())
    assert "participant" in lines["customer"]
    assert "customer" in lines["orders"]
    assert lines["nation"] == "public"
    assert "not mentioned" in lines["secret"]


def test_policy_check_without_a_database(recuse, shop):
    _, policy = shop
    code, out, _ = recuse("policy", "check", policy)
    assert code == 0
    assert out.splitlines()[:2] == [
        "customer: each (id) is one participant",
        "orders: a row belongs to (customer) → customer",
    ]


def test_budget(recuse, shop):
    database, policy = shop
    recuse("ask", database, COUNT, "--policy", policy, "--epsilon", "0.5")
    for name in (database, f"{database}.ledger"):
        code, out, _ = recuse("budget", name)
        assert (code, out.split()) == (0, ["granted", "2", "spent", "0.5", "remaining", "1.5"])
    assert json.loads(recuse("budget", database, "--json")[1]) == {
        "granted": 2,
        "spent": 0.5,
        "remaining": 1.5,
        "data_version": 1,
        "analysts": {},
    }


# ------------------------------------------------------------------ refusals


def test_help_names_every_command(recuse):
    code, out, _ = recuse("--help")
    assert code == 0
    for command in ("ask", "budget", "demo", "explain", "policy"):
        assert command in out
        assert recuse(command, "--help")[0] == 0


def test_the_version(recuse):
    code, out, _ = recuse("--version")
    assert (code, out.split()) == (0, ["recuse", version("recuse")])


def test_the_installed_command_answers(shop):
    database, policy = shop
    command = [
        sys.executable,
        "-m",
        "recuse",
        "ask",
        database,
        COUNT,
        "--policy",
        policy,
        "--epsilon",
        "1",
        "--json",
    ]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["remaining"] == 1


BY_NATION = (
    "SELECT n.name, COUNT(*), AVG(price) AS mean FROM orders o JOIN customer c ON o.customer = c.id "
    "JOIN nation n ON c.nation = n.id GROUP BY n.name"
)


def test_a_table_is_one_json_object_for_every_group_and_aggregate(recuse, shop):
    database, policy = shop
    code, out, _ = recuse("ask", database, BY_NATION, "--policy", policy, "--epsilon", "1", "--json")
    assert code == 0
    found = [json.loads(line) for line in out.splitlines()]
    assert [(line["group"]["name"], line["column"]) for line in found][:2] == [
        ("nation-0", "COUNT(*)"),
        ("nation-0", "mean"),
    ]
    assert len(found) == 10
    assert {line["remaining"] for line in found} == {1}


def test_a_table_for_people(recuse, shop):
    database, policy = shop
    code, out, _ = recuse("ask", database, BY_NATION, "--policy", policy, "--epsilon", "1")
    lines = out.splitlines()
    assert code == 0
    assert lines[0].split() == ["name", "COUNT(*)", "noise", "mean", "noise"]
    assert lines[6:9] == [
        "noise     90 % or 95 %: each interval holds its truncated number",
        "truth     COUNT(*): at least the lower end with 97.5 %",
        "truth     mean: unknown, truncation can move it either way",
    ]
    assert lines[-1] == "epsilon   1 charged, 1 left"


def test_init_drafts_a_policy_that_works(recuse, shop, tmp_path):
    database, _ = shop
    code, out, _ = recuse("init", database, "--protect", "customer")
    assert code == 0
    assert '[[protect]]\ntable = "customer"\nkey = ["id"]' in out
    assert "# Is orders about nobody?" in out, "the shop declares no reference, and none is guessed"
    policy = tmp_path / "drafted.toml"
    policy.write_text(out)
    assert recuse("policy", "check", policy, database)[0] == 0
    code, out, err = recuse("init", database, "--protect", "costumer")
    assert (code, out) == (2, "")
    assert "did you mean customer?" in err


# ------------------------------------------------------------------ exit codes, terminals, estimates


def test_saying_nothing_shows_help(recuse):
    for words in ((), ("budget",), ("policy",)):
        code, out, err = recuse(*words)
        assert code == 2
        assert "Usage: recuse" in out + err


def test_a_terminal_sees_intervals_drawn(recuse, shop, monkeypatch):
    database, policy = shop
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    narrow = BY_NATION.replace(", AVG(price) AS mean", "")  # with two columns there may be no room
    for sql in (COUNT, narrow):
        _, out, _ = recuse("ask", database, sql, "--policy", policy, "--epsilon", "1")
        assert "●" in out
    monkeypatch.undo()


def test_a_public_question_is_free(recuse, shop):
    database, policy = shop
    code, out, err = recuse(
        "ask", database, "SELECT COUNT(*) FROM nation", "--policy", policy, "--epsilon", "1"
    )
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "answer    5",
        "truth     the answer is exact",
        "epsilon   0 charged: the question is about nobody",
    ]


def test_json_of_the_rest(recuse, shop):
    database, policy = shop
    told = json.loads(recuse("explain", database, COUNT, "--policy", policy, "--json")[1])
    assert told["owners"] == ["customer orders.customer"] or "customer" in told["owners"][0]
    drafted = json.loads(recuse("init", database, "--protect", "customer", "--json")[1])
    assert "[[protect]]" in drafted["policy"]
    for words in (("policy", "check", policy), ("policy", "check", policy, database)):
        tables = [json.loads(line) for line in recuse(*words, "--json")[1].splitlines()]
        assert {"table": "nation", "owned": "public"} in tables


def test_the_demonstration_as_json(recuse):
    told = [json.loads(line) for line in recuse("demo", "--json")[1].splitlines()]
    assert len(told) == 3
    assert {"question", "sql", "value", "true_value", "noise_interval", "epsilon"} <= set(told[0])


def test_completion_is_there():
    done = subprocess.run(
        [sys.executable, "-m", "recuse"],
        env={
            **os.environ,
            "_RECUSE_COMPLETE": "complete_bash",
            "COMP_WORDS": "recuse bud",
            "COMP_CWORD": "1",
        },
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["budget"]
