"""Data that is made up for estimates: it has what was stated, and what the policy says of sizes."""

from __future__ import annotations

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.errors import ParameterError, StatisticsError
from recuse.policy import Policy
from recuse.session.fanout import fan_out
from recuse.session.parts import Parts
from recuse.session.session import connect
from recuse.session.statistics import Statistics
from recuse.session.synthetic import make
from support.noise import Seeded


@given(st.integers(1, 300), st.integers(1, 40), st.integers(1, 300))
def test_fan_outs_keep_what_was_stated(rows, targets, largest):
    found = np.bincount(fan_out(rows, targets, largest), minlength=targets)
    assert found.sum() == rows
    assert len(found) == targets
    if largest * targets >= rows >= largest:
        assert found[0] == found.max()
        assert abs(found[0] - largest) <= 1


PAIRS = "SELECT COUNT(*) FROM orders a JOIN orders b ON a.item = b.item AND a.customer < b.customer"


def items(tmp_path, more=""):
    """Return a session on orders of items, of which nothing but the catalogue is looked at."""
    with duckdb.connect(str(tmp_path / "items.duckdb")) as connection:
        connection.execute("CREATE TABLE customer (id INTEGER PRIMARY KEY)")
        connection.execute("CREATE TABLE orders (customer INTEGER, item INTEGER, price DECIMAL(9, 2))")
    text = '[[protect]]\ntable = "customer"\nkey = ["id"]\n'
    text += '[[link]]\ntable = "orders"\ncolumn = ["customer"]\nto = "customer"\n'
    return connect(tmp_path / "items.duckdb", Policy.parse(text + more), parts=Parts(noise=Seeded(4)))


def test_what_rows_are_joined_by_may_be_stated(tmp_path):
    """The more orders share an item, the more pairs one customer is in."""
    sizes = {"customer": 200, "orders": 600, "orders.item": 50}
    with items(tmp_path) as session:
        even, uneven = (
            session.estimate(PAIRS, 1, like=Statistics(sizes, {"orders": 5, "orders.item": most}), runs=20)
            for most in (14, 120)
        )
        assert uneven.columns[0].value > 1.5 * even.columns[0].value
        assert uneven.columns[0].mostly > 1.5 * even.columns[0].mostly
        assert "orders.item" not in str(even), "what is stated means something"
        with pytest.raises(StatisticsError, match=r"how many values has orders\.item"):
            session.estimate(PAIRS, 1, like=Statistics({"customer": 9, "orders": 9}, {"orders.item": 3}))


def test_values_are_made_up_as_large_as_the_policy_says(tmp_path):
    said = '[[typical]]\ntable = "Orders"\ncolumn = ["price"]\nvalue = 5000\n'
    stated = Statistics({"customer": 200, "orders": 600}, {"orders": 5})
    with items(tmp_path, said) as session:
        found = session.estimate("SELECT AVG(price) FROM orders", 2, like=stated, runs=5)
    assert 4000 < found.columns[0].value < 6000


def test_values_are_made_up_as_large_as_is_stated(tmp_path):
    """In place of what the policy says; a size is above 0."""
    said = '[[typical]]\ntable = "Orders"\ncolumn = ["price"]\nvalue = 5000\n'
    sizes = {"customer": 200, "orders": 600}
    with items(tmp_path, said) as session:
        stated = Statistics(sizes, {"orders": 5}, {"Orders.PRICE": "30.5"})
        found = session.estimate("SELECT AVG(price) FROM orders", 2, like=stated, runs=5)
    assert 25 < found.columns[0].value < 36
    for wrong in (0, -3, "many"):
        with pytest.raises(ParameterError, match="size"):
            Statistics(sizes, typical={"orders.price": wrong})


def test_links_over_several_tables_and_kinds_without_a_table():
    policy = Policy.parse(
        """
[[protect]]
kind = "person"

[[link]]
table = "visit"
column = ["who"]
to = "person"

[[link]]
table = "line"
column = ["visit", "day"]
to = "visit"

[[key]]
table = "visit"
column = ["id", "day"]
"""
    )
    frames = {
        "visit": pd.DataFrame({"id": [1], "day": pd.to_datetime(["2026-01-01"]), "who": ["ada"]}),
        "line": pd.DataFrame(
            {"visit": [1], "day": pd.to_datetime(["2026-01-01"]), "price": [1.5], "ok": [True]}
        ),
    }
    with connect(
        {name: frame.astype({"day": "datetime64[us]"}) for name, frame in frames.items()}, policy
    ) as session:
        stated = Statistics({"person": 50, "visit": 100, "line": 400})
        (column,) = session.estimate("SELECT COUNT(*) FROM line", 1, like=stated, runs=20).columns
        assert column.value == 400, "every line reaches a person"
        with pytest.raises(ParameterError, match="how many rows has person"):
            session.estimate("SELECT COUNT(*) FROM line", 1, like=Statistics({"line": 4, "visit": 2}))


def test_people_named_by_an_expression_cannot_be_made_up():
    edges = {"edge": pd.DataFrame({"a": [1, 2], "b": [2, 3]})}
    policy = Policy.parse('[[protect]]\ntable = "edge"\nkey = ["least(a, b)", "greatest(a, b)"]\n')
    with connect(edges, policy) as session, pytest.raises(ParameterError, match="an expression"):
        session.estimate("SELECT COUNT(*) FROM edge", 1, like=Statistics({"edge": 5}))


def totals(session, largest) -> list[float]:
    """Return what the customers of made-up data have, the most first."""
    plan = session.compile("SELECT SUM(price) FROM orders")
    stated = Statistics({"customer": 50, "orders": 200}, {"orders": 8} | largest, {"orders.price": 100})
    made = make(session.engine.catalogue(), session.policy, plan, stated).database
    each = made.execute("SELECT SUM(price) FROM orders GROUP BY customer ORDER BY 1 DESC")
    return [float(total) for (total,) in each.fetchall()]


@pytest.mark.parametrize("most", [300, 5_000])
def test_whoever_has_most_has_what_is_stated(tmp_path, most):
    """Others have as much as before, or less: nobody has more than that."""
    with items(tmp_path) as session:
        free, found = totals(session, {}), totals(session, {"orders.price": most})
        assert 300 < free[0] < 5_000
        assert most - 8 <= found[0] <= most, "whole numbers, rounded down"
        assert len(found) == len(free)
        if most > free[0]:
            assert found[1:] == free[1:]
        with pytest.raises(StatisticsError, match=r"how many values has orders\.item"):
            totals(session, {"orders.item": 20})
