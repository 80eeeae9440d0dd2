"""Answers that are kept: the same question is paid for once."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from recuse.errors import BudgetError
from recuse.ledger import Charged, Stored, open_or_create
from recuse.privacy import Epsilon
from support.questions import question

ONE = Epsilon.of(1)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "shop.ledger"


def test_the_same_question_is_paid_for_once(path):
    ledger, _ = open_or_create(path, ONE)
    asked = question("0.25", key="k")
    paid = ledger.charge(asked)
    assert isinstance(paid, Charged)
    ledger.store(paid, "the answer")
    assert ledger.charge(asked) == Stored("the answer", Fraction(3, 4), 1)
    assert ledger.balance().spent == Fraction(1, 4)
    assert [charge.answer for charge in ledger.history()] == ["the answer"]


def test_a_charge_without_an_answer_is_charged_again(path):
    """The program ended between charge and answer: what it would have said is lost, and was paid for."""
    ledger, _ = open_or_create(path, ONE)
    for spent in (1, 2):
        assert isinstance(ledger.charge(question("0.25", key="k")), Charged)
        assert ledger.balance().spent == spent * Fraction(1, 4)


def test_two_who_ask_the_same_at_once_both_pay_and_the_first_answer_stays(path):
    (one, _), (two, _) = open_or_create(path, ONE), open_or_create(path, ONE)
    first, second = one.charge(question("0.25", key="k")), two.charge(question("0.25", key="k"))
    two.store(second, "second")
    one.store(first, "first")
    one.store(first, "a change of mind")
    assert [charge.answer for charge in one.history()] == ["first", "second"]
    assert one.charge(question("0.25", key="k")).answer == "first"
    assert one.balance().spent == Fraction(1, 2)


def test_what_distinguishes_questions(path):
    ledger, _ = open_or_create(path, ONE)
    for analyst in ("ada", "bob"):
        ledger.grant(ONE, analyst)
    asked = question("0.1", key="k", analyst="ada")
    ledger.store(ledger.charge(asked), "for ada")
    assert isinstance(ledger.charge(asked), Stored)
    assert isinstance(ledger.charge(question("0.1", key="k", analyst="bob")), Charged)
    assert isinstance(ledger.charge(question("0.1", key="other", analyst="ada")), Charged)
    assert isinstance(ledger.charge(replace(asked, source="other.csv")), Charged)
    assert ledger.publish() == 2
    assert isinstance(ledger.charge(asked), Charged), "the data is another"
    assert ledger.data_version() == 2


def test_whether_a_question_would_be_charged_is_told_without_charging(tmp_path):
    ledger, _ = open_or_create(tmp_path / "shop.ledger", Epsilon.of(1))
    asked = question("1/2", key="same")
    assert ledger.stored(asked) is None
    ledger.store(ledger.charge(asked), "yes")
    assert ledger.stored(asked).answer == "yes"
    with pytest.raises(BudgetError):
        ledger.stored(question("3/4"))
    assert ledger.balance().spent == Fraction(1, 2)
    ledger.grant(Epsilon.of("1/4"), "ada")
    with pytest.raises(BudgetError):
        ledger.stored(question("1/2", analyst="ada"))
    assert ledger.stored(question("1/8", analyst="ada")) is None


def test_charges_are_read_page_by_page_and_by_whose_they_are(tmp_path):
    ledger, _ = open_or_create(tmp_path / "shop.ledger", Epsilon.of(1))
    ledger.grant(Epsilon.of(1), "ada")
    ledger.grant(Epsilon.of(1), "bob")
    for name in ("ada", "bob", "ada"):
        ledger.charge(question("1/8", analyst=name))
    assert [(number, charge.analyst) for number, charge in ledger.charges(None, 99, 2)] == [
        (3, "ada"),
        (2, "bob"),
    ]
    assert [number for number, _ in ledger.charges("ada", 99, 9)] == [3, 1]
    assert [number for number, _ in ledger.charges("ada", 3, 9)] == [1]
