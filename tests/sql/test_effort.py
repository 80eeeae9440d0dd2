"""What compiling costs, in calls of functions: twice the text, about twice the work. No time is measured."""

from __future__ import annotations

import sys
from types import FrameType

import pytest

from recuse.engines.binding import check_plan
from recuse.sql.compile import compile_query
from support.sql.bazaar import POLICY, catalogue, engine

LINEAR = 3
"""how many times the work twice the text may take; squares take four times"""
JOIN = "orders a, orders b, item c, item d WHERE a.o_customer = b.o_customer AND c.i_order = d.i_order"


def listed(part: str, n: int, between: str = ", ") -> str:
    return between.join(part.format(n=place) for place in range(1, n + 1))


FAMILIES = {
    "answers under each other": lambda n: listed(
        "SELECT COUNT(*) FROM orders WHERE o_id > {n}", n, " UNION ALL "
    ),
    "numbers released first": lambda n: (
        "SELECT COUNT(*) FROM orders WHERE "
        + listed("o_total > (SELECT AVG(o_total) FROM orders WHERE o_id > {n})", n, " AND ")
    ),
    "measures of a join": lambda n: f"SELECT {listed('SUM(a.o_total + {n})', n)} FROM {JOIN}",
    "deviations in groups": lambda n: (
        f"SELECT c_nation, {listed('STDDEV(o_total + {n})', n)} FROM orders, customer"
        " WHERE o_customer = c_id AND c_nation IN (1, 2, 3) GROUP BY 1"
    ),
    "bins between released ends": lambda n: f"SELECT HISTOGRAM(o_total, {4 * n}) FROM orders",
    "cases": lambda n: (
        f"SELECT CASE {listed('WHEN o_total < {n} THEN {n}', 4 * n, ' ')} ELSE 0 END, COUNT(*)"
        " FROM orders GROUP BY 1"
    ),
    "unions of tables": lambda n: (
        f"SELECT COUNT(*) FROM ({listed('SELECT o_id FROM orders WHERE o_id > {n}', n, ' UNION ALL ')}) t"
    ),
    "conditions": lambda n: f"SELECT COUNT(*) FROM orders WHERE {listed('o_id <> {n}', 4 * n, ' AND ')}",
    "tables": lambda n: (
        f"SELECT COUNT(*) FROM {listed('item i{n}', n)}"
        f" WHERE {listed('i{n}.i_order = i1.i_order', n, ' AND ')}"
    ),
}


def effort(text: str) -> int:
    """Return how many functions are called to compile a question and to bind what it runs."""
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        check_plan(compile_query(text, POLICY, catalogue()), engine())
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize("family", FAMILIES)
def test_twice_the_text_is_about_twice_the_work(family):
    effort(FAMILIES[family](2))  # what is made once
    assert effort(FAMILIES[family](6)) <= LINEAR * effort(FAMILIES[family](3))


class Twin:
    """Binds what is released first once more for everything that is released after it."""

    def __init__(self, plan):
        self.bound = 0
        self.look(plan)

    def look(self, plan):
        for first in plan.firsts:
            self.look(first.plan)
        self.bound += 1


def test_a_twin_that_looks_at_what_is_first_again_and_again_is_caught():
    plans = [compile_query(FAMILIES["answers under each other"](n), POLICY, catalogue()) for n in (4, 8)]
    few, many = (Twin(plan).bound for plan in plans)
    assert many > LINEAR * few
