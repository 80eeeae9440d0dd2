"""TPC-H queries as written on a small made database: errors, the oracle's, and refusals, in one table."""

from __future__ import annotations

from fractions import Fraction

import pytest

from recuse.engines.bare import bare
from recuse.lab.experiments.tpch_written import errors, policy_with, table
from support.documents import ROOT

FOLDER = ROOT / "tests" / "sql" / "tpch"
COUNT = "SELECT COUNT(*) AS orders FROM orders"
GROUPS = (
    "SELECT n_name, COUNT(*) AS customers FROM customer, nation "
    "WHERE c_nationkey = n_nationkey GROUP BY n_name"
)


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    path = tmp_path_factory.mktemp("tpch") / "tpch.duckdb"
    with bare(path) as made:
        made.execute((FOLDER / "schema.sql").read_text())
        made.execute("INSERT INTO region VALUES (0, 'EUROPE', '')")
        made.execute("INSERT INTO nation SELECT i, 'nation ' || i, 0, '' FROM range(3) t(i)")
        made.execute("INSERT INTO customer SELECT i, '', '', i % 3, '', 0, '', '' FROM range(300) t(i)")
        made.execute(
            "INSERT INTO orders "
            "SELECT i, i % 300, '', 1, DATE '1995-01-01', '', '', 0, '' FROM range(900) t(i)"
        )
    return path


def test_an_error_is_relative_to_the_sum_of_all_groups(database):
    policy = policy_with(database, ["customer"], "")
    (found,) = errors(database, policy, GROUPS, Fraction(1), 5)
    assert (found.column, found.groups, found.total) == ("customers", 3, 300)
    assert 0 <= found.error < 0.5
    (precise,) = errors(database, policy, COUNT, Fraction(1000), 1)
    assert precise.error < 0.01
    assert precise.oracle is not None
    assert precise.oracle < 0.001


def test_a_refused_query_has_its_reason_in_the_table(database):
    policy = policy_with(database, ["customer"], "")
    lines = list(
        table(database, policy, [("A", COUNT), ("B", "SELECT o_orderkey FROM orders")], Fraction(1), 2)
    )
    assert lines[2].startswith("| A | orders | 1 | 900 |")
    assert lines[3].startswith("| B | refused: ")
