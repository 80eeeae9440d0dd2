"""`recuse budget` and `recuse data`: what a custodian sees and does."""

from __future__ import annotations

import csv
import io
import json
import sys

import pytest

from support.shop import COUNT, POLICY, make_shop


@pytest.fixture
def shop(recuse, tmp_path):
    """Return a function that asks, and the database."""
    database, policy = make_shop(tmp_path)

    def ask(epsilon, *more, sql=COUNT):
        return recuse("ask", database, sql, "--policy", policy, "--epsilon", epsilon, *more)

    ask("0.5")
    return ask, database


def test_show_is_what_a_bare_budget_means(recuse, shop):
    _, database = shop
    for name in (database, f"{database}.ledger"):
        assert (
            recuse("budget", name)
            == recuse("budget", "show", name)
            == (0, "granted   2\nspent     0.5\nremaining 1.5\n", "")
        )


def test_a_ledger_of_any_name_is_found(recuse, tmp_path):
    database, policy = make_shop(tmp_path)
    other = tmp_path / "money.db"
    _, _, err = recuse("ask", database, COUNT, "--policy", policy, "--epsilon", 1, "--ledger", other)
    assert err.startswith("WARNING: ")
    assert "what other ledgers have spent on the same data is not counted" in err
    assert recuse("budget", other, "--json")[0] == 0
    assert recuse("budget", database)[0] == 2, "beside the database there is none"
    _, _, err = recuse("ask", database, COUNT, "--policy", policy, "--epsilon", "0.5", "--ledger", other)
    assert err == "", "said once"


def test_analysts(recuse, shop):
    ask, database = shop
    assert recuse("budget", "grant", database, "--analyst", "ada", "--epsilon", "0.75")[:2] == (
        0,
        "ada may spend 0.75: 0.75 remaining\n",
    )
    code, out, err = ask("0.5")
    assert (code, out) == (2, "")
    assert "--analyst NAME" in err
    assert "0.5 charged, 0.25 left" in ask("0.5", "--analyst", "ada")[1]
    code, _, err = ask("0.3", "--analyst", "ada")
    assert code == 2
    assert "0.25 left to ada" in err
    assert ask("0.3", "--analyst", "bob")[0] == 2
    assert "analyst   ada: 0.25 of 0.75 remaining" in recuse("budget", database)[1]
    assert json.loads(recuse("budget", database, "--json")[1])["analysts"] == {
        "ada": {"granted": 0.75, "spent": 0.5, "remaining": 0.25}
    }
    _, _, err = recuse("budget", "grant", database, "--analyst", "bob", "--epsilon", 5)
    assert err == "but the database has only 1 left\n"


def test_grants(recuse, shop):
    _, database = shop
    code, out, _ = recuse("budget", "grant", database, "--epsilon", 3, "--json")
    assert (code, json.loads(out)) == (0, {"analyst": None, "granted": 3, "spent": 0.5, "remaining": 2.5})
    code, out, err = recuse("budget", "grant", database, "--epsilon", "0.25")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "2.5 left" not in err


def test_a_custodian_may_grant_before_anything_is_asked(recuse, tmp_path):
    database, policy = make_shop(tmp_path)
    code, out, err = recuse("budget", "grant", database, "--epsilon", 7)
    assert (code, out) == (0, "the database may spend 7: 7 remaining\n")
    assert err == f"new ledger {database}.ledger with a budget of epsilon = 7\n"
    assert recuse("budget", "grant", database, "--analyst", "ada", "--epsilon", 1)[0] == 0
    code, out, err = recuse(
        "ask", database, COUNT, "--policy", policy, "--epsilon", "0.5", "--analyst", "ada"
    )
    assert (code, err) == (0, ""), "what was granted counts, and not the policy's [budget]"
    assert "0.5 charged, 0.5 left" in out


def test_a_second_ledger_for_the_same_people_is_said_whoever_makes_it(recuse, tmp_path):
    folder = tmp_path / "school"
    folder.mkdir()
    (folder / "friends.csv").write_text("a,b\n1,2\n")
    assert recuse("budget", "grant", folder, "--epsilon", 2)[2].startswith("new ledger ")
    code, out, err = recuse("budget", "grant", folder / "friends.csv", "--epsilon", 2)
    assert (code, out) == (0, "the database may spend 2: 2 remaining\n")
    assert err.startswith(f"WARNING: {folder / 'friends.csv.ledger'} is a new ledger")
    assert f"what {folder}.ledger has spent" in err
    (folder / "friends.csv.ledger").unlink()
    asked = ("--pattern", "edge", "--protect", "node", "--epsilon", 1)
    assert recuse("graph", folder / "friends.csv", *asked)[2].startswith("WARNING: ")
    code, _, err = recuse("graph", folder / "friends.csv", *asked, "--ledger", f"{folder}.ledger")
    assert (code, err) == (0, "")


def test_the_same_question_is_free_until_the_data_is_published(recuse, shop):
    ask, database = shop
    assert "epsilon   0 charged: the answer of an earlier question, for 0.5, 1.5 left" in ask("0.5")[1]
    assert json.loads(ask("0.5", "--json")[1])["stored"] is True
    assert recuse("data", "publish", database)[1] == "data version 2: earlier answers are not given again\n"
    found = json.loads(ask("0.5", "--json")[1])
    assert (found["stored"], found["data_version"], found["remaining"]) == (False, 2, 1)
    assert "data      version 2" in recuse("budget", database)[1]
    assert json.loads(recuse("data", "publish", database, "--json")[1]) == {"data_version": 3}


def test_export(recuse, shop):
    ask, database = shop
    ask("0.25", sql="SELECT COUNT(*) + 'a,b' AS \"x\" FROM orders")
    ask("0.25", sql="SELECT nation, COUNT(*) FROM customer WHERE nation IN (1, 2)\nGROUP BY nation")
    rows = list(csv.DictReader(io.StringIO(recuse("budget", "export", database)[1])))
    assert [row["epsilon"] for row in rows] == ["0.5", "0.25"]
    assert rows[1]["query"].endswith("\nGROUP BY nation")
    lines = [json.loads(line) for line in recuse("budget", "export", database, "--json")[1].splitlines()]
    assert [line["query"] for line in lines] == [row["query"] for row in rows]
    told = lines[0]["answer"]
    assert (set(told), told["groups"]) == ({"groups", "parts"}, [[]])
    ((released,),) = told["parts"]
    assert set(released) == {
        *("value", "low", "high", "epsilon", "noise_scale", "mechanism", "signed", "noise_epsilon"),
        *("counted", "undefined", "truncated", "unit", "cut"),
    }, "what was released, and nothing else"
    columns = {"at", "epsilon", "delta", "analyst", "source", "data_version", "policy", "query", "answer"}
    assert set(lines[0]) == set(rows[0]) == columns
    assert {line["source"] for line in lines} == {database.name}


def test_a_changed_budget_in_the_policy_is_not_silently_ignored(recuse, tmp_path):
    database, policy = make_shop(tmp_path)
    ask = ("ask", database, COUNT, "--policy", policy, "--epsilon", "0.5")
    recuse(*ask)
    assert recuse(*ask)[2] == ""
    policy.write_text(POLICY.replace("epsilon = 2", "epsilon = 20"))
    _, out, err = recuse(*ask)
    assert "the policy's [budget] says 20, the ledger grants 2, which is what counts" in err
    assert "1.5 left" in out
    assert recuse("budget", "show", database, "--policy", policy)[2] == err
    recuse("budget", "grant", database, "--epsilon", "3")
    assert recuse(*ask)[2] == "", "the custodian has decided"


def test_approximate_privacy(recuse, shop):
    pytest.importorskip("dp_accounting")
    _, database = shop
    found = json.loads(recuse("budget", "show", database, "--delta", "0.01", "--json")[1])
    assert 0.4 < found["approximate_epsilon"] < found["spent"] == 0.5
    assert found["delta"] == 0.01
    shown = recuse("budget", "show", database, "--delta", "1e-6")[1]
    assert "1e-6)-private, if no epsilon was chosen after seeing answers" in shown
    for wrong in ("0", "1", "-1", "x", "1/0"):
        assert recuse("budget", "show", database, "--delta", wrong)[0] == 2


def test_without_the_package_the_report_is_refused_in_one_line(recuse, shop, monkeypatch):
    for name in list(sys.modules):
        if name.partition(".")[0] == "dp_accounting":
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    _, database = shop
    code, out, err = recuse("budget", "show", database, "--delta", "1e-6")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "recuse[accounting]" in err
    assert recuse("budget", "show", database)[0] == 0


@pytest.mark.parametrize(
    "words",
    [
        ("budget", "no-such.ledger"),
        ("budget", "export", "no-such.duckdb"),
        ("budget", "grant", "no-such.duckdb", "--epsilon", "1"),
        ("budget", "grant", "no-such.ledger", "--analyst", "ada", "--epsilon", "1"),
        ("data", "publish", "no-such.ledger"),
    ],
)
def test_a_missing_ledger(recuse, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    code, out, err = recuse(*words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "no ledger here" in err
    assert list(tmp_path.iterdir()) == [], "reading creates nothing"


def test_a_broken_ledger_refuses_everything(recuse, shop):
    ask, database = shop
    ledger = database.with_name(database.name + ".ledger")
    ledger.write_bytes(b"SQLite format 3\0" + bytes(5000))
    for words in (("budget", ledger), ("budget", "export", ledger), ("data", "publish", ledger)):
        code, out, err = recuse(*words)
        assert (code, out, err.count("\n")) == (2, "", 1)
    code, out, err = ask("0.5")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "nothing is answered" in err
