"""Several answers under each other: UNION of rows of aggregates."""

from __future__ import annotations

from dataclasses import replace

import duckdb
import pytest

from recuse.errors import QueryError
from recuse.privacy import Epsilon
from recuse.session.answer import Answer
from recuse.session.session import connect
from recuse.sql.compile import compile_query
from support.sql.bazaar import POLICY, SCHEMA, catalogue

TWO = "SELECT COUNT(*) AS n, 'people' AS what FROM customer UNION ALL SELECT SUM(o_total), 'sold' FROM orders"


def asked(sql: str, epsilon: int = 1000) -> Answer:
    """Return an answer with next to no noise."""
    connection = duckdb.connect(":memory:", config={"threads": 1})
    connection.execute(SCHEMA)
    with connect(connection, replace(POLICY, budget=Epsilon.of(1000))) as session:
        return session.ask(sql, epsilon=epsilon)


def test_answers_stand_under_each_other_in_their_order():
    found = asked(TWO)
    assert [row.keys for row in found.rows] == [("people",), ("sold",)]
    assert [round(float(row.cells[0].value)) for row in found.rows] == [40, 7140]
    assert found.names == ("n",)


def test_what_follows_is_done_with_the_released_rows():
    found = asked(f"{TWO} ORDER BY n DESC LIMIT 1")
    assert [row.keys for row in found.rows] == [("sold",)]
    around = asked(f"SELECT what, 2 * n AS twice FROM ({TWO}) t WHERE n < 100")
    assert [(row.keys, round(float(row.cells[0].value))) for row in around.rows] == [(("people",), 80)]


def test_equal_rows_of_a_union_are_one():
    once = "SELECT COUNT(*) FROM nation"
    assert len(asked(f"{once} UNION {once}").rows) == 1
    assert len(asked(f"{once} UNION ALL {once}").rows) == 2


def test_each_number_has_its_interval_and_its_part_of_epsilon():
    found = asked("SELECT COUNT(*) FROM customer UNION ALL SELECT COUNT(*) FROM orders", 2)
    assert [row.cells[0].epsilon for row in found.rows] == [1, 1]
    assert all(
        row.cells[0].interval[0] <= row.cells[0].value <= row.cells[0].interval[1] for row in found.rows
    )


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT c_nation FROM customer UNION ALL SELECT COUNT(*) FROM orders",
        "SELECT MAX(o_date) FROM orders UNION ALL SELECT COUNT(*) FROM orders",
        "SELECT COUNT(*) FROM orders UNION ALL SELECT COUNT(*), 1 FROM orders",
        "SELECT COUNT(*) FROM orders EXCEPT SELECT COUNT(*) FROM customer",
        "(SELECT COUNT(*) FROM item UNION SELECT SUM(o_id) FROM orders) UNION ALL SELECT COUNT(*) FROM edges",
    ],
)
def test_other_set_operations_of_answers_are_refused(sql):
    with pytest.raises(QueryError, match=r"of answers is not understood|list individuals"):
        compile_query(sql, POLICY, catalogue())


# ------------------------------------------------------------------ beside each other

BESIDE = (
    "WITH a AS (SELECT COUNT(*) AS n FROM customer) SELECT n, b.m, 100.0 * m / n AS share"
    " FROM a CROSS JOIN (SELECT COUNT(*) AS m FROM orders WHERE o_id < 60) b"
)


def test_answers_stand_beside_each_other():
    found = asked(BESIDE)
    (row,) = found.rows
    assert [round(float(cell.value)) for cell in row.cells] == [40, 60, 150]
    assert found.names == ("n", "m", "share")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT n FROM (SELECT COUNT(*) AS n FROM customer) a, orders",
        "SELECT n FROM (SELECT COUNT(*) AS n FROM customer) a, (SELECT o_id FROM orders) b",
        "SELECT n FROM (SELECT COUNT(*) AS n FROM customer) a, (SELECT COUNT(*) FROM orders GROUP BY o_id) b",
        "SELECT n FROM (SELECT COUNT(*) AS n FROM customer) a, (SELECT COUNT(*) AS n FROM orders) b",
        "SELECT n FROM (SELECT COUNT(*) AS n FROM customer) a, (SELECT COUNT(*) AS m FROM t) b WHERE n > m",
    ],
)
def test_what_is_not_one_row_of_answers_is_no_answer_beside_another(text):
    with pytest.raises(QueryError):
        compile_query(text, POLICY, catalogue())
