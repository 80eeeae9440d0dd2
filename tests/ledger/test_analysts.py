"""Analysts: each has a limit, which is a part of the database's."""

from __future__ import annotations

from fractions import Fraction

import pytest

from recuse.errors import BudgetError, LedgerError, ParameterError
from recuse.ledger import Balance, Ledger, open_or_create
from recuse.privacy import Epsilon
from support.questions import spend

ONE = Epsilon.of(1)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "shop.ledger"


def test_an_analysts_limit_is_a_part_of_the_databases(path):
    ledger, _ = open_or_create(path, ONE)
    ledger.grant(Epsilon.of("0.6"), "ada")
    ledger.grant(Epsilon.of("0.6"), "bob")
    assert spend(ledger, "0.5", "ada").remaining == Fraction(1, 10)
    with pytest.raises(BudgetError, match=r"0\.1 left to ada"):
        spend(ledger, "0.2", "ada")
    assert spend(ledger, "0.3", "bob").remaining == Fraction(1, 5), "the database has less left than bob"
    with pytest.raises(BudgetError, match=r"0\.2 left;"):
        spend(ledger, "0.25", "bob")
    assert ledger.balance() == Balance(Fraction(1), Fraction(4, 5))
    assert [(a.name, a.balance.spent) for a in ledger.analysts()] == [
        ("ada", Fraction(1, 2)),
        ("bob", Fraction(3, 10)),
    ]
    ledger.close()
    assert Ledger.open(path).balance("bob").remaining == Fraction(3, 10)


def test_once_there_are_analysts_a_question_says_whose_it_is(path):
    ledger, _ = open_or_create(path, ONE)
    with pytest.raises(LedgerError, match="no such analyst"):
        spend(ledger, "0.1", "ada")
    ledger.grant(ONE, "ada")
    with pytest.raises(LedgerError, match="whose it is"):
        spend(ledger, "0.1")
    assert ledger.balance().spent == 0


def test_a_grant_names_the_whole_limit(path):
    ledger, _ = open_or_create(path, ONE)
    spend(ledger, "0.75")
    for _ in range(2):
        assert ledger.grant(Epsilon.of(2)).remaining == Fraction(5, 4)
    with pytest.raises(BudgetError, match=r"0\.75 spent"):
        ledger.grant(Epsilon.of("0.5"))
    assert ledger.grant(Epsilon.of("0.75")).remaining == 0
    assert [decision.epsilon for decision in ledger.decisions()] == [1, 2, 2, Fraction(3, 4)]


@pytest.mark.parametrize("name", ["", " ", " ada", "ada\n", "a\x1b[2J", "x" * 101])
def test_names_that_are_none(path, name):
    ledger, _ = open_or_create(path, ONE)
    with pytest.raises(ParameterError, match="no name"):
        ledger.grant(ONE, name)
