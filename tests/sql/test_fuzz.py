"""Ten thousand random texts: no traceback, no charge, no statement executed."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from recuse.engines.binding import check_plan
from recuse.errors import QueryError
from recuse.session.session import Session, connect
from recuse.sql.compile import compile_query
from support.shop import make_shop

SEEDS = [
    line
    for name in ("accepted.sql", "cases.sql")
    for line in (Path(__file__).parent / "golden" / name).read_text().splitlines()
]
SHOP = [
    "SELECT COUNT(*) FROM orders o JOIN customer c ON o.customer = c.id WHERE price > 3",
    "SELECT n.name, AVG(price) FROM orders o JOIN customer c ON o.customer = c.id "
    "JOIN nation n ON c.nation = n.id GROUP BY n.name ORDER BY 2 DESC",
    "WITH x AS (SELECT DISTINCT customer FROM orders) "
    "SELECT COUNT(*) FROM x WHERE customer IN (SELECT id FROM customer)",
    "SELECT COUNT(*) FROM (SELECT id FROM orders UNION SELECT customer FROM orders) t",
]
WORDS = """
SELECT FROM WHERE ( ) , ; -- /* */ ' " COPY ATTACH PRAGMA INSTALL DROP TABLE orders read_csv('/etc/passwd')
rowid UNION ALL EXCEPT INTERSECT LIMIT OVER () NULL * . :: [ ] { } $1 ? LATERAL UNNEST WITH RECURSIVE random()
now() EXISTS NOT IN ANY ALL CASE WHEN THEN END FILTER DISTINCT ON USING NATURAL LEFT JOIN ASOF QUALIFY PIVOT é
"""
PIECES = [*WORDS.split(), "\x00", " "]


def mutated(chance: random.Random) -> str:
    """Return a query with a few pieces cut out, doubled or put in, or plain random bytes."""
    if chance.random() < 0.2:
        return bytes(chance.randrange(256) for _ in range(chance.randrange(80))).decode("latin-1")
    text = chance.choice(chance.choice([SEEDS, SHOP, SHOP, SHOP]))
    for _ in range(chance.randrange(1, 5)):
        start = chance.randrange(len(text) + 1)
        end = min(len(text), start + chance.randrange(12))
        put = chance.choice(
            [chance.choice(PIECES), text[start:end] * 2, "", chr(chance.randrange(1, 0x3000))]
        )
        text = text[:start] + put + text[end:]
    return text


def survives(session: Session, count: int, seed: int) -> int:
    """Return how many texts were understood; anything but an answer or a refusal of one line raises."""
    chance = random.Random(seed)
    catalogue = session.engine.catalogue()
    understood = 0
    for _ in range(count):
        text = mutated(chance)
        try:
            check_plan(compile_query(text, session.policy, catalogue), session.engine)
            understood += 1
        except QueryError as error:
            if "\n" in str(error):
                raise AssertionError(text) from error
    return understood


@pytest.fixture
def session(tmp_path, monkeypatch):
    database, policy = make_shop(tmp_path)

    def nothing(*_):
        raise AssertionError("a statement was executed")

    with connect(database, policy) as opened:
        monkeypatch.setattr(type(opened.engine), "run", nothing)
        yield opened
    assert not (tmp_path / "shop.duckdb.ledger").exists()


def test_hundreds_of_random_texts(session):
    assert survives(session, 300, seed=1) > 0


@pytest.mark.slow
def test_ten_thousand_random_texts(session):
    assert survives(session, 10_000, seed=2) > 100
