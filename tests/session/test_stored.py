"""The same question again: its stored answer, for nothing; any other question is charged."""

from __future__ import annotations

import os
import subprocess
import sys
from fractions import Fraction

import pytest

from recuse.errors import (
    UnansweredError,
)
from recuse.policy import Policy
from recuse.privacy import Epsilon
from recuse.session.fingerprint import policy_hash
from recuse.session.parts import Parts
from recuse.session.session import connect
from support.noise import Seeded
from support.shop import COUNT, POLICY, make_shop


@pytest.fixture
def shop(tmp_path):
    database, policy = make_shop(tmp_path)
    return connect(database, policy, parts=Parts(noise=Seeded(5)))


BY_NATION = (
    "SELECT n.name, COUNT(*) AS orders, AVG(price) AS mean FROM orders o "
    "JOIN customer c ON o.customer = c.id JOIN nation n ON c.nation = n.id "
    "GROUP BY n.name ORDER BY n.name DESC"
)


def test_the_same_question_gets_its_answer_again_for_nothing(shop):
    first = shop.ask(COUNT, "0.5")
    again = shop.ask("select  count(*)\nfrom orders;", "1/2")
    assert (first.stored, again.stored) == (False, True), "blanks and case are no other question"
    assert (again.value, again.interval, again.remaining) == (first.value, first.interval, first.remaining)
    assert shop.budget.spent == Fraction(1, 2)


def test_a_table_comes_back_as_it_was(shop):
    first, again = (shop.ask(BY_NATION, 1) for _ in range(2))
    assert [row.keys for row in again] == [row.keys for row in first]
    assert [[cell.value for cell in row.cells] for row in again] == [
        [cell.value for cell in row.cells] for row in first
    ]
    assert (first.stored, again.stored, shop.budget.spent) == (False, True, 1)


@pytest.mark.parametrize(
    "other",
    [
        {"sql": COUNT + " WHERE id < 10"},
        {"sql": "SELECT COUNT(*) AS n, COUNT(id) FROM orders"},
        {"sql": "SELECT COUNT(*), COUNT(*) FILTER (WHERE id < 10) FROM orders"},
        {"sql": "SELECT COUNT(customer) FROM orders"},
        {"epsilon": "0.4"},
        {"mechanism": "tuned"},
    ],
)
def test_another_question_is_charged(shop, other):
    asked = {"sql": COUNT, "epsilon": "0.5", "mechanism": "selective"}
    shop.ask(**asked)
    before = shop.budget.spent
    assert not shop.ask(**(asked | other)).stored
    assert shop.budget.spent > before


def test_another_policy_version_of_the_data_or_analyst_is_charged(tmp_path):
    database, policy = make_shop(tmp_path)
    with connect(database, policy) as session:
        first = session.ask(COUNT, "0.1")
    other = Policy.parse(POLICY + "\n[sum]\ngranularity = 0.25\n")
    with connect(database, other) as session:
        found = session.ask(COUNT, "0.1")
        assert (found.stored, found.policy == first.policy) == (False, False)
    with connect(database, policy) as session:
        assert session.ask(COUNT, "0.1").stored
        assert session.ledger.publish() == 2
        found = session.ask(COUNT, "0.1")
        assert (found.stored, found.data_version) == (False, 2)
        session.ledger.grant(Epsilon.of(1), "ada")
    with connect(database, policy, analyst="ada") as session:
        assert not session.ask(COUNT, "0.1").stored
        assert session.budget.remaining == Fraction(9, 10)


def test_comments_and_the_budget_of_a_policy_do_not_matter(tmp_path):
    plain = Policy.parse(POLICY)
    assert policy_hash(
        Policy.parse("# hello\n\n" + POLICY.replace("epsilon = 2", "epsilon = 5"))
    ) == policy_hash(plain)
    assert policy_hash(Policy.parse(POLICY.replace('"nation"', '"region"'))) != policy_hash(plain)


def test_no_noise_is_drawn_for_a_stored_answer(shop):
    """The repeat-and-average attack gets the same draw each time, and no second one for nothing."""
    draws = []

    class Counting(Seeded):
        def bits(self, count):
            draws.append(count)
            return super().bits(count)

    shop._parts = Parts(noise=Counting(3))
    answers = {shop.ask(COUNT, "0.5").value for _ in range(20)}
    assert len(answers) == 1
    drawn = len(draws)
    shop.ask(COUNT, "0.5")
    assert len(draws) == drawn > 0


def test_the_key_of_a_question_is_the_same_in_every_process(tmp_path):
    """A key that depended on Python's hashes would charge the same question twice."""
    database, policy = make_shop(tmp_path)
    with connect(database, policy) as session:
        assert not session.ask(BY_NATION, 1).stored
    code = """
import sys
from recuse.session.session import connect
with connect(sys.argv[1], sys.argv[2]) as session:
    print(hash("recuse"), session.ask(sys.argv[3], 1).stored)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(database), str(policy), BY_NATION],
        env={**os.environ, "PYTHONHASHSEED": "random"},
        capture_output=True,
        text=True,
        check=True,
    )
    other, stored = done.stdout.split()
    assert int(other) != hash("recuse")
    assert stored == "True"


def test_a_crash_before_the_answer_is_stored_is_charged_again(shop, monkeypatch):
    class CrashError(Exception):
        pass

    def crash(*_):
        raise CrashError

    with monkeypatch.context() as broken:
        broken.setattr("recuse.session.spine.stored_text", crash)
        with pytest.raises(UnansweredError):
            shop.ask(COUNT, "0.5")
    assert not shop.ask(COUNT, "0.5").stored
    assert shop.budget.spent == 1
