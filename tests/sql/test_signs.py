"""Values that are never below 0, proved from the query and the catalogue."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import duckdb
import pytest

from recuse.errors import PolicyError, QueryError
from recuse.krelation.relation import Shape
from recuse.policy import NonNegative, Policy
from recuse.privacy import Epsilon
from recuse.session.parts import Parts
from recuse.session.session import connect
from recuse.sql.compile import compile_query
from support.sql.market import MARKETS, Form, Market, definitions

ASKED = "SELECT COUNT(*) FROM (SELECT o_date FROM orders GROUP BY o_date HAVING SUM({}) > 3) t"


@pytest.mark.parametrize("value", ["o_total * o_total", "(o_total - 3) * (o_total - 3)", "ABS(o_total)"])
def test_squares_and_absolute_values_can_be_summed_up(value):
    market = MARKETS[0]
    plan = compile_query(ASKED.format(value), market.policy, market.catalogue())
    assert plan.single.shape is Shape.THRESHOLDS


@pytest.mark.parametrize("value", ["o_total", "o_total * (o_total - 1)", "-(o_total * o_total)"])
def test_what_may_be_below_0_cannot(value):
    market = MARKETS[0]
    with pytest.raises(QueryError, match="values below 0"):
        compile_query(ASKED.format(value), market.policy, market.catalogue())


def declared(market: Market) -> Policy:
    return replace(market.policy, nonnegative=(NonNegative("orders", ("o_total",)),))


@pytest.mark.parametrize("value", ["o_total", "o_total + 1", "2 * o_total"])
def test_what_the_policy_declares_can_be_summed_up(value):
    market = MARKETS[0]
    plan = compile_query(ASKED.format(value), declared(market), market.catalogue())
    assert plan.single.shape is Shape.THRESHOLDS


def test_a_column_that_is_not_there_or_no_number_is_no_such_column():
    market = MARKETS[0]
    for name in ("o_totl", "o_date"):
        policy = replace(market.policy, nonnegative=(NonNegative("orders", (name,)),))
        with pytest.raises(PolicyError):
            compile_query("SELECT COUNT(*) FROM orders", policy, market.catalogue())


SAME_DAY = "(SELECT SUM(o_total) FROM orders b WHERE b.o_date = a.o_date)"


@pytest.mark.parametrize(
    "sql", ["SELECT SUM(o_total) FROM orders", f"SELECT COUNT(*) FROM orders a WHERE {SAME_DAY} >= 2"]
)
def test_a_value_that_was_declared_away_counts_for_nothing(sql):
    """Values below 0 are what 0 is, row by row: privacy rests on no declaration."""
    market = Market(Form.BARE, ("customer",))
    policy = replace(declared(market), granularity=Fraction(1, 100))
    found = []
    for least in ("-5.00", "0.00"):
        connection = duckdb.connect(":memory:", config={"threads": 1})
        for statement in definitions(Form.BARE):
            connection.execute(statement)
        connection.execute("INSERT INTO customer VALUES (1, 0, 'a', 1), (2, 0, 'b', 1)")
        connection.execute(
            f"INSERT INTO orders VALUES (1, 1, '1997-01-31', {least}), (2, 2, '1997-01-31', 3)"
        )
        with connect(connection, replace(policy, budget=Epsilon.of(10)), parts=Parts()) as session:
            question = session.question(sql, 1)
            answer = question.exact_answer(session._parts.solver, lambda groups: groups.true_answers())
            found.append([cell.value for row in answer for cell in row.cells])
    assert found[0] == found[1]
