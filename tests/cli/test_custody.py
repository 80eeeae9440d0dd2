"""`recuse ledger` and `recuse token` at the command line."""

from __future__ import annotations

import json

import pytest

from recuse.ledger import Ledger, open_or_create
from recuse.ledger.mark import mark_of
from recuse.privacy import Epsilon
from support.questions import spend


@pytest.fixture
def path(tmp_path):
    ledger, _ = open_or_create(tmp_path / "shop.ledger", Epsilon.of(4))
    ledger.grant(Epsilon.of(2), "ada")
    ledger.close()
    return tmp_path / "shop.ledger"


def test_a_token_is_shown_once_listed_and_revoked(recuse, path):
    code, out, _ = recuse("token", "create", path, "--analyst", "ada", "--purpose", "notebook", "--days", "3")
    assert code == 0
    text = out.strip()
    id = text.split("_")[1]
    held = Ledger.open(path).tokens().holder(text)
    assert (held.id, held.purpose) == (id, "notebook")
    assert recuse("token", "list", path)[1] == f"{id}  analyst ada  live  never used  notebook\n"
    assert recuse("token", "revoke", path, id)[1] == f"{id} opens nothing any more\n"
    _, out, _ = recuse("token", "list", path)
    assert "revoked" in out
    assert text.rpartition("_")[2] not in out
    made = json.loads(recuse("token", "create", path, "--custodian", "cy", "--json")[1])
    assert (made["role"], made["name"]) == ("custodian", "cy")
    listed = [json.loads(line) for line in recuse("token", "list", path, "--json")[1].splitlines()]
    assert [token["id"] for token in listed] == [id, made["id"]]
    assert "token" not in listed[1]
    acts = recuse("ledger", "audit", path)[1]
    assert acts.count("command line") == 4
    assert json.loads(recuse("ledger", "audit", path, "--json")[1].splitlines()[0])["what"] == "grant"


def test_it_must_be_somebodys(recuse, path):
    code, _, err = recuse("token", "create", path)
    assert (code, "--analyst NAME, or --custodian NAME" in err) == (2, True)
    assert recuse("token", "create", path, "--analyst", "a", "--custodian", "b")[0] == 2
    assert recuse("token", "create", path, "--analyst", "eve")[0] == 2


def test_a_ledger_is_copied_and_put_back_with_what_was_spent_since(recuse, path, tmp_path):
    copy = tmp_path / "copy"
    assert recuse("ledger", "backup", path, copy)[0] == 0
    ledger = Ledger.open(path)
    spend(ledger, "1/2", "ada")
    ledger.mark().write(mark_of(path))
    ledger.close()
    for lost in path.parent.glob("shop.ledger*"):
        if lost != mark_of(path):
            lost.unlink()
    code, out, _ = recuse("ledger", "restore", copy, path)
    assert (code, out) == (0, "restored; epsilon 0.5, spent since the copy was made, is charged\n")
    assert Ledger.open(path).balance().remaining == Epsilon.of("3.5").value
    code, _, err = recuse("ledger", "restore", copy, path, "--json")
    assert (code, "there is a ledger already" in err) == (2, True)
    assert json.loads(recuse("ledger", "restore", copy, tmp_path / "b.ledger", "--json")[1]) == {
        "charged": "0"
    }
    assert json.loads(recuse("ledger", "backup", path, tmp_path / "c", "--json")[1])["copy"].endswith("c")
