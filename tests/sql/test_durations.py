"""Fields of the time between two moments: what DuckDB says of its intervals."""

from __future__ import annotations

from datetime import date, datetime

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse.errors import QueryError
from recuse.policy import Policy
from recuse.session.session import connect
from support.profiles import examples

MOMENTS = st.datetimes(datetime(1930, 1, 1), datetime(2070, 1, 1))
DATES = st.dates(date(1930, 1, 1), date(2070, 1, 1))
ROWS = st.lists(st.tuples(MOMENTS, MOMENTS, DATES, DATES), min_size=1, max_size=12)
FIELDS = (
    "EXTRACT(EPOCH FROM (x - y))",
    "EXTRACT(DAY FROM x - y)",
    "EXTRACT(HOUR FROM x - y)",
    "date_part('minute', x - y)",
    "EXTRACT(EPOCH FROM x - d)",
    "EXTRACT(YEAR FROM AGE(d, e))",
    "EXTRACT(MONTH FROM AGE(d, e))",
)
POLICY = Policy.parse('[[protect]]\ntable = "person"\nkey = ["id"]\n\n[[public]]\ntable = "t"\n')


@settings(max_examples=examples(40))
@given(ROWS)
def test_every_field_is_what_the_database_says(rows):
    connection = duckdb.connect(":memory:", config={"threads": 1})
    connection.execute("CREATE TABLE person (id INTEGER PRIMARY KEY)")
    connection.execute("CREATE TABLE t (id INTEGER, x TIMESTAMP, y TIMESTAMP, d DATE, e DATE)")
    connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?)", [(n, *row) for n, row in enumerate(rows)])
    sql = f"SELECT id, {', '.join(FIELDS)} FROM t ORDER BY id"
    with connect(connection, POLICY) as session:
        found = [row.keys for row in session.ask(sql, epsilon=1).rows]
    assert [tuple(map(float, row)) for row in found] == [
        tuple(map(float, row)) for row in connection.execute(sql).fetchall()
    ]


@pytest.mark.parametrize("field", ["EXTRACT(EPOCH FROM d - e)", "EXTRACT(DAY FROM AGE(d, e))"])
def test_other_fields_of_a_number_of_days_are_refused(field):
    connection = duckdb.connect(":memory:", config={"threads": 1})
    connection.execute("CREATE TABLE person (id INTEGER PRIMARY KEY, d DATE, e DATE)")
    policy = Policy.parse('[[protect]]\ntable = "person"\nkey = ["id"]')
    needed = pytest.raises(QueryError, match="a date or timestamp is needed")
    with connect(connection, policy) as session, needed:
        session.compile(f"SELECT SUM({field}) FROM person")
