"""The two halves of an answer: one place charges, another looks; and what fails in between has one form."""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError

import pandas as pd
import pytest

from recuse.errors import UnansweredError
from recuse.mechanism.priced import PricedGroups
from recuse.policy import Policy
from recuse.session import fingerprint
from recuse.session.outward import FailureLog, door
from recuse.session.parts import Parts
from recuse.session.session import connect
from recuse.session.spine import Spine
from support.noise import Seeded
from support.shop import COUNT, make_shop

SALES = pd.DataFrame({"customer": [i % 40 for i in range(400)], "supplier": [i % 9 for i in range(400)]})
POLICY_OF_TWO = Policy.parse(
    '[[protect]]\nkind = "customer"\n[[protect]]\nkind = "supplier"\n'
    '[[link]]\ntable = "sale"\ncolumn = ["customer"]\nto = "customer"\n'
    '[[link]]\ntable = "sale"\ncolumn = ["supplier"]\nto = "supplier"\n[budget]\nepsilon = 100\n'
)
SUPPLIERS = ", ".join(map(str, range(9)))
BY_SUPPLIER = f"SELECT supplier, COUNT(*) FROM sale WHERE supplier IN ({SUPPLIERS}) GROUP BY supplier"


@pytest.fixture
def shop(tmp_path):
    database, policy = make_shop(tmp_path)
    with connect(database, policy, parts=Parts(noise=Seeded(1))) as session:
        yield session


def test_a_question_is_charged_in_one_place_and_answered_in_another(shop, monkeypatch):
    """Nothing is read when it is charged; what was paid for is answered without another charge, and kept."""
    question = shop.question(COUNT, 1)
    with monkeypatch.context() as blind:
        blind.setattr(type(question), "read_private_rows", lambda *_: pytest.fail("it looks"))
        paid = shop.charge(question)
    assert shop.budget.spent == 1
    answer = shop.answer(paid)
    assert shop.budget.spent == 1
    assert not answer.stored
    again = shop.ask(COUNT, 1)
    assert again.stored
    assert again.value == answer.value


def test_what_fails_in_the_second_half_has_one_form_and_stays_charged(shop, monkeypatch):
    paid = shop.charge(shop.question(COUNT, 1))
    monkeypatch.setattr(Spine, "_answer", lambda *_: 1 / 0)
    with pytest.raises(UnansweredError) as caught:
        shop.answer(paid)
    assert caught.value.__cause__ is None
    assert shop.budget.spent == 1


def test_groups_of_two_kinds_of_owners_have_prices():
    """A supplier decides the group, a customer nothing: the supplier's withdrawal costs less."""
    with connect({"sale": SALES}, POLICY_OF_TWO, parts=Parts(noise=Seeded(2))) as session:
        answer = session.ask(BY_SUPPLIER, 8)
        (groups,) = session.question(BY_SUPPLIER, 7).read_private_rows(Parts().solver)
    assert isinstance(groups.subject, PricedGroups)
    assert len(answer.rows) == 9


def test_what_a_door_lets_through_leaves_as_it_is():
    with pytest.raises(KeyError):
        door(lambda: {}["absent"], letting=(KeyError,))


def test_failures_are_written_into_plain_files_alone(tmp_path):
    FailureLog(tmp_path / "log").note(ValueError("seen"))
    assert "seen" in (tmp_path / "log").read_text()
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        FailureLog(tmp_path / "pipe").note(ValueError("unseen"))
        assert os.read(reader, 100) == b""
    finally:
        os.close(reader)


def test_a_program_that_is_not_installed_has_a_version_too(monkeypatch):
    def absent(_: str) -> str:
        raise PackageNotFoundError

    monkeypatch.setattr(fingerprint, "version", absent)
    assert fingerprint.program_version.__wrapped__() == "source"
