"""What is refused, mistaken, broken or interrupted is one line with its exit code, and quotes nothing."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest

from support.shop import COUNT


def refusals(database, policy, tmp_path):
    garbage = tmp_path / "garbage.duckdb"
    garbage.write_bytes(bytes(range(256)) * 100)
    ok = {"database": database, "sql": COUNT, "policy": policy, "epsilon": "1"}
    yield "a missing database", ok | {"database": tmp_path / "no.duckdb"}
    yield "an unreadable database", ok | {"database": garbage}
    yield "an empty folder", ok | {"database": _folder(tmp_path / "empty")}
    yield "a missing policy", ok | {"policy": tmp_path / "no.toml"}
    yield "an unknown table", ok | {"sql": "SELECT COUNT(*) FROM order"}
    yield "another unknown table", ok | {"sql": "SELECT COUNT(*) FROM ordres"}
    yield "a table that the policy lacks", ok | {"sql": "SELECT COUNT(*) FROM secret"}
    for epsilon in ("0", "-1", "nan", "inf", "half", "", "1e999", "1/0"):
        yield f"epsilon {epsilon!r}", ok | {"epsilon": epsilon}
    yield "too much epsilon", ok | {"epsilon": "3"}
    yield "two statements", ok | {"sql": COUNT + "; DROP TABLE orders"}
    yield "a comment trick", ok | {"sql": "SELECT COUNT(*) FROM orders -- \n UNION SELECT 1"}
    yield "another comment trick", ok | {"sql": "SELECT /* COUNT(*) */ id FROM orders"}
    yield "an unclosed comment", ok | {"sql": "SELECT COUNT(*) FROM orders /* "}
    yield (
        "ten megabytes",
        ok | {"sql": "SELECT COUNT(*) FROM orders WHERE " + "id > 0 AND " * 900_000 + "id > 0"},
    )
    yield "deep nesting", ok | {"sql": "SELECT COUNT(*) FROM orders WHERE " + "(" * 5000 + "1=1" + ")" * 5000}
    yield "nothing", ok | {"sql": ""}
    yield "no SQL", ok | {"sql": "how many orders?"}
    yield "not an aggregate", ok | {"sql": "SELECT * FROM orders"}
    yield "a write", ok | {"sql": "DELETE FROM orders"}
    yield "a file", ok | {"sql": "SELECT COUNT(*) FROM read_csv('/etc/passwd')"}
    yield "an unknown mechanism", ok | {"mechanism": "magic"}


def _folder(path):
    path.mkdir()
    return path


def test_every_refusal_is_one_line_with_exit_code_2_and_charges_nothing(recuse, shop, tmp_path):
    database, policy = shop
    recuse("ask", database, COUNT, "--policy", policy, "--epsilon", "0.5")
    for what, case in refusals(database, policy, tmp_path):
        mechanism = ("--mechanism", case["mechanism"]) if "mechanism" in case else ()
        started = time.monotonic()
        code, out, err = recuse(
            "ask", case["database"], case["sql"], "--policy", case["policy"], "--epsilon", case["epsilon"],
            "--ledger", f"{database}.ledger", *mechanism,
        )  # fmt: skip
        assert code == 2, what
        assert out == "", what
        assert err.startswith("recuse: "), what
        assert err.count("\n") == 1, f"{what}: {err}"
        assert len(err) < 600, what
        assert "hint: " in err or "accepted: " in err, f"{what}: {err}"
        assert time.monotonic() - started < 20, what
    assert json.loads(recuse("budget", database, "--json")[1])["spent"] == 0.5


def test_messages_lead_to_what_a_newcomer_meant(recuse, tmp_path):
    """A file in place of its folder, text in place of numbers, a ledger where no folder is."""
    (tmp_path / "people.csv").write_text("id,age\n1,30\n2,40\n")
    policy = tmp_path / "p.toml"
    policy.write_text('[[protect]]\ntable = "people"\nkey = ["id"]\n[budget]\nepsilon = 1\n')
    asked = ("--policy", policy, "--epsilon", 1)
    _, _, err = recuse("ask", tmp_path / "people.csv", "SELECT COUNT(*) FROM people", *asked)
    assert "is one table; hint: name its folder" in err
    _, _, err = recuse("ask", tmp_path, "SELECT SUM(age) FROM people", *asked)
    assert "[columns] of the policy" in err
    _, _, err = recuse(
        "ask", tmp_path, "SELECT COUNT(*) FROM people", *asked, "--ledger", tmp_path / "no" / "x"
    )
    assert "cannot be created" in err
    assert "backup" not in err
    _, _, err = recuse("graph", tmp_path / "people.csv", "--protect", "node", "--epsilon", 1)
    assert err.startswith("recuse: what is counted? accepted: ")


def test_a_missing_option_is_a_usage_error(recuse, shop):
    database, _ = shop
    code, _, err = recuse("ask", database, COUNT)
    assert code == 2
    assert "--policy" in err


@pytest.mark.parametrize(
    "words",
    [
        ("frob",),
        ("ask",),
        ("ask", "x.duckdb", "SELECT 1", "--policy"),
        ("ask", "x.duckdb", "SELECT 1", "--frob"),
        ("budget", "show"),
        ("budget", "grant", "x"),
        ("data", "frob"),
        ("shell",),
    ],
)
def test_a_mistake_in_the_command_is_one_line(recuse, words):
    code, out, err = recuse(*words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("recuse: ")
    assert "; hint: recuse" in err


BROKEN = """
import sys
from recuse.cli import app
def fail(*_, **__):
    raise ValueError("Could not convert 'Ada Lovelace'")
app.opened = fail
sys.argv = ["recuse", "explain", "x.duckdb", "SELECT 1", "--policy", "x.toml"]
app.main()
"""


def test_an_unexpected_error_is_code_1_and_quotes_nothing():
    done = subprocess.run([sys.executable, "-c", BROKEN], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("recuse: unexpected ValueError in ")
    assert "Ada" not in done.stderr


def test_an_interrupt_is_code_130(recuse, shop, monkeypatch):
    database, policy = shop

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("recuse.session.spine.release", stop)
    assert recuse("ask", database, COUNT, "--policy", policy, "--epsilon", "0.5")[0] == 130
    monkeypatch.undo()


def test_what_was_charged_before_an_interrupt_stays_charged(recuse, shop, monkeypatch):
    database, policy = shop
    with monkeypatch.context() as broken:
        broken.setattr("recuse.session.spine.release", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
        recuse("ask", database, COUNT, "--policy", policy, "--epsilon", "0.5")
    assert json.loads(recuse("budget", database, "--json")[1])["spent"] == 0.5
