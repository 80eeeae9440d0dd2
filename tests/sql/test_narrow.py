"""Groups in FROM that show aggregates: conditions on them are HAVING, averages over them ratios of totals."""

from __future__ import annotations

import random

import duckdb
import pytest
import sqlglot

from recuse.errors import QueryError
from recuse.krelation.relation import Shape
from recuse.sql import narrow
from recuse.sql.compile import compile_query
from recuse.sql.means import of_all_rows
from recuse.sql.narrow import narrowed
from support.profiles import some
from support.sql.market import MARKETS, Maker, close_engines
from support.sql.subdatabases import Judge, LawError, check, close_judge, derive

GROUPS = "(SELECT i_product AS p, COUNT(*) AS n, COUNT(DISTINCT i_supplier) AS s FROM item GROUP BY 1) g"
SHOWN = [
    f"SELECT COUNT(*) FROM {GROUPS} WHERE n >= 2",
    f"SELECT COUNT(*) FROM {GROUPS} WHERE g.n IN (1, 3) AND p > 0",
    f"SELECT COUNT(*) FROM product JOIN {GROUPS} ON p_id = g.p AND g.s < 2",
    f"SELECT p_kind, COUNT(*) FROM product, {GROUPS} WHERE p_id = p AND NOT (n = 1) GROUP BY p_kind",
    f"SELECT COUNT(*) FROM {GROUPS}",
    f"SELECT COUNT(*) FROM product WHERE p_id IN (SELECT p FROM {GROUPS} WHERE s > 1)",
    "WITH g(p, n) AS (SELECT i_product, COUNT(*) FROM item GROUP BY 1) SELECT COUNT(*) FROM g WHERE n > 1",
    "SELECT COUNT(*) FROM (SELECT i_product, COUNT(*) AS n FROM item GROUP BY 1 HAVING n > 1) g",
    "SELECT SUM(p_id) FROM (SELECT i_product AS p, MAX(i_count) AS m FROM item GROUP BY 1) g, product "
    "WHERE p = p_id AND m > 1",
]  # fmt: skip


@pytest.fixture(autouse=True, scope="module")
def _close():
    yield
    close_engines()
    close_judge()


@pytest.mark.parametrize("text", some([*SHOWN], 0.4))
def test_conditions_on_what_groups_show_mean_what_the_engine_means(text):
    chance, compared, tried = random.Random(), 0, 0
    while tried < 2 or (not compared and tried < 30):  # a database can be empty
        market = chance.choice(MARKETS)
        judge = Judge.of(market, Maker(chance, market).contents())
        compared += check(judge, {text: derive(market, text)})[text].compared
        tried += 1
    assert compared


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT SUM(n) FROM {GROUPS} JOIN product ON p = p_id",  # the total is used
        f"SELECT COUNT(*) FROM product LEFT JOIN {GROUPS} ON p_id = p WHERE n > 1",
        f"SELECT COUNT(*) FROM product, {GROUPS} WHERE n > p_id",  # compared with another row
        "SELECT COUNT(*) FROM (SELECT i_product, COUNT(*) AS n FROM item GROUP BY 1 LIMIT 2) g WHERE n > 1",
    ],
)  # fmt: skip
def test_what_is_more_than_a_condition_stays_as_it_is(text):
    tree = sqlglot.parse_one(text, read="duckdb")
    made = narrowed(tree, {})
    left = (made[0] if made else tree).sql(dialect="duckdb")
    assert "COUNT(*) AS" in left


MEANS = [
    "SELECT AVG(n) FROM (SELECT d, COUNT(*) AS n FROM t GROUP BY d) g",
    "SELECT AVG(s), SUM(s) FROM (SELECT SUM(x) AS s FROM t GROUP BY d, k) g",
    "SELECT AVG(n) FROM (SELECT COUNT(DISTINCT x) AS n FROM t WHERE k <> 1 GROUP BY d) g",
    "SELECT AVG(g.n) AS m FROM (SELECT COUNT(x) AS n FROM t GROUP BY d) g",
]


@pytest.mark.parametrize("text", MEANS)
def test_an_average_over_groups_is_a_total_over_their_number(text):
    chance = random.Random()
    made = of_all_rows(sqlglot.parse_one(text, read="duckdb"), {})
    assert made is not None
    with duckdb.connect(":memory:") as plain:
        plain.execute("CREATE TABLE t (d INTEGER, k INTEGER, x INTEGER)")
        for _ in range(40):
            values = [
                tuple(chance.choice([None, 0, 1, 2]) for _ in range(3)) for _ in range(chance.randrange(7))
            ]
            plain.execute("DELETE FROM t")
            for row in values:
                plain.execute("INSERT INTO t VALUES (?, ?, ?)", row)
            (one,) = plain.execute(text).fetchall()
            (other,) = plain.execute(made[0].sql(dialect="duckdb")).fetchall()
            same = [
                a == b or (a is not None and b is not None and abs(a - b) < 1e-9)
                for a, b in zip(one, other, strict=True)
            ]
            nothing = not values or all(v is None or v != v for v in one)  # 0 / 0, or of nothing
            assert all(same) or nothing, (one, other, values)


def test_the_twin_that_moves_a_condition_out_of_an_outer_join_is_caught(monkeypatch):
    text = f"SELECT COUNT(*) FROM product LEFT JOIN {GROUPS} ON p_id = g.p AND g.n >= 2"
    market, chance = MARKETS[0], random.Random(1)
    with pytest.raises(QueryError):
        derive(market, text)
    monkeypatch.setattr(narrow, "_is_inner", lambda _: True)
    (made, _) = narrowed(sqlglot.parse_one(text, read="duckdb"), {})
    for _ in range(40):
        judge = Judge.of(market, Maker(chance, market).contents())
        try:
            check(judge, {text: derive(market, made.sql(dialect="duckdb").replace("LEFT JOIN", "JOIN"))})
        except LawError:
            return
    pytest.fail("the law does not notice")


def test_the_twin_that_counts_groups_without_a_value_is_caught():
    text = "SELECT AVG(n) FROM (SELECT SUM(x) AS n FROM t GROUP BY d) g"
    written = of_all_rows(sqlglot.parse_one(text, read="duckdb"), {})[0].sql(dialect="duckdb")
    assert "WHERE NOT (x) IS NULL" in written
    with duckdb.connect(":memory:") as plain:
        plain.execute("CREATE TABLE t AS SELECT * FROM (VALUES (1, 4), (2, NULL)) v(d, x)")
        (one,), (other,), (twin,) = (
            plain.execute(sql).fetchone()
            for sql in (text, written, written.replace("WHERE NOT (x) IS NULL", ""))
        )
    assert (one, other, twin) == (4, 4, 2)


def test_an_average_of_what_is_not_added_up_is_none():
    for text in (
        "SELECT MIN(n) FROM (SELECT COUNT(*) AS n FROM t GROUP BY d) g",
        "SELECT AVG(n) FROM (SELECT MAX(x) AS n FROM t GROUP BY d) g",
        "SELECT AVG(n) FROM (SELECT COUNT(*) AS n FROM t GROUP BY d HAVING COUNT(*) > 1) g",
    ):
        assert of_all_rows(sqlglot.parse_one(text, read="duckdb"), {}) is None


def test_the_first_rows_of_somebody_named_are_theirs_alone():
    market = MARKETS[0]
    first = "SELECT COUNT(*) FROM (SELECT o_id FROM orders WHERE {} ORDER BY o_date, o_id LIMIT 1) t"
    plan = compile_query(first.format("o_customer = 1"), market.policy, market.catalogue())
    assert plan.single.shape is Shape.CONJUNCTIONS
    for other in ("o_id > 1", "o_customer <> 1", "o_total = 1", "o_customer IN (1, 2)"):
        with pytest.raises(QueryError):
            compile_query(first.format(other), market.policy, market.catalogue())
