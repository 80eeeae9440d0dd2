"""The burn-down of a budget: every charge once, what is left falls by it, and lines fit a terminal."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.cli.burndown import drawn, steps
from recuse.ledger import Balance, Charge
from support.shop import COUNT


@given(st.lists(st.fractions(Fraction(1, 100), 2), max_size=6), st.sampled_from([80, 120]))
def test_what_is_left_falls_to_what_the_balance_says(costs, width):
    balance = Balance(Fraction(20), sum(costs, start=Fraction(0)))
    charges = [Charge("now", cost, "SELECT " + "x" * 200, None, 1, None, None, None) for cost in costs]
    found = list(steps(charges, balance))
    assert [step.charge.epsilon for step in found] == costs
    assert (found[-1].left if found else balance.granted) == balance.remaining
    lines = list(drawn(found, balance, width))
    assert len(lines) == len(costs) + 2
    assert len({line.find("question") for line in lines[:1]}) == 1
    if all(cost.denominator <= 100 for cost in costs):
        assert max(map(len, lines)) <= width


@pytest.mark.parametrize("as_json", [False, True])
def test_every_question_is_shown_with_what_was_left(recuse, shop, as_json):
    database, policy = shop
    for epsilon in ("0.5", "0.25"):
        recuse("ask", database, COUNT, "--policy", policy, "--epsilon", epsilon)
    code, out, _ = recuse("budget", "burndown", database, *(["--json"] if as_json else []))
    assert code == 0
    if as_json:
        assert [json.loads(line)["remaining"] for line in out.splitlines()] == [1.5, 1.25]
    else:
        assert [line.split()[0] for line in out.splitlines()] == ["epsilon", "2", "0.5", "0.25"]
