"""`recuse data check` and `publish`: what cannot be read is named, and nothing is published before."""

from __future__ import annotations

import json

import pytest

from support.school import FOUND, make_school


@pytest.fixture
def school(tmp_path):
    return make_school(tmp_path)


def test_the_command_names_them_and_leaves_with_2(recuse, school):
    code, out, err = recuse("data", "check", school, "--policy", school.with_suffix(".toml"))
    assert (code, out.splitlines()) == (2, FOUND)
    assert err.startswith("recuse: 6 places in school cannot be read; hint: ")
    code, out, _ = recuse("data", "check", school, "--json", "--most", 2)
    assert [json.loads(line)["line"] for line in out.splitlines()] == [3, 5]


def test_publishing_checks_first(recuse, school):
    policy = school.with_suffix(".toml")
    assert recuse("budget", "grant", school, "--epsilon", 1)[0] == 0
    code, out, _ = recuse("data", "publish", school, "--policy", policy)
    assert (code, out.splitlines()) == (2, FOUND)
    version = "data version 2: earlier answers are not given again\n"
    assert recuse("data", "publish", school, "--unchecked")[1] == version
    (school / "person.csv").write_bytes(b"id,name,salary\n1,ann,5\n")
    code, out, _ = recuse("data", "publish", school.with_suffix(".ledger"), "--policy", policy)
    assert (code, out) == (0, version.replace("2", "3"))
    assert recuse("data", "check", school, "--policy", policy)[1] == f"{school} can be read as declared\n"


def test_a_ledger_alone_is_published_with_a_note(recuse, school, tmp_path):
    assert recuse("budget", "grant", tmp_path / "x.ledger", "--epsilon", 1)[0] == 0
    code, _, err = recuse("data", "publish", tmp_path / "x.ledger")
    assert code == 0
    assert "nothing was checked" in err


def test_a_declared_key_that_does_not_hold_is_named_and_nothing_is_published(recuse, school):
    policy = school.with_suffix(".toml")
    policy.write_text(policy.read_text() + '\n[[key]]\ntable = "person"\ncolumn = ["id"]\n')
    (school / "person.csv").write_bytes(b"id,name,salary\n1,ann,5\n2,bob,5\n1,cy,5\n")
    assert recuse("budget", "grant", school, "--epsilon", 1)[0] == 0
    told = "person (id): declared unique, but 2 rows share 1 values\n"
    for command in ("check", "publish"):
        code, out, err = recuse("data", command, school, "--policy", policy)
        assert (code, out) == (2, told)
        assert err.startswith("recuse: 1 declared key does not hold in school; hint: ")
    code, out, _ = recuse("data", "check", school, "--policy", policy, "--json")
    assert json.loads(out) == {"table": "person", "columns": ["id"], "values": 1, "rows": 2}
    (school / "person.csv").write_bytes(b"id,name,salary\n1,ann,5\n2,bob,5\n,cy,5\n,di,5\n")
    assert recuse("data", "publish", school, "--policy", policy)[0] == 0
