"""Trimmed and weighted means, and moments that stand in a question: as they are written."""

from __future__ import annotations

from fractions import Fraction

import duckdb
import pytest

import recuse
from recuse.errors import QueryError
from recuse.session.parts import Parts
from recuse.sql.placeholder import DAY, SECOND, filled, fitted
from support.noise import Seeded

POLICY = """
[[protect]]
table = "person"
key = ["id"]
[budget]
epsilon = 1000
[sum]
granularity = 0.01
"""
PEOPLE = 3_000


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """Wages of which a few are huge, and a day and a moment each."""
    folder = tmp_path_factory.mktemp("trimmed")
    with duckdb.connect(str(folder / "people.duckdb")) as made:
        made.execute(
            "CREATE TABLE person (id INT PRIMARY KEY, wage DECIMAL(12,2), days INT, d DATE, t TIMESTAMP)"
        )
        made.execute(
            "INSERT INTO person SELECT range,"
            " CASE WHEN range % 100 = 0 THEN 1000000 ELSE 1000 + range % 200 END,"
            " 1 + range % 5, DATE '2020-01-01' + CAST(range % 1000 AS INTEGER),"
            f" TIMESTAMP '2020-01-01' + to_hours(range) FROM range({PEOPLE})"
        )
    (folder / "policy.toml").write_text(POLICY)
    with recuse.connect(
        folder / "people.duckdb", folder / "policy.toml", parts=Parts(noise=Seeded(5))
    ) as one:
        yield one


def test_a_trimmed_mean_leaves_the_ends_out(session):
    found = session.ask("SELECT TRIMMED_MEAN(wage, 0.05) FROM person", epsilon=4)
    assert 1_090 < found.number.value < 1_115, "the mean of all is above 11,000"
    low, high = found.number.interval
    assert 0 < low < found.number.value < high < 2_000
    assert [stand_in.picked for stand_in in found.stand_ins] == [True, True]
    assert "picked by its rank" in str(found)


def test_it_is_what_it_says_in_sql(session):
    written = (
        "SELECT AVG(wage) FROM person WHERE wage BETWEEN (SELECT QUANTILE(wage, 0.05) FROM person)"
        " AND (SELECT QUANTILE(wage, 0.95) FROM person)"
    )
    short = session.compile("SELECT TRIMMED_MEAN(wage, 0.05) FROM person")
    long = session.compile(written)
    assert [first.plan.measures for first in short.firsts] == [first.plan.measures for first in long.firsts]
    assert short.first_share == long.first_share == Fraction(1, 2)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT days, TRIMMED_MEAN(wage, 0.05) FROM person GROUP BY days",
        "SELECT TRIMMED_MEAN(wage) FROM person",
        "SELECT TRIMMED_MEAN(wage, 0.5) FROM person",
        "SELECT TRIMMED_MEAN(wage, days) FROM person",
    ],
)
def test_what_is_no_trimmed_mean_is_refused_with_a_way_out(session, sql):
    with pytest.raises(QueryError, match="TRIMMED_MEAN") as refused:
        session.compile(sql)
    assert "0.05" in str(refused.value)


def test_a_weighted_mean_has_an_interval(session):
    found = session.ask("SELECT SUM(wage * days) / SUM(days) FROM person WHERE wage < 10000", epsilon=4)
    low, high = found.number.interval
    assert low < found.number.value < high
    assert 1_000 < low < high < 1_200, "and no impossible values"


@pytest.mark.parametrize(
    ("sql", "least", "most"),
    [
        ("SELECT COUNT(*) FROM person WHERE d >= (SELECT MEDIAN(d) FROM person)", 1_300, 1_700),
        ("SELECT COUNT(*) FROM person WHERE t < (SELECT QUANTILE(t, 0.25) FROM person)", 600, 900),
        ("SELECT COUNT(*) FROM person WHERE wage > (SELECT MEDIAN(wage) FROM person)", 1_300, 1_700),
        (
            "SELECT COUNT(*) FROM person WHERE d > (SELECT MAX(d) FROM person) - INTERVAL 2000 DAY",
            2_900,
            3_100,
        ),
    ],
)
def test_medians_and_moments_stand_in_a_question(session, sql, least, most):
    found = session.ask(sql, epsilon=4)
    assert least < found.number.value < most
    (stand_in,) = found.stand_ins
    assert stand_in.picked
    assert (stand_in.moment is None) == ("wage" in sql)


def test_a_moment_that_is_shown_is_one(session):
    found = session.ask("SELECT (SELECT MEDIAN(d) FROM person) AS middle, COUNT(*) FROM person", epsilon=4)
    ((middle,), _) = found.rows[0].keys, found.rows[0].cells
    assert middle.year in (2020, 2021, 2022)
    assert f"released  {middle}" in str(found)


@pytest.mark.parametrize(
    ("kind", "written"), [(DAY, "'2000-01-11'"), (SECOND, "'2000-01-01 00:00:10")], ids=["day", "second"]
)
def test_a_place_holds_a_moment_as_one(kind, written):
    assert written in filled('SELECT x < "released first"."0"', [Fraction(10)], [kind])
    assert "NULL" in filled('SELECT x < "released first"."0"', [None], [kind])
    ends = [fitted(Fraction(sign * 10**30), kind) for sign in (-1, 1)]
    assert ends[0] < 0 < ends[1]
    for end in ends:
        assert (
            "'0001-01-01" in (text := filled('"released first"."0"', [end], [kind])) or "'9999-12-31" in text
        )
