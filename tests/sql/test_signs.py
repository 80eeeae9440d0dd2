"""Values that are never below 0, proved from the query and the catalogue."""

from __future__ import annotations

import pytest

from recuse.errors import QueryError
from recuse.krelation.relation import Shape
from recuse.sql.compile import compile_query
from support.sql.market import MARKETS

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
