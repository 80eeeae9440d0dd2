"""Public tables beside groups in FROM: one row for each group, as DuckDB has them."""

from __future__ import annotations

from functools import cache

import duckdb
import pytest

from recuse.dbapi import records
from recuse.errors import QueryError
from recuse.policy import Policy
from recuse.session.parts import Parts
from recuse.session.session import Session, connect
from support.sql.bank import plain

POLICY = Policy.parse("""
[[protect]]
table = "person"
key = ["id"]

[[link]]
table = "sale"
column = ["buyer"]
to = "person"

[[public]]
table = "shop"

[[public]]
table = "maker"

[budget]
epsilon = 100
""")
TABLES = """
CREATE TABLE person (id INTEGER PRIMARY KEY);
CREATE TABLE shop (id INTEGER PRIMARY KEY, name VARCHAR, town VARCHAR);
CREATE TABLE maker (id INTEGER PRIMARY KEY, name VARCHAR);
CREATE TABLE sale (buyer INTEGER REFERENCES person (id), shop INTEGER NOT NULL REFERENCES shop (id),
                   maker INTEGER REFERENCES maker (id), price INTEGER);
INSERT INTO person SELECT * FROM range(1, 21);
INSERT INTO shop VALUES (1, 'a', 'x'), (2, 'b', 'x'), (3, 'a', 'y');
INSERT INTO maker VALUES (1, 'm'), (2, 'n');
INSERT INTO sale SELECT i % 20 + 1, i % 3 + 1, CASE WHEN i % 5 = 0 THEN NULL ELSE i % 2 + 1 END, i % 7 + i % 3
                 FROM range(90) t(i);
"""
GROUPS = "WITH r(k, total) AS (SELECT shop, SUM(price) FROM sale WHERE price > 1 GROUP BY shop) "
ANSWERED = [
    "SELECT s.id, s.name, total FROM shop s, r WHERE s.id = r.k",
    "SELECT s.name, total FROM shop s JOIN r ON s.id = k ORDER BY total DESC LIMIT 2",
    "SELECT s.id, name, total FROM shop s, r WHERE s.id = k AND total = (SELECT MAX(total) FROM r)",
    "SELECT name, total FROM r, shop WHERE k = id AND total > (SELECT MIN(total) FROM r) AND total < 1000",
    "SELECT town, name, total * 2 AS double FROM r, shop s WHERE k = s.id AND NOT total < 100",
]
REFUSED = [
    "SELECT s.name, total FROM shop s, r WHERE id = k AND town = 'x' AND total = (SELECT MAX(total) FROM r)",
    "SELECT s.name, total FROM shop s, r WHERE s.id < r.k",
    "SELECT s.name, t.name, total FROM shop s, shop t, r WHERE s.id = r.k",
    "SELECT p.id, total FROM person p, r WHERE p.id = r.k",
]
NULLABLE = (
    "WITH r(k, n) AS (SELECT maker, COUNT(*) FROM sale GROUP BY maker) "
    "SELECT m.name, n FROM maker m, r WHERE m.id = k"
)


@cache
def judge() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(":memory:", config={"threads": 1})
    connection.execute(TABLES)
    return connection


@cache
def session() -> Session:
    connection = duckdb.connect(":memory:", config={"threads": 1})
    connection.execute(TABLES)
    return connect(connection, POLICY, parts=Parts())


def understood(sql: str) -> list[tuple[object, ...]]:
    question = session().question(sql, 1)
    answer = question.exact_answer(session()._parts.solver, lambda groups: groups.true_answers())
    return [tuple(map(plain, row)) for row in records(question.plan.columns, answer)]


@pytest.mark.parametrize("sql", ANSWERED)
def test_groups_beside_public_tables_are_what_duckdb_has(sql):
    ours, theirs = understood(GROUPS + sql), judge().execute(GROUPS + sql).fetchall()
    theirs = [tuple(map(plain, row)) for row in theirs]
    assert theirs
    assert ours == theirs if "ORDER BY" in sql else sorted(map(repr, ours)) == sorted(map(repr, theirs))


@pytest.mark.parametrize("sql", REFUSED)
def test_a_table_that_gives_a_group_no_row_or_several_is_none_of_them(sql):
    with pytest.raises(QueryError):
        session().question(GROUPS + sql, 1)


def test_a_reference_that_may_be_null_proves_nothing():
    """The group of NULL has no row of the table, and the largest of all groups could be that one."""
    with pytest.raises(QueryError):
        session().question(NULLABLE, 1)


def test_which_group_is_the_largest_costs_nothing_more():
    asked = session().question(GROUPS + ANSWERED[2], 1)
    assert asked.plan.firsts == ()
