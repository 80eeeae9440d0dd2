"""Estimates: from public inputs only, near to what then happens, and never from a private row."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from statistics import median

import duckdb
import numpy as np
import pandas as pd
import pytest

from recuse.engines.duckdb import DuckDB
from recuse.errors import DatabaseError, ParameterError, QueryError
from recuse.policy import Policy
from recuse.session.estimate import WINNER, enough
from recuse.session.parts import Parts
from recuse.session.session import connect
from recuse.session.sql_question import SqlQuestion
from recuse.session.statistics import Statistics
from recuse.solver.fast import fast_programs
from support.noise import Seeded
from support.profiles import some
from support.shop import COUNT, POLICY, make_shop

BY_NATION = (
    "SELECT n.name, COUNT(*) AS orders, AVG(price) AS mean FROM orders o "
    "JOIN customer c ON o.customer = c.id JOIN nation n ON c.nation = n.id "
    "GROUP BY n.name ORDER BY orders DESC"
)
SHOP = Statistics(rows={"customer": 200, "Orders": 1000, "nation": 5})


@pytest.fixture
def shop(tmp_path):
    database, policy = make_shop(tmp_path)
    with connect(database, policy, parts=Parts(noise=Seeded(11))) as session:
        yield session


@pytest.fixture(scope="module")
def public(tmp_path_factory):
    """A database that is public: it is read, and nothing is asked of it for an ε."""
    return make_shop(tmp_path_factory.mktemp("public"))[0]


def poisoned(tmp_path):
    """Return a session on a database whose rows are poison: all gone, and reading raises."""
    database, policy = make_shop(tmp_path)
    with duckdb.connect(str(database)) as connection:
        for table in ("orders", "customer", "nation"):
            connection.execute(f"DELETE FROM {table}")
    return connect(database, policy, parts=Parts(noise=Seeded(11)))


# ------------------------------------------------------------------ never from the private data


def inputs(public):
    yield public
    yield SHOP
    with connect(public, Policy.parse(POLICY), parts=Parts(noise=Seeded(1))) as session:
        release = session.ask(COUNT, 1)
    public.with_name(public.name + ".ledger").unlink()
    yield release


def test_no_private_row_is_read(tmp_path, public, monkeypatch):
    session = poisoned(tmp_path)
    read = []
    running = DuckDB.run
    monkeypatch.setattr(DuckDB, "run", lambda self, sql: read.append(self) or running(self, sql))
    for like in inputs(public):
        read.clear()
        estimate = session.estimate(COUNT, "0.5", like=like, runs=30)
        assert session.engine not in read
        assert estimate.columns[0].value > 900, "the empty database is not what it is about"
    assert not session.has_ledger
    assert not (tmp_path / "shop.duckdb.ledger").exists()


def test_the_estimate_does_not_depend_on_the_private_data(tmp_path, public):
    """The same noise gives the same estimate, whatever the private tables hold."""
    found = []
    for session in (
        poisoned(tmp_path),
        connect(*make_shop(_folder(tmp_path / "full")), parts=Parts(noise=Seeded(11))),
    ):
        with session:
            found.append(
                [
                    session.estimate(COUNT, "0.5", like=public, runs=8),
                    session.estimate(BY_NATION, 1, like=SHOP, runs=4),
                ]
            )
    assert found[0] == found[1]


def _folder(path):
    path.mkdir()
    return path


def test_data_with_a_ledger_is_not_public(shop, tmp_path):
    public, _ = make_shop(_folder(tmp_path / "public"))
    with connect(public, Policy.parse(POLICY)) as other:
        other.ask(COUNT, 1)
    with pytest.raises(ParameterError, match="has a ledger"):
        shop.estimate(COUNT, 1, like=public)


# ------------------------------------------------------------------ near to what happens


def test_it_is_near_to_the_error_that_is_then_made(tmp_path, public):
    database, policy = make_shop(tmp_path)
    policy.write_text(POLICY.replace("epsilon = 2", "epsilon = 1000"))
    with connect(database, policy, parts=Parts(noise=Seeded(3))) as session:
        (expected,) = session.estimate(COUNT, "0.5", like=public, runs=100).columns
        texts = (f"{COUNT} WHERE id <> {6000 + number}" for number in range(40))
        errors = sorted(abs(session.ask_number(sql, "0.5").value - 1000) for sql in texts)
    assert expected.value == 1000
    assert 0.6 < expected.typical / median(errors) < 1.7
    assert 0.6 < expected.mostly / errors[36] < 1.7


def test_statistics_give_what_the_data_gives(shop, public):
    even = Statistics(SHOP.rows, largest={"orders": 5})
    of_data, of_statistics = (shop.estimate(COUNT, "0.5", like=like, runs=80) for like in (public, even))
    assert 0.6 < of_data.columns[0].typical / of_statistics.columns[0].typical < 1.7


def test_one_customer_with_many_orders_costs_more(shop):
    light, heavy = (Statistics(SHOP.rows, largest={"orders": most}) for most in (5, 100))
    even, hub = (shop.estimate(COUNT, "0.5", like=like, runs=40) for like in (light, heavy))
    assert hub.columns[0].typical > 2 * even.columns[0].typical


def test_an_earlier_release_is_scaled(shop):
    release = shop.ask_number(COUNT, 1)
    (column,) = shop.estimate(COUNT, "0.25", like=release).columns
    assert column.typical == 4 * WINNER * release.number.noise_scale
    low, high = release.interval
    assert column.mostly == 4 * max(high - release.value, release.value - low)
    assert shop.budget.spent == 1
    with pytest.raises(ParameterError, match="one number"):
        shop.estimate(BY_NATION, 1, like=release)


@pytest.mark.parametrize(
    "sql", ["SELECT MEDIAN(price) FROM orders", "SELECT MAX(price) FROM orders WHERE id < 9"]
)
def test_an_earlier_median_is_refused_alike_whether_or_not_there_was_one(shop, sql):
    """Of few people it is NULL, of many a number: the refusal follows from the question."""
    for epsilon in ("0.01", "0.6"):
        with pytest.raises(ParameterError, match="says nothing of its error"):
            shop.estimate(sql, "0.25", like=shop.ask(sql, epsilon))


def test_tables_are_estimated_by_column(shop, public):
    estimate = shop.estimate(BY_NATION, 2, like=public, runs=10)
    assert [column.name for column in estimate.columns] == ["orders", "mean"]
    assert estimate.columns[0].value == 200, "the middle of the five nations"
    text = str(estimate)
    assert text.startswith("estimate  for epsilon 2, on data declared public, 10 runs; nothing was charged")
    assert "error     orders: typically off by " in text


# ------------------------------------------------------------------ honest: the tail, several ε, the inverse


def test_sizes_alone_assume_a_heavy_tail_and_say_so(shop):
    found = shop.estimate(COUNT, 1, like=SHOP, runs=5)
    assert found.cautions[0].startswith(
        "nobody said how many rows of orders link to one row at most: 50 are assumed, 10 times the mean"
    )
    stated = Statistics(SHOP.rows, largest={"orders": 50})
    assert not any("assumed" in c for c in shop.estimate(COUNT, 1, like=stated, runs=5).cautions)


def heavy_shop() -> dict[str, pd.DataFrame]:
    """Return 500 customers of whom a few order far more often than the others."""
    random = np.random.default_rng(1)
    owners = np.repeat(np.arange(450), np.minimum(1 + (random.pareto(1.5, 450) + 1).astype(int), 60))
    orders = {"id": np.arange(len(owners)), "customer": owners, "price": random.integers(5, 95, len(owners))}
    return {"customer": pd.DataFrame({"id": np.arange(500)}), "orders": pd.DataFrame(orders)}


@pytest.mark.parametrize("epsilon", some(["0.5", "1"], 0.5))
def test_with_the_largest_the_ninth_of_ten_is_within_half(epsilon):
    """What is measured on the data itself is judge; sizes alone are the twin, which is not believed."""
    data = heavy_shop()
    policy = Policy.parse(
        '[[protect]]\ntable = "customer"\nkey = ["id"]\n'
        '[[link]]\ntable = "orders"\ncolumn = ["customer"]\nto = "customer"\n'
    )
    rows = {name: len(table) for name, table in data.items()}
    largest = {"orders": int(data["orders"]["customer"].value_counts().max())}
    with connect(data, policy, parts=Parts(noise=Seeded(8))) as session:
        measured, stated, even = (
            session.estimate(COUNT, epsilon, like=like, runs=400).columns[0].mostly
            for like in (data, Statistics(rows, largest), Statistics(rows, {"orders": 4}))
        )
    assert 1 / 1.5 < stated / measured < 1.5
    assert even / measured < 1 / 1.5


def test_several_epsilons_are_prepared_once(shop, public, monkeypatch):
    read = []
    reading = SqlQuestion.read_private_rows
    monkeypatch.setattr(
        SqlQuestion, "read_private_rows", lambda self, solver: read.append(1) or reading(self, solver)
    )
    found = shop.estimates(COUNT, ["0.1", 1, 2], like=public, runs=20)
    assert [estimate.epsilon for estimate in found] == [Fraction(1, 10), 1, 2]
    assert len(read) == 2, "once for the truth, once for all runs"
    assert found[0].columns[0].mostly > found[2].columns[0].mostly


def test_which_epsilon_keeps_an_error(shop, public):
    found = shop.epsilon_for(COUNT, "5 %", like=public, runs=15)
    assert found.columns[0].mostly <= 50
    closer = shop.epsilon_for(COUNT, 20, like=public, runs=15)
    assert closer.columns[0].mostly <= 20
    assert closer.epsilon > found.epsilon
    with pytest.raises(ParameterError, match="no such error"):
        enough(shop.estimates(COUNT, ["0.01"], like=public, runs=5), Fraction(1, 10**6), relative=True)
    for wrong in ("0 %", -3, "much"):
        with pytest.raises(ParameterError, match="error"):
            shop.epsilon_for(COUNT, wrong, like=public)


# ------------------------------------------------------------------ where DISTINCT collapses

DISTINCT = "SELECT COUNT(DISTINCT price) FROM orders"


def test_too_few_owners_for_distinct_are_said(shop):
    few = shop.estimate(DISTINCT, "0.1", like=Statistics({"customer": 40, "orders": 100}), runs=20)
    assert "n·ε" in few.cautions[-1]
    assert few.columns[0].typical > few.columns[0].value / 4, "and rightly so"
    many = shop.estimate(DISTINCT, 2, like=Statistics({"customer": 1000, "orders": 20_000}), runs=8)
    assert not any("n·ε" in caution for caution in many.cautions)
    assert many.columns[0].typical < many.columns[0].value / 10
    stated = Statistics(SHOP.rows, largest={"orders": 5})
    assert shop.estimate(COUNT, "0.1", like=stated, runs=5).cautions == ()


# ------------------------------------------------------------------ made data


@pytest.mark.parametrize(
    ("sql", "named"),
    some(
        [
            (COUNT, None),
            ("SELECT COUNT(*) FROM orders JOIN customer ON customer = customer.id WHERE orders.id > 5", None),
            ("SELECT SUM(price) FROM orders", "orders.price"),
            ("SELECT COUNT(*) FROM orders WHERE price > 10 AND id > 3", "orders.price"),
            (
                "SELECT COUNT(*) FROM orders, customer c WHERE customer = c.id AND c.name = 'x'",
                "customer.name",
            ),
            (
                "SELECT COUNT(*) FROM customer WHERE id IN (SELECT customer FROM orders WHERE price > 1)",
                "orders.price",
            ),
            (
                "SELECT nation, COUNT(*) FROM customer WHERE nation IN (1, 2) GROUP BY nation",
                "customer.nation",
            ),
        ],
        0.5,
    ),
)
def test_columns_of_which_nothing_is_stated_are_named(shop, public, sql, named):
    stated = [c for c in shop.estimate(sql, 1, like=SHOP, runs=3).cautions if "made-up values" in c]
    assert [c.partition(", so")[0] for c in stated] == (
        [f"made-up values stand for {named}"] if named else []
    )
    assert not any("made-up" in caution for caution in shop.estimate(sql, 1, like=public, runs=3).cautions)


@pytest.mark.parametrize(
    ("like", "error", "words"),
    [
        (Statistics({"customer": 10}), ParameterError, "how many rows has orders"),
        ("no-such-place", DatabaseError, "no database"),
        ({"orders": pd.DataFrame({"id": [1]})}, Exception, "customer"),
        (pd.DataFrame({"id": [1]}), DatabaseError, "by name"),
    ],
)
def test_mistakes(shop, like, error, words):
    with pytest.raises(error, match=words):
        shop.estimate(COUNT, 1, like=like)


def test_a_question_about_nobody_has_no_error(shop):
    estimate = shop.estimate("SELECT COUNT(*) FROM nation", 1, like=SHOP)
    assert str(estimate) == "estimate  for epsilon 0, about nobody: the answer is exact; nothing was charged"


def test_more_mistakes(shop, public):
    with pytest.raises(QueryError):
        shop.estimate("SELECT * FROM orders", 1, like=public)
    with pytest.raises(ParameterError):
        shop.estimate(COUNT, 0, like=public)
    with pytest.raises(ParameterError, match="at least one run"):
        shop.estimate(COUNT, 1, like=public, runs=0)
    for wrong in (0, -1, 10**9):
        with pytest.raises(ParameterError, match="out of range"):
            Statistics({"customer": wrong})
    nothing = "SELECT AVG(price) FROM orders WHERE id < 0"
    with pytest.raises(ParameterError, match="undefined"):
        shop.estimate(nothing, 1, like=public, runs=5)


@pytest.mark.parametrize(
    ("sql", "delta"),
    [
        ("SELECT nation, COUNT(*) FROM customer GROUP BY nation", None),
        ("SELECT name, COUNT(*) FROM customer GROUP BY name", "1e-6"),
    ],
)
def test_groups_that_rows_decide_are_those_of_the_data_of_the_estimate(sql, delta, shop, public):
    """NOT PRIVATE by itself: of data that is public, their groups are known; of nations NULL is one more."""
    like = DuckDB.open(public)
    policy = Policy.parse(POLICY.replace("epsilon = 2", "epsilon = 2\ndelta = 0.001"))
    with connect(public, policy, ledger=public.with_suffix(".other")) as session:
        question = replace(session.question(sql, 1, delta=delta), engine=like)
        settled = question.settled(fast_programs, lambda groups: groups.true_answers())
    like.close()
    assert not settled.domain.is_open
    assert len(settled.domain.keys) == (200 if delta else 6)
