"""Rows of one table in many groups are read as they are: the same people, loads and answers."""

from __future__ import annotations

from dataclasses import replace

import duckdb
import pytest

import recuse
from recuse.engines.collect import Collected
from recuse.sql import plan as plans
from recuse.sql.plan import compiled_sql

POLICY = """
[[protect]]
table = "users"
key = ["id"]
[[link]]
table = "buys"
column = ["user_id"]
to = "users"
[[domain]]
table = "buys"
column = "product_id"
values = [0, 1, 2, 3]
[budget]
epsilon = 10
"""
QUESTIONS = [
    "SELECT product_id, COUNT(*) FROM buys GROUP BY product_id",
    "SELECT product_id, SUM(amount) FROM buys WHERE amount < 5 GROUP BY product_id",
    "SELECT product_id, COUNT(amount) FROM buys GROUP BY product_id",
]


@pytest.fixture(params=["PRIMARY KEY", ""], ids=["kept unique", "declared"])
def session(request, tmp_path):
    """A shop with rows of people who are not there, of nobody, and of groups that nobody listed."""
    database = str(tmp_path / "buys.duckdb")
    with duckdb.connect(database) as made:
        made.execute(f"CREATE TABLE users (id BIGINT {request.param})")
        made.execute("INSERT INTO users SELECT range FROM range(20)")
        made.execute(
            "CREATE TABLE buys AS SELECT CASE WHEN range % 11 = 0 THEN NULL ELSE range % 23 END AS user_id,"
            " range % 5 AS product_id, (range * 7) % 13 - 4 AS amount FROM range(300)"
        )
    (tmp_path / "policy.toml").write_text(POLICY)
    with recuse.connect(database, tmp_path / "policy.toml") as found:
        yield found


@pytest.mark.parametrize("sql", QUESTIONS)
def test_rows_are_the_same_summed_or_not(session, sql, monkeypatch):
    question = session.question(sql, 1)
    summed = question.plan
    monkeypatch.setattr(plans, "MANY_GROUPS", 1)
    listed = summed.in_groups(lambda _: 4)
    assert compiled_sql(listed.measures) != compiled_sql(summed.measures)
    assert "GROUP BY" not in compiled_sql(listed.measures)[0]
    one, other = (
        Collected.of(session.engine, plan, question.domain).contributions(plan.measures[0])
        for plan in (summed, listed)
    )
    assert one.true_answers().tolist() == other.true_answers().tolist()
    assert sorted(one.loads[one.loads > 0]) == sorted(other.loads[other.loads > 0])


def test_few_groups_are_summed_where_they_lie(session):
    plan = session.question(QUESTIONS[0], 1).plan
    assert plan.in_groups(lambda _: 4) == plan
    assert compiled_sql(plan.in_groups(lambda _: 4).measures) == compiled_sql(plan.measures)


def test_only_a_key_that_the_database_keeps_is_joined(session):
    (measure,) = session.question(QUESTIONS[0], 1).plan.measures
    kept = any(table.keys for table in session.engine.catalogue().tables if table.name == "users")
    (table,) = measure.tables
    assert ("EXISTS" in table.listed) == (not kept)


def test_rows_of_a_join_are_summed(session):
    sql = "SELECT a.product_id, COUNT(*) FROM buys a JOIN buys b USING (user_id) GROUP BY a.product_id"
    (measure,) = session.question(sql, 1).plan.measures
    assert [table.listed for table in measure.tables] == [None]


def test_a_join_that_multiplies_is_caught(session):
    """The twin joins a key that the database does not keep unique."""
    (measure,) = session.question(QUESTIONS[0], 1).plan.measures
    (table,) = measure.tables
    doubled = replace(table, listed=table.listed.replace('"users"', '"buys"').replace('"id"', '"user_id"'))
    session.engine.run([table.listed])
    if "EXISTS" not in table.listed:
        (right,), (wrong,) = session.engine.run([table.listed]), session.engine.run([doubled.listed])
        assert wrong.num_rows > right.num_rows
