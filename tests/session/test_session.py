"""Sessions: charge first, then look; the answer in the query's own unit."""

from __future__ import annotations

from fractions import Fraction

import duckdb
import pandas as pd
import polars as pl
import pytest

import recuse
from recuse.errors import (
    BudgetError,
    DatabaseError,
    LedgerError,
    ParameterError,
    QueryError,
    UnansweredError,
)
from recuse.mechanism.release import Release
from recuse.policy import Policy
from recuse.session.answer import Answer, Combined
from recuse.session.parts import Parts
from recuse.session.place import SecondBudgetWarning
from recuse.session.session import connect
from recuse.sql.plan import Plan
from support.noise import Seeded
from support.shop import COUNT, POLICY, make_shop


@pytest.fixture
def shop(tmp_path):
    database, policy = make_shop(tmp_path)
    return connect(database, policy, parts=Parts(noise=Seeded(5)))


def test_an_answer_says_what_it_cost(shop):
    answer = shop.ask(COUNT, "0.5")
    assert abs(answer.value - 1000) < 200
    assert (answer.epsilon, answer.remaining) == (Fraction(1, 2), Fraction(3, 2))
    assert answer.interval[0] <= answer.value <= answer.interval[1]
    assert answer.number.mechanism == "selective"
    assert shop.budget.spent == Fraction(1, 2)


def test_ownerless_rows_take_no_part(shop):
    """One order has no customer, another one that does not exist: 1,000 of 1,002 count."""
    assert "customer" in shop.explain(COUNT).owners[0]
    answers = [
        shop.ask(f"SELECT COUNT(*) FROM orders WHERE id >= {least}", "0.1", mechanism="tuned")
        for least in range(4995, 5000)
    ]
    assert min(abs(answer.value) for answer in answers) < 100


def test_a_sum_is_in_the_unit_of_the_query(tmp_path):
    database, _ = make_shop(tmp_path)
    fine = Policy.parse(POLICY + "\n[sum]\ngranularity = 0.25\n")
    answer = connect(database, fine, parts=Parts(noise=Seeded(1))).ask("SELECT SUM(price) FROM orders", 1)
    assert answer.number.signed
    assert (answer.value * 4).denominator == 1
    assert abs(answer.value - 3247) < 800


def test_refusals_charge_nothing_and_create_no_ledger(shop, tmp_path):
    for sql, epsilon, error in [
        (COUNT, "0", ParameterError),
        (COUNT, "nan", ParameterError),
        ("SELECT COUNT(*) FROM secret", "1", Exception),
        ("SELECT * FROM orders", "1", QueryError),
    ]:
        with pytest.raises(error):
            shop.ask(sql, epsilon)
    with pytest.raises(ParameterError, match="selective"):
        shop.ask(COUNT, 1, mechanism="magic")
    assert not (tmp_path / "shop.duckdb.ledger").exists()


def test_the_charge_is_on_disk_before_data_is_read(shop, monkeypatch):
    spent = []

    def look(_):
        spent.append(shop.budget.spent)
        raise DatabaseError("the disk is gone")

    monkeypatch.setattr(type(shop.engine), "run", lambda _, query: look(query))
    with pytest.raises(UnansweredError):
        shop.ask(COUNT, "0.5")
    assert spent == [Fraction(1, 2)]
    assert shop.budget.spent == Fraction(1, 2), "and it is not refunded"


def test_the_budget_ends(shop):
    shop.ask(COUNT, 2)
    with pytest.raises(BudgetError, match="0 left"):
        shop.ask(COUNT, "0.1")


def test_explaining_is_free(shop, tmp_path):
    text = "\n".join(shop.explain(COUNT).lines())
    assert "customer" in text
    assert not (tmp_path / "shop.duckdb.ledger").exists()


def test_the_ledger_survives_the_session(tmp_path):
    database, policy = make_shop(tmp_path)
    connect(database, policy).ask(COUNT, "0.5")
    again = connect(database, policy)
    assert again.budget.spent == Fraction(1, 2)
    assert not again.ledger_is_new


FRAMES = """
[[protect]]
kind = "person"

[[link]]
table = "edges"
column = ["a"]
to = "person"

[[link]]
table = "edges"
column = ["b"]
to = "person"
"""
EDGES = {"a": [1, 1, 2, 3], "b": [2, 3, 3, 4]}


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_are_counted_in_memory(frame):
    session = connect({"edges": frame(EDGES)}, Policy.parse(FRAMES + "\n[budget]\nepsilon = 1\n"))
    answer = session.ask("SELECT COUNT(*) FROM edges", 1)
    assert answer.remaining == 0
    assert session.ledger_is_new


def test_a_connection_is_a_source_too():
    connection = duckdb.connect()
    connection.execute("CREATE TABLE edges AS SELECT 1 AS a, 2 AS b")
    session = connect(connection, Policy.parse(FRAMES + "\n[budget]\nepsilon = 1\n"))
    assert session.ask("SELECT COUNT(*) FROM edges", "0.5").remaining == Fraction(1, 2)


def test_frames_without_a_budget_are_refused():
    session = connect({"edges": pd.DataFrame(EDGES)}, Policy.parse(FRAMES))
    with pytest.raises(LedgerError, match="budget"):
        session.ask("SELECT COUNT(*) FROM edges", 1)


# ------------------------------------------------------------------ tables of answers

BY_NATION = (
    "SELECT n.name, COUNT(*) AS orders, AVG(price) AS mean FROM orders o "
    "JOIN customer c ON o.customer = c.id JOIN nation n ON c.nation = n.id "
    "GROUP BY n.name ORDER BY n.name DESC"
)


def test_groups_and_several_aggregates_are_a_table_from_one_charge(shop):
    answer = shop.ask(BY_NATION, 2)
    assert isinstance(answer, Answer)
    assert (answer.key_names, answer.names) == (("name",), ("orders", "mean"))
    assert [row.keys for row in answer] == [(f"nation-{i}",) for i in (4, 3, 2, 1, 0)]
    assert (answer.epsilon, answer.remaining, shop.budget.spent) == (2, 0, 2)
    for row in answer:
        count, mean = row.cells
        assert isinstance(count, Release)
        assert isinstance(mean, Combined)
        assert count.epsilon == Fraction(2, 3), "COUNT(*), SUM(price) and COUNT(price) share it"
        assert mean.epsilon == Fraction(4, 3)
        assert mean.confidence == pytest.approx(0.9)


def test_the_split_is_said_before_anything_is_spent(shop, tmp_path):
    lines = list(shop.explain(BY_NATION).lines())
    assert "epsilon     split evenly over 3 aggregates" in lines
    assert "epsilon     in full for every group: each participant touches one group only" in lines
    several = shop.explain("SELECT n.name, COUNT(*) FROM orders, nation n GROUP BY n.name")
    whole = "epsilon     in full for the noise of every group: each row has one owner"
    assert whole in list(several.lines())
    pairs = shop.explain("SELECT n.name, COUNT(*) FROM orders a, orders b, nation n GROUP BY n.name")
    assert any("in one noise for all groups" in line for line in pairs.epsilon)
    assert not (tmp_path / "shop.duckdb.ledger").exists()


def test_a_formula_without_groups_is_a_table_of_one_row(shop):
    (row,) = shop.ask("SELECT COUNT(*) / COUNT(*) - 1 AS nothing, 2 * COUNT(*) FROM orders", 2)
    assert row.cells[0].value == 0
    assert abs(row.cells[1].value - 2000) < 400


def test_an_average_over_too_few_is_unbounded(shop):
    (row,) = shop.ask("SELECT AVG(price) FROM orders WHERE id < 2", "0.01")
    assert row.cells[0].interval == (None, None)


def test_one_number_is_asked_for_as_such(shop):
    assert shop.ask_number(COUNT, "0.1").remaining == Fraction(19, 10)
    with pytest.raises(QueryError, match="more than one number"):
        shop.ask_number(BY_NATION, "0.1")
    assert shop.budget.spent == Fraction(1, 10)


def test_too_many_groups_are_refused_before_the_charge(shop, monkeypatch):
    monkeypatch.setattr("recuse.session.sql_question.MAX_GROUPS", 4)
    with pytest.raises(QueryError, match="too many groups"):
        shop.ask(BY_NATION, 1)
    assert shop.budget.spent == 0


def test_a_session_closes_what_it_opened(tmp_path):
    database, policy = make_shop(tmp_path)
    with connect(database, policy) as session:
        session.ask(COUNT, "0.5")
    with pytest.raises(DatabaseError):
        session.explain(COUNT)


# ------------------------------------------------------------------ public questions, ledgers, sources


def test_a_question_about_nobody_is_exact_and_free(shop, tmp_path):
    answer = shop.ask("SELECT COUNT(*) FROM nation", "0.1")
    assert (answer.value, answer.interval, answer.epsilon) == (5, (5, 5), 0)
    (row,) = shop.ask("SELECT AVG(id), SUM(id) FROM nation", 1)
    assert [cell.value for cell in row.cells] == [2, 10]
    counted = "SELECT SUM(n) FROM (SELECT id, COUNT(*) AS n FROM nation GROUP BY id) t WHERE n <> 1"
    assert shop.ask(counted, 1).value == 0, "a sum of nothing"
    assert not (tmp_path / "shop.duckdb.ledger").exists(), "no ledger is needed"


def test_a_private_question_is_never_taken_for_a_public_one(shop):
    for sql in (
        COUNT,
        BY_NATION,
        "SELECT COUNT(*) FROM nation, customer",
        "SELECT COUNT(DISTINCT n.id) FROM nation n JOIN customer c ON c.nation = n.id",
        "SELECT COUNT(*) FROM nation WHERE id IN (SELECT nation FROM customer)",
        "SELECT COUNT(*) FROM nation n WHERE EXISTS (SELECT 1 FROM customer c WHERE c.nation = n.id)",
        "SELECT COUNT(*) FROM (SELECT id FROM nation UNION SELECT nation FROM customer) AS t",
        "SELECT COUNT(*) FROM (SELECT id FROM nation UNION ALL SELECT nation FROM customer) AS t",
    ):
        assert not shop.compile(sql).is_public, sql
    assert shop.compile("SELECT COUNT(*) FROM nation WHERE id > 3").is_public


def test_an_answer_about_nobody_counts_no_row_of_anybody(shop, monkeypatch):
    """Even if a private question were taken for a public one, nothing of it would be let out."""
    monkeypatch.setattr(Plan, "is_public", True)
    assert shop.ask(COUNT, 1).value == 0
    assert shop.ask("SELECT COUNT(*) FROM nation WHERE id IN (SELECT nation FROM customer)", 1).value == 0


def test_every_public_name_is_there():
    assert set(dir(recuse)) == set(recuse.__all__)
    for name in recuse.__all__:
        assert getattr(recuse, name) is not None
    with pytest.raises(AttributeError, match="frob"):
        _ = recuse.frob


def test_another_ledger_is_said_loudly(tmp_path):
    database, policy = make_shop(tmp_path)
    other = tmp_path / "other.ledger"
    with pytest.warns(SecondBudgetWarning, match=r"epsilon = 2.*is not counted"):
        connect(database, policy, other).ask(COUNT, 1)
    assert connect(database, policy, other).ask(COUNT, 1).stored, "once it is there, nothing is said"
    assert connect(database, policy, f"{database}.ledger").ask(COUNT, 1).remaining == 1


@pytest.mark.parametrize("source", [pd.DataFrame(EDGES), pl.DataFrame(EDGES), 7, None])
def test_a_frame_without_a_name_is_one_line(source):
    with pytest.raises(DatabaseError, match=r"frames are passed by name.*\{\"orders\": frame\}") as caught:
        connect(source, Policy.parse(FRAMES))
    assert "\n" not in str(caught.value)


def test_groups_that_share_epsilon_say_what_each_was_drawn_with(shop):
    pairs = "FROM orders a JOIN orders b ON a.id = b.id + 1, nation n GROUP BY n.name"
    several = shop.ask(f"SELECT n.name, COUNT(*) {pairs}", 1)
    apart = shop.ask("SELECT nation, COUNT(*) FROM customer WHERE nation IN (1, 2) GROUP BY nation", "0.5")
    shares = {cell.noise_epsilon for row in several for cell in row.cells}
    assert shares == {Fraction(1)}, "the noise of all groups together has the whole of ε"
    (share,) = {cell.noise_epsilon for row in apart for cell in row.cells}
    assert share == Fraction(1, 2)
    alone = shop.ask("SELECT n.name, COUNT(*) FROM orders, nation n GROUP BY n.name", "0.5")
    (share,) = {cell.noise_epsilon for row in alone for cell in row.cells}
    assert share == Fraction(1, 2), "every row has one owner: nothing is split"
