"""Row-wise functions of keys say what DuckDB says of the same keys, whatever these are."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from fractions import Fraction

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.errors import QueryError
from recuse.session.formulas import Given, value_of
from recuse.session.session import connect
from recuse.sql.compile import compile_query
from support.sql.bazaar import POLICY, SCHEMA, catalogue

DAYS = st.dates(date(1, 1, 1), date(9999, 12, 31)) | st.none()
OF_DAYS = [
    "year(o_date) || '-' || month(o_date)",
    "strftime(o_date, '%Y-%m')",
    "CAST(o_date AS VARCHAR)",
    "date_trunc('month', o_date)",
    "CASE WHEN month(o_date) > 6 THEN upper('second') ELSE concat('h', 1) END",
    "CAST(substring(CAST(o_date AS VARCHAR), 1, 4) || '!' AS VARCHAR)",
    "lpad(CAST(day(o_date) AS VARCHAR), 3, '0')",
    "o_date + INTERVAL 1 DAY > DATE '2000-01-01'",
]
OF_NUMBERS = [
    "CAST(o_id AS VARCHAR)",
    "concat('Q', o_id)",
    "repeat('x', 2) || CAST(o_id % 7 AS VARCHAR)",
    "CAST(o_id / 4 AS DECIMAL(18, 2))",
]


def plan_of(expression: str, key: str):
    among = "DATE '1997-01-31', DATE '1998-02-01'" if key == "o_date" else "1, 2"
    text = f"SELECT {expression} AS x, COUNT(*) FROM orders WHERE {key} IN ({among}) GROUP BY {key}"
    return compile_query(text, POLICY, catalogue())


def judged(expression: str, kind: str, key: str, value: object) -> object:
    asked = duckdb.execute(f"SELECT {expression} FROM (SELECT CAST(? AS {kind}) AS {key})", [value])
    [(found,)] = asked.fetchall()
    return found


def said(expression: str, key: str, value: object) -> object:
    found = value_of(plan_of(expression, key).columns[0].what, Given([], (value,)))
    return int(found) if isinstance(found, Fraction) and found.denominator == 1 else found


@pytest.mark.parametrize("expression", OF_DAYS)
@given(day=DAYS)
def test_a_function_of_a_day_says_what_the_engine_says(expression, day):
    assert said(expression, "o_date", day) == judged(expression, "DATE", "o_date", day)


@pytest.mark.parametrize("expression", OF_NUMBERS)
@given(number=st.integers(-(2**31), 2**31 - 1) | st.none())
def test_a_function_of_a_number_says_what_the_engine_says(expression, number):
    found = judged(expression, "INTEGER", "o_id", number)
    wanted = Fraction(found) if isinstance(found, Decimal) else found
    assert said(expression, "o_id", number) == wanted


@pytest.mark.parametrize(
    "expression",
    [
        "CAST('x' || o_id AS INTEGER)",
        "upper(c_name)",
        "o_id || (SELECT COUNT(*) FROM t)",
        "concat(o_id, COUNT(*))",
    ],
)
def test_what_is_no_function_of_keys_alone_is_refused(expression):
    rows = "FROM orders JOIN customer ON o_customer = c_id WHERE o_id IN (1, 2) GROUP BY o_id"
    text = f"SELECT {expression}, COUNT(*) {rows}"
    with pytest.raises(QueryError):
        compile_query(text, POLICY, catalogue())


def test_labels_are_shown_and_ordered_by():
    connection = duckdb.connect(":memory:", config={"threads": 1})
    connection.execute(SCHEMA)
    text = """SELECT 'Q' || quarter(o_date) AS q, COUNT(*) AS n FROM orders
        GROUP BY quarter(o_date) ORDER BY q DESC"""
    with connect(connection, POLICY) as session:
        answer = session.ask(text, epsilon="0.5")
    assert [row.keys[0] for row in answer] == ["Q4", "Q3", "Q2", "Q1", None]
