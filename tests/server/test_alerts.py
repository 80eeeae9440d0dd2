"""Budgets that run out are in the log, once a level, and nothing else is."""

from __future__ import annotations

from fractions import Fraction

import pytest

from recuse.ledger import Balance
from recuse.server.alerts import alert, crossed
from support.serving import COUNT, waited


@pytest.mark.parametrize(
    ("spent", "charge", "level"),
    [(4, 4, None), (5, 1, 50), (8, 4, 80), (10, 10, 100), (10, "0.5", 100), (9, 1, None), (6, 1, None)],
)
def test_a_charge_reaches_a_level_once(spent, charge, level):
    assert crossed(Balance(Fraction(10), Fraction(spent)), Fraction(charge)) == level


def test_the_log_says_whose(caplog):
    alert("school", None, Balance(Fraction(1), Fraction(1)), Fraction(1, 10))
    alert("school", "ada", Balance(Fraction(2), Fraction(1)), Fraction(1, 10))
    assert caplog.messages == [
        "school: 100 % of the budget is spent",
        "school: 50 % of the limit of ada is spent",
    ]


def test_an_analysts_limit_is_watched(school):
    with school.http(school.token("zoe", grant="1")) as zoe:
        for epsilon in ("0.4", "0.3", "0.2"):
            assert waited(zoe, COUNT, epsilon)["state"] == "done"
    said = [line for line in (school.folder / "stderr").read_text().splitlines() if "zoe" in line]
    assert said == ["school: 50 % of the limit of zoe is spent", "school: 80 % of the limit of zoe is spent"]
