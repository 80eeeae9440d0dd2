"""Subqueries about one person in PostgreSQL: aggregates, windows and LIMIT, as PostgreSQL means them.

Asked of us without noise, and asked of PostgreSQL as it is written: the answers are the same.
"""

from __future__ import annotations

import pytest

from engines.conformance import relation_of
from recuse.engines.engine import Engine
from recuse.errors import QueryError
from recuse.policy import Policy
from support.postgres import Server

pytestmark = pytest.mark.engine

POLICY = Policy.parse(
    """
[[protect]]
table = "person"
key = ["id"]
[[link]]
table = "visit"
column = ["person"]
to = "person"
[budget]
epsilon = 1
"""
)
MADE = (
    "CREATE TABLE person (id integer PRIMARY KEY, name text)",
    "INSERT INTO person SELECT i, chr(97 + i) FROM generate_series(0, 19) i",
    "CREATE TABLE visit (id integer PRIMARY KEY, person integer NOT NULL REFERENCES person, n integer,"
    " big bigint, price numeric(9, 2), x double precision, day date, late boolean, word text)",
    "INSERT INTO visit SELECT i, i * 7 % 20, CASE WHEN i % 11 > 0 THEN i % 9 END, i * 1000000007::bigint,"
    " CASE WHEN i % 13 > 0 THEN i * 1.25 - 20 END, i / 8.0, DATE '2024-01-01' + i * 5 % 90, i % 3 = 0,"
    " CASE WHEN i % 2 = 0 THEN 'Zoë ' ELSE 'anna' END || i % 4 FROM generate_series(0, 99) i",
    "INSERT INTO visit VALUES (100, 3, 2147483647, 9223372036854775807, 9999999.99, 'NaN', 'infinity', NULL,"
    " NULL), (101, 3, 2147483647, 9223372036854775807, -9999999.99, '-Infinity', '1000-01-01', NULL, '')",
)
QUESTIONS = (
    "SELECT COUNT(*) FROM (SELECT person, SUM(n) AS s FROM visit GROUP BY person) q WHERE s > 15",
    "SELECT COUNT(*) FROM (SELECT person, SUM(big) AS s FROM visit GROUP BY person) q WHERE s > 200000000000",
    "SELECT COUNT(*) FROM (SELECT person, SUM(price) AS s FROM visit GROUP BY person) q WHERE s < 212.5",
    "SELECT COUNT(*) FROM (SELECT person, SUM(DISTINCT n) AS s FROM visit GROUP BY person) q WHERE s <= 20",
    "SELECT COUNT(*) FROM (SELECT person, MAX(day) AS d, MIN(day) AS e FROM visit GROUP BY person) q"
    " WHERE d < DATE '2030-01-01' AND e < DATE '2024-01-15'",
    "SELECT COUNT(*) FROM (SELECT person, MIN(day) AS d FROM visit GROUP BY person) q"
    " WHERE extract(month FROM d) = 1",
    "SELECT COUNT(*) FROM (SELECT person, MAX(word) AS w FROM visit GROUP BY person) q WHERE w > 'anna2'",
    "SELECT COUNT(*) FROM (SELECT person, BOOL_OR(late) AS w FROM visit GROUP BY person) q WHERE w",
    "SELECT COUNT(*) FROM (SELECT person, BOOL_AND(n > 2) AS w FROM visit GROUP BY person) q WHERE w IS TRUE",
    "SELECT COUNT(*) FROM (SELECT person, COUNT(*) FILTER (WHERE late) AS c FROM visit GROUP BY person"
    " HAVING SUM(n) > 3) q WHERE c >= 2",
    "SELECT COUNT(*) FROM person p WHERE (SELECT SUM(price) FROM visit v WHERE v.person = p.id) > 200",
    "SELECT COUNT(*) FROM person p WHERE (SELECT word FROM visit v WHERE v.person = p.id"
    " ORDER BY day DESC LIMIT 1) > 'anna1'",
    "SELECT COUNT(*) FROM person p WHERE (SELECT n FROM visit v WHERE v.person = p.id"
    " ORDER BY n DESC, id LIMIT 1) IS NULL",
    "SELECT COUNT(*) FROM person p WHERE (SELECT n FROM visit v WHERE v.person = p.id"
    " ORDER BY n, id LIMIT 1) = 0",
    "SELECT COUNT(*) FROM visit v WHERE v.price > (SELECT MAX(w.price) FROM visit w"
    " WHERE w.person = v.person AND w.id <> v.id)",
    "SELECT COUNT(*) FROM (SELECT person, n, ROW_NUMBER() OVER (PARTITION BY person ORDER BY day, id) AS r"
    " FROM visit) q WHERE r = 1 AND n > 3",
    "SELECT COUNT(*) FROM (SELECT RANK() OVER (PARTITION BY person ORDER BY n DESC) AS r FROM visit) q"
    " WHERE r <= 2",
    "SELECT COUNT(*) FROM (SELECT DENSE_RANK() OVER (PARTITION BY person ORDER BY late) AS r FROM visit) q"
    " WHERE r = 2",
    "SELECT COUNT(*) FROM (SELECT day, LAG(day) OVER (PARTITION BY person ORDER BY day, id) AS b"
    " FROM visit) q WHERE day > b",
    "SELECT COUNT(*) FROM (SELECT n, LEAD(n) OVER (PARTITION BY person ORDER BY id) AS b FROM visit) q"
    " WHERE n > b",
    "SELECT COUNT(*) FROM (SELECT SUM(n) OVER (PARTITION BY person ORDER BY id) AS s FROM visit) q"
    " WHERE s > 10",
    "SELECT COUNT(*) FROM (SELECT SUM(n) OVER (PARTITION BY person ORDER BY id ROWS BETWEEN 1 PRECEDING"
    " AND CURRENT ROW) AS s FROM visit) q WHERE s > 8",
    "SELECT COUNT(*) FROM (SELECT COUNT(*) OVER (PARTITION BY person ORDER BY n) AS s FROM visit) q"
    " WHERE s > 3",
    "SELECT COUNT(*) FROM (SELECT FIRST_VALUE(n) OVER (PARTITION BY person ORDER BY id ROWS BETWEEN"
    " UNBOUNDED PRECEDING AND CURRENT ROW) AS s FROM visit) q WHERE s = 1",
    "SELECT SUM(c) FROM (SELECT person, COUNT(*) AS c, MAX(n) AS m FROM visit GROUP BY person) q WHERE m > 7",
    "SELECT COUNT(*) FROM person p WHERE EXISTS (SELECT 1 FROM visit v WHERE v.person = p.id"
    " GROUP BY v.word HAVING SUM(v.n) > 5)",
    "SELECT COUNT(*) FROM (SELECT DISTINCT ON (person) person, n FROM visit ORDER BY person, day, id) q"
    " WHERE n > 4",
    "SELECT COUNT(*) FROM (SELECT person, SUM(CASE WHEN late THEN 1 ELSE 0 END) AS s FROM visit"
    " GROUP BY person) q WHERE s BETWEEN 1 AND 2",
    "SELECT COUNT(*) FROM person p, LATERAL (SELECT SUM(n) AS s FROM visit v WHERE v.person = p.id) q"
    " WHERE q.s > 12",
)
REFUSED = {
    "SELECT COUNT(*) FROM person p WHERE (SELECT SUM(n) / 2 FROM visit v WHERE v.person = p.id) > 3":
        "integers or numerics",
    "SELECT COUNT(*) FROM (SELECT person, AVG(n) AS s FROM visit GROUP BY person) q WHERE s > 3":
        "PostgreSQL",
    "SELECT COUNT(*) FROM (SELECT person, MAX(x) AS s FROM visit GROUP BY person) q WHERE s > 3":
        "floats of many rows",
    "SELECT COUNT(*) FROM (SELECT person, percentile_cont(0.5) WITHIN GROUP (ORDER BY n) AS s FROM visit"
    " GROUP BY person) q WHERE s > 3": "PostgreSQL",
}  # fmt: skip


@pytest.mark.parametrize("sql", QUESTIONS)
def test_a_subquery_means_what_postgresql_means(server: Server, name: str, engine: Engine, sql: str):
    assert relation_of(engine, sql, POLICY).true_answer() == int(server.answer(name, sql)) > 0


@pytest.mark.parametrize("sql", REFUSED)
def test_what_may_mean_something_else_is_refused(engine: Engine, sql: str):
    with pytest.raises(QueryError, match=REFUSED[sql]):
        relation_of(engine, sql, POLICY)
