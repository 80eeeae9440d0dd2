"""Joins that PostgreSQL never lists: rows are added up before they are joined, by keys of every type.

Asked of us without noise, and asked of PostgreSQL as it is written: the answers are the same.
"""

from __future__ import annotations

import pytest

from engines.conformance import relation_of
from recuse.engines.engine import Engine
from recuse.policy import Policy
from recuse.sql.compile import compile_query
from support.postgres import Server

pytestmark = pytest.mark.engine

KEYS = {
    "i": "integer",
    "b": "bigint",
    "n": "numeric(9, 2)",
    "x": "double precision",
    "r": "real",
    "t": "text",
    "v": "varchar(9)",
    "c": "char(4)",
    "d": "date",
    "s": "timestamp",
    "u": "boolean",
}
VALUES = {
    "i": "CASE WHEN i % 7 > 0 THEN i % 5 END",
    "b": "CASE i % 4 WHEN 0 THEN 9223372036854775807 WHEN 1 THEN -9223372036854775808 ELSE i % 3 END",
    "n": "CASE i % 5 WHEN 0 THEN NULL WHEN 1 THEN 1.50 ELSE i % 3 END",
    "x": "CASE i % 6 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' WHEN 2 THEN '0' WHEN 3 THEN 'Infinity'"
    " ELSE 0.1 END::double precision",
    "r": "CASE i % 4 WHEN 0 THEN 'NaN' WHEN 1 THEN '-0' WHEN 2 THEN '0' ELSE 0.1 END::real",
    "t": "CASE i % 4 WHEN 0 THEN 'a' WHEN 1 THEN 'a ' WHEN 2 THEN 'A' ELSE '' END",
    "v": "CASE i % 3 WHEN 0 THEN 'ä' WHEN 1 THEN 'a ' ELSE NULL END",
    "c": "CASE i % 3 WHEN 0 THEN 'a' WHEN 1 THEN 'a ' ELSE 'ab' END",
    "d": "CASE i % 4 WHEN 0 THEN 'infinity' WHEN 1 THEN '-infinity' ELSE '2024-02-29' END::date",
    "s": "CASE i % 4 WHEN 0 THEN 'infinity' WHEN 1 THEN '1900-01-01 00:00:00.000001' ELSE '2024-02-29' END"
    "::timestamp",
    "u": "i % 2 = 0",
}
TABLES = ("post", "comment", "vote")
MADE = (
    "CREATE TABLE person (id integer PRIMARY KEY)",
    "INSERT INTO person SELECT i FROM generate_series(0, 9) i",
    *(
        statement
        for turn, table in enumerate(TABLES)
        for statement in (
            f"CREATE TABLE {table} (owner integer REFERENCES person, score integer,"
            f" {', '.join(f'{name} {kind}' for name, kind in KEYS.items())})",
            f"INSERT INTO {table} SELECT CASE WHEN i % 13 > 0 THEN (i * 3 + {turn}) % 10 END, i % 7 - 3,"
            f" {', '.join(VALUES[name] for name in KEYS)} FROM generate_series({turn}, 35) i",
        )
    ),
)
LINKS = "".join(f'[[link]]\ntable = "{table}"\ncolumn = ["owner"]\nto = "person"\n' for table in TABLES)
POLICY = Policy.parse(f'[[protect]]\ntable = "person"\nkey = ["id"]\n{LINKS}[budget]\nepsilon = 1\n')
STAR = (
    "FROM person p JOIN post a ON a.owner = p.id JOIN comment b ON b.owner = p.id"
    " JOIN vote c ON c.owner = p.id"
)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("asked", ["COUNT(*)", "SUM(a.score)"])
def test_keys_of_every_type_meet_as_postgresql_says(
    server: Server, name: str, engine: Engine, key: str, asked: str
):
    joined = f"FROM post a JOIN comment b ON b.{key} = a.{key} JOIN vote c ON c.{key} = a.{key}"
    owned = " AND ".join(f"{alias}.owner IS NOT NULL" for alias in "abc")  # nobody's rows are nobody's
    sql = f"SELECT {asked} {joined} WHERE {owned}"
    assert relation_of(engine, sql, POLICY).true_answer() == int(server.answer(name, sql))


@pytest.mark.parametrize("asked", ["COUNT(*)", "SUM(a.score)", "SUM(a.score * b.score)", "COUNT(a.n)"])
def test_a_star_is_added_up_before_it_is_joined(server: Server, name: str, engine: Engine, asked: str):
    sql = f"SELECT {asked} {STAR}"
    plan = compile_query(sql, POLICY, engine.catalogue())
    assert "copies" in plan.measures[0].tables[0].sql
    assert relation_of(engine, sql, POLICY).true_answer() == int(server.answer(name, sql))
