"""Windows, QUALIFY, MAX and SUM over the rows of an answer say what DuckDB says of the same rows."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import cast

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.errors import QueryError
from recuse.mechanism.release import Release
from recuse.session.finished import finished, label_of
from recuse.session.formulas import Given
from recuse.sql.compile import compile_query
from recuse.sql.plan import Plan
from support.sql.shop import POLICY, the_catalogue

ANSWER = """(SELECT c_nation AS k, o_id > 3 AS b, COUNT(*) AS n FROM customer JOIN orders ON o_customer = c_id
    WHERE c_nation IN (0, 1, 2) GROUP BY c_nation, o_id > 3)"""
OVER = [
    "SELECT k, b, RANK() OVER (ORDER BY n DESC) FROM {answer} a ORDER BY k, b",
    "SELECT k, b, DENSE_RANK() OVER (PARTITION BY b ORDER BY n) AS r FROM {answer} a ORDER BY k, b",
    "SELECT k, b, n * 100.0 / NULLIF(SUM(n) OVER (), 0) FROM {answer} a ORDER BY 1, 2",
    "SELECT k, b, SUM(n) OVER (PARTITION BY k ORDER BY n, b) - n FROM {answer} a ORDER BY k, b",
    "SELECT k, AVG(n) OVER (PARTITION BY k), MIN(n) OVER (), COUNT(*) OVER (PARTITION BY b) FROM {answer} a"
    " ORDER BY k, b",
    "SELECT k, b, n FROM {answer} a QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY n DESC, b) = 1"
    " ORDER BY k",
    "SELECT k, b FROM {answer} a WHERE n > 2 QUALIFY MAX(n) OVER () = n ORDER BY k, b",
    "SELECT k, s FROM (SELECT k, b, n, SUM(n) OVER (PARTITION BY k) AS s FROM {answer} a) c"
    " WHERE n > 1 QUALIFY RANK() OVER (ORDER BY s, k, b) <= 2 ORDER BY s, k, b",
    "SELECT k, b, LAG(n) OVER (ORDER BY k, b), n - LEAD(n, 2) OVER (PARTITION BY b ORDER BY k DESC)"
    " FROM {answer} a ORDER BY k, b",
    "SELECT k, b, COALESCE(LAG(n, 3) OVER (ORDER BY n, k, b), -1), LAG(k, 0) OVER (ORDER BY k)"
    " FROM {answer} a ORDER BY k, b",
    "SELECT MAX(n), SUM(n) FROM {answer} a",
]


@dataclass(frozen=True)
class Exact:
    value: Fraction
    undefined: bool = False


@cache
def planned(text: str) -> Plan:
    return compile_query(text.format(answer=ANSWER), POLICY, the_catalogue())


def shown(text: str, numbers: list[int]) -> list[tuple[object, ...]]:
    plan = planned(text)
    keys = [(k, b) for k in (0, 1, 2) for b in (False, True)]
    rows = [Given([cast(Release, Exact(Fraction(n)))], key) for key, n in zip(keys, numbers, strict=True)]
    found = finished(rows, plan.steps)
    return [tuple(_number(label_of(one.what, row)) for one in plan.columns) for row in found]


def judged(text: str, numbers: list[int]) -> list[tuple[object, ...]]:
    keys = [(k, b) for k in (0, 1, 2) for b in (False, True)]
    rows = ", ".join(f"({k}, {b}, {n})" for (k, b), n in zip(keys, numbers, strict=True))
    found = duckdb.sql(text.format(answer=f"(SELECT * FROM (VALUES {rows}) v(k, b, n))")).fetchall()
    return [
        tuple(value if value is None else pytest.approx(_number(value)) for value in row) for row in found
    ]


def _number(value: object) -> object:
    return value if value is None else float(cast(float, value))


@pytest.mark.parametrize("text", OVER)
@given(numbers=st.lists(st.integers(0, 4), min_size=6, max_size=6))
def test_a_window_over_an_answer_says_what_the_engine_would(text, numbers):
    assert shown(text, numbers) == judged(text, numbers)


def test_a_window_over_aggregates_is_one_over_the_groups():
    text = """SELECT c_nation, COUNT(*) * 1.0 / SUM(COUNT(*)) OVER () AS share,
            RANK() OVER (ORDER BY COUNT(*) DESC) AS r
        FROM customer WHERE c_nation IN (0, 1) GROUP BY c_nation QUALIFY r = 1"""
    plan = compile_query(text, POLICY, the_catalogue())
    rows = [Given([cast(Release, Exact(Fraction(n)))], (key,)) for key, n in ((0, 1), (1, 3))]
    (row,) = finished(rows, plan.steps)
    assert [label_of(one.what, row) for one in plan.columns] == [1, Fraction(3, 4), 1]


def test_the_largest_key_of_groups_is_the_largest_value_of_rows():
    text = f"SELECT MAX(k) FROM {ANSWER} a"
    assert compile_query(text, POLICY, the_catalogue()).single.aggregate.placed


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "SELECT RANK() OVER (ORDER BY c_nation) FROM customer",
            "a window function looks at other rows",
        ),
        ("SELECT MIN(n) FROM {answer} a", "an aggregate of other people's rows"),
        ("SELECT SUM(n) OVER (ROWS 1 PRECEDING) FROM {answer} a", "this form of a window"),
        ("SELECT NTILE(4) OVER (ORDER BY k) FROM {answer} a", "not answered over the rows of an answer"),
        ("SELECT LAG(n) OVER () FROM {answer} a", "this form of a window"),
        ("SELECT LAG(n, 1, 0) OVER (ORDER BY k) FROM {answer} a", "this form of a window"),
    ],
)
def test_what_is_not_told_of_an_answer_is_refused(text, problem):
    with pytest.raises(QueryError, match=problem):
        compile_query(text.format(answer=ANSWER), POLICY, the_catalogue())
