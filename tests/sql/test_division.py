"""Division by a public table: every public row has a private one that goes with it; on every sub-database."""

from __future__ import annotations

import random
from contextlib import nullcontext

import pytest

from recuse.errors import QueryError
from recuse.krelation.relation import Shape
from recuse.policy import Policy
from recuse.sql import derive as derivations
from recuse.sql.catalogue import Catalogue, Column, Table
from recuse.sql.compile import compile_query
from support.profiles import examples, some
from support.sql.market import MARKETS, Maker, Market, close_engines
from support.sql.subdatabases import Derived, Judge, LawError, check, close_judge, derive

LACKS = "NOT EXISTS (SELECT 1 FROM {})"
SOLD = "item i JOIN orders o ON o.o_id = i.i_order WHERE o.o_date = d.o_date AND i.i_product = p.p_id"
DIVIDED = (
    # days on which every product was sold
    f"SELECT COUNT(*) FROM orders d WHERE {LACKS.format(f'product p WHERE {LACKS.format(SOLD)}')}",
    # nations whose customers have given every cheap product; there may be none that is cheap
    "SELECT COUNT(*) FROM nation n WHERE NOT EXISTS (SELECT p_id FROM product p WHERE p_price < 2 AND p_id "
    "NOT IN (SELECT g_product FROM gift JOIN customer ON g_from = c_id WHERE c_nation = n.n_id))",
    # names for which some kind of product, which may be NULL, was never given by anybody
    "SELECT COUNT(DISTINCT c_name) FROM customer a WHERE EXISTS (SELECT 1 FROM product p WHERE NOT EXISTS "
    "(SELECT 1 FROM gift g, product q WHERE q.p_id = g.g_product AND q.p_kind IS NOT DISTINCT FROM p.p_kind "
    "AND g.g_to <> p.p_price))",
    # by name, and one condition among others
    "SELECT n_name, COUNT(*) FROM nation n WHERE n_id > 0 OR NOT EXISTS (SELECT 1 FROM product p WHERE "
    "NOT EXISTS (SELECT 1 FROM item WHERE i_product = p_id AND i_count > n.n_id) AND NOT EXISTS "
    "(SELECT 1 FROM gift WHERE g_product = p.p_id)) GROUP BY n_name",
)


@pytest.fixture(autouse=True, scope="module")
def _close():
    yield
    close_engines()
    close_judge()


def compared(derived: Derived, market: Market, text: str, chance: random.Random) -> int:
    judge = Judge.of(market, Maker(chance, market).contents())
    return check(judge, {text: derived})[text].compared


@pytest.mark.parametrize("text", some(DIVIDED, 0.5))
def test_division_means_what_the_engine_means(text):
    chance, answers = random.Random(), 0
    for market in chance.sample(MARKETS, examples(9, least=2)):
        derived = derive(market, text)
        found = [compared(derived, market, text, chance) for _ in range(3)]
        answers += sum(found)
    assert answers


def test_what_a_customer_owns_anyway_is_no_threshold():
    market = MARKETS[0]
    own = "item JOIN orders ON o_id = i_order WHERE o_customer = c_id AND i_product = p_id"
    text = f"SELECT COUNT(*) FROM customer WHERE {LACKS.format(f'product WHERE {LACKS.format(own)}')}"
    assert compile_query(text, market.policy, market.catalogue()).single.shape is Shape.CONJUNCTIONS


@pytest.mark.parametrize(
    "divisor",
    [  # private; of the row around
        "customer p WHERE NOT EXISTS (SELECT 1 FROM gift WHERE g_product = p.c_id AND g_to = n_id)",
        "product p WHERE p_price = n_id AND NOT EXISTS (SELECT 1 FROM gift WHERE g_product = p.p_id)",
    ],
)
def test_other_divisors_stay_refused(divisor):
    market = MARKETS[0]
    with pytest.raises(QueryError, match="a negation inside a subquery"):
        derive(market, f"SELECT COUNT(*) FROM nation WHERE {LACKS.format(divisor)}")


@pytest.mark.parametrize(("kind", "refused"), [("INTEGER", False), ("DOUBLE", True)])
def test_a_list_of_floats_is_no_divisor(kind, refused):
    """Two floats that are equal need not be the same value, so they are not counted as one."""
    tables = (
        Table("person", (Column("id", "INTEGER"),), (("id",),)),
        Table("visit", (Column("who", "INTEGER"), Column("day", "INTEGER"), Column("x", kind))),
        Table("mark", (Column("x", kind),)),
        Table("day", (Column("id", "INTEGER"),)),
    )
    policy = Policy.parse(
        '[[protect]]\ntable = "person"\nkey = ["id"]\n'
        '[[link]]\ntable = "visit"\ncolumn = ["who"]\nto = "person"\n'
        '[[public]]\ntable = "mark"\n[[public]]\ntable = "day"\n'
    )
    met = "visit v WHERE v.x = m.x AND v.day = d.id"
    text = f"SELECT COUNT(*) FROM day d WHERE {LACKS.format(f'mark m WHERE {LACKS.format(met)}')}"
    with pytest.raises(QueryError, match="a negation inside") if refused else nullcontext():
        compile_query(text, policy, Catalogue(tables))


def broken(text: str, databases: int) -> bool:
    chance, market = random.Random(0), MARKETS[1]
    derived = derive(market, text)
    for _ in range(databases):
        try:
            compared(derived, market, text, chance)
        except LawError:
            return True
    return False


def test_the_twin_that_is_content_with_one_less_is_caught(monkeypatch):
    assert not broken(DIVIDED[1], 2)
    whole = derivations.Group

    def one_less(tables, least=1):
        fewer = f"SELECT GREATEST((SELECT * FROM ({least})) - 1, 0)"
        return whole(tables, fewer if isinstance(least, str) else least)

    monkeypatch.setattr(derivations, "Group", one_less)
    assert broken(DIVIDED[1], 40)
