"""`recuse estimate`: what an answer would be like, for nothing; and as it was spelled before."""

from __future__ import annotations

import json

from support.shop import COUNT, make_shop


def test_estimates(recuse, shop, tmp_path):
    database, policy = shop
    asked = (database, COUNT, "--policy", policy, "--epsilon", "1")
    ask = ("estimate", *asked)
    stated = ("--rows", "customer=200", "--rows", "orders=1000")
    code, out, _ = recuse(*ask, *stated)
    assert code == 0
    assert "made up from the statistics stated" in out
    found = json.loads(recuse(*ask, *stated, "--largest", "orders=90", "--json")[1])
    assert set(found) == {"epsilon", "basis", "columns", "cautions"}
    assert found["columns"][0]["value"] == 1000
    (tmp_path / "public").mkdir()
    public, _ = make_shop(tmp_path / "public")
    assert "declared public" in recuse(*ask, "--like", public)[1]
    for wrong in ((), ("--like", public, *stated), ("--rows", "x"), ("--rows", "a=b"), ("--largest", "a=1")):
        code, out, err = recuse(*ask, *wrong)
        assert (code, out, err.count("\n")) == (2, "", 1)
    assert "(--rows TABLE=NUMBER)" in recuse(*ask, *stated[:2])[2]
    code, _, err = recuse("ask", *asked, "--like", public)
    assert code == 2
    assert "recuse estimate" in err
    assert not (tmp_path / "shop.duckdb.ledger").exists(), "nothing was charged"


def test_estimates_as_they_were_spelled_before(recuse, shop):
    database, policy = shop
    asked = (database, COUNT, "--policy", policy, "--epsilon", "1", "--ledger", "x", "--analyst=ada")
    code, out, err = recuse("ask", *asked, "--estimate", "--rows", "customer=20", "--rows", "orders=90")
    assert (code, err) == (0, "")
    assert "nothing was charged" in out
