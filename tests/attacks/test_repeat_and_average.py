"""Repeat and average: noise that is drawn twice for one charge would average away.

So whenever noise is drawn, exactly ε is spent; whenever none is drawn, the answer is one that was given
before under the same policy.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import count
from pathlib import Path

import pytest

from recuse.dbapi import Connection
from recuse.ledger import Bill, Charged, Ledger, Stored
from recuse.noise import SecureNoise
from recuse.policy import Policy
from recuse.privacy import Epsilon
from recuse.session.parts import Parts
from recuse.session.session import Session, connect
from support.shop import COUNT, POLICY, make_shop

RICH = POLICY.replace("epsilon = 2", "epsilon = 1000")
OTHERWISE = RICH.replace('table = "customer"\nkey = ["id"]', 'table = "customer"\nkey = ["nation"]')


class Counting:
    """The real noise, and how often it was drawn."""

    def __init__(self) -> None:
        self.drawn = 0
        self._noise = SecureNoise()

    def laplace(self, scale: Fraction) -> int:
        self.drawn += 1
        return self._noise.laplace(scale)

    def bits(self, count: int) -> int:
        self.drawn += 1
        return self._noise.bits(count)


class Watch:
    """Sessions on one shop, and a record of every answer: what it was, whether noise was drawn, the cost."""

    def __init__(self, folder: Path, kind: type[Ledger] = Ledger) -> None:
        self.database, self.policy = make_shop(folder)
        self.policy.write_text(RICH)
        connect(self.database, self.policy).ledger.close()
        self.ledger = kind.open(folder / "shop.duckdb.ledger")
        self.noise = Counting()
        self.sessions: dict[tuple[str, str | None], Session] = {}
        self.seen: dict[Policy, set[Fraction]] = {}

    def session(self, policy: str = RICH, analyst: str | None = None) -> Session:
        """Return the session of a policy and an analyst, all of them on one ledger."""
        if (policy, analyst) not in self.sessions:
            rules, parts = Policy.parse(policy), Parts(noise=self.noise)
            self.sessions[policy, analyst] = connect(self.database, rules, parts=parts, analyst=analyst)
            self.sessions[policy, analyst]._ledger = self.ledger
        return self.sessions[policy, analyst]

    def cheated(self, policy: str, sql: str, epsilon: object, analyst: str | None, mechanism: str) -> bool:
        """Return whether an answer was new but not paid for, or old but not given under this policy."""
        session = self.session(policy, analyst)
        drawn, spent = self.noise.drawn, self.ledger.balance().spent
        answer = session.ask(sql, epsilon, mechanism=mechanism)
        assert answer.is_number
        cost = self.ledger.balance().spent - spent
        earlier = self.seen.setdefault(session.policy, set())
        new = self.noise.drawn > drawn
        fair = cost == Epsilon.of(epsilon).value if new else cost == 0 and answer.value in earlier
        earlier.add(answer.value)
        return not fair or answer.stored == new


SPELLINGS = [
    COUNT,
    "select  count( * )\n from\torders",
    "SELECT COUNT(*) FROM ORDERS;",
    'SELECT COUNT(*) FROM "Orders"',
    "SELECT COUNT(*) AS n FROM orders",
    "SELECT COUNT(*) FROM orders o",
    "SELECT COUNT(*) FROM (orders)",
    "SELECT COUNT(1) FROM orders",
    "SELECT COUNT(*) FROM orders WHERE TRUE",
    "SELECT COUNT(*) FROM orders WHERE id = id",
    "WITH o AS (SELECT * FROM orders) SELECT COUNT(*) FROM o",
]
HALVES = ["0.5", "0.50", "1/2", "2/4", "5e-1", 0.5, Fraction(1, 2), Decimal("0.500"), " 0.5 "]


def averaging(folder: Path, kind: type[Ledger] = Ledger) -> bool:
    """Return whether any way of asking the same thing again gives fresh noise for nothing."""
    watch = Watch(folder, kind)
    ways = [(RICH, sql, "0.5", None, "selective") for sql in SPELLINGS]
    ways += [(RICH, COUNT, half, None, "selective") for half in HALVES]
    ways += [(RICH, COUNT, "0.5", None, name) for name in ("tuned", "paper", "tuned")]
    ways += [(RICH, COUNT, "0.51", None, "selective"), (OTHERWISE, COUNT, "0.5", None, "selective")]
    ways += [(RICH + "# a comment\n", COUNT, "0.5", None, "selective")]
    if any(watch.cheated(*way) for way in ways):
        return True
    watch.ledger.publish()
    again = [watch.cheated(RICH, COUNT, "0.5", None, "selective") for _ in range(2)]
    for name in ("ann", "bob"):
        watch.ledger.grant(Epsilon.of(3), name)
    mine = [watch.cheated(RICH, COUNT, "0.5", name, "selective") for name in ("ann", "bob", "ann")]
    return any(again + mine)


def test_no_way_of_asking_again_is_fresh_and_free(tmp_path):
    assert not averaging(tmp_path)


class Forgetful(Ledger):
    """A broken twin: a question that was paid for may be asked again, and gets fresh noise."""

    def charge(self, question: Bill) -> Charged | Stored:
        paid = super().charge(question)
        if isinstance(paid, Stored):
            return Charged(0, paid.remaining, paid.data_version)
        return paid


class KeyedByText(Ledger):
    """A broken twin: answers are kept by the text of the question and its ε, whatever the policy."""

    def charge(self, question: Bill) -> Charged | Stored:
        return super().charge(replace(question, key=f"{question.text} {question.epsilon}"))


@pytest.mark.parametrize("twin", [Forgetful, KeyedByText])
def test_the_twins_that_keep_answers_wrongly_are_caught(twin, tmp_path):
    assert averaging(tmp_path, twin)


def test_the_interface_for_tools_draws_no_noise_for_nothing(tmp_path):
    watch = Watch(tmp_path)
    connection = Connection(watch.session(), Epsilon.of("0.5"), "selective")
    spent = []
    for text in (COUNT, f"/* epsilon = 1/2 */ {COUNT}", f"/*epsilon=0.25*/{COUNT}", f" {COUNT}"):
        drawn = watch.noise.drawn
        connection.cursor().execute(text).fetchall()
        spent.append((watch.noise.drawn > drawn, watch.ledger.balance().spent))
    assert spent == [
        (True, Fraction(1, 2)),
        (False, Fraction(1, 2)),
        (True, Fraction(3, 4)),
        (False, Fraction(3, 4)),
    ]


def test_a_group_that_is_listed_twice_is_answered_once(tmp_path):
    """Groups that nobody shares get the whole ε each: the same one twice would be two draws."""
    data = Watch(tmp_path).session()
    fresh = count(1)
    for keys in ("1, 1, 2", "1, 1.0, 2, 2e0", "1, 2, 1, 2"):
        text = f"SELECT nation, COUNT(*) FROM customer WHERE nation IN ({keys}) AND id <> -{next(fresh)} "
        rows = data.ask(text + "GROUP BY nation", 1)
        assert [row.keys for row in rows] == [(1,), (2,)]
