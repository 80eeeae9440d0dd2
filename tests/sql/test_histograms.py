"""HISTOGRAM(x, …): a row for every bin, as DuckDB counts them, for one ε; and empirical distributions."""

from __future__ import annotations

import re
from datetime import date
from fractions import Fraction

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recuse
from recuse.errors import ParameterError, QueryError
from recuse.session.distribution import Bins
from recuse.session.parts import Parts
from recuse.session.plot import svg, text_bars
from recuse.session.session import Session
from recuse.sql.histogram import equal_width
from support.noise import Seeded
from support.profiles import examples

POLICY = """
[[protect]]
table = "person"
key = ["id"]

[[link]]
table = "visit"
column = ["person"]
to = "person"

[budget]
epsilon = 1000

[[public]]
table = "room"
"""


def opened(values, noise=None) -> tuple[duckdb.DuckDBPyConnection, Session]:
    """Return a database with a visit for every value, two to a person, and a session on it."""
    data = duckdb.connect()
    data.execute("CREATE TABLE person (id INTEGER PRIMARY KEY, town VARCHAR)")
    data.execute("CREATE TABLE visit (person INTEGER, paid DOUBLE, day DATE, town VARCHAR)")
    data.execute("CREATE TABLE room (id INTEGER, size DOUBLE)")
    data.execute("INSERT INTO room VALUES (1, 5), (2, 15), (3, 25)")
    people = max(1, (len(values) + 1) // 2)
    data.execute(f"INSERT INTO person SELECT i, 'a' FROM range({people}) t(i)")
    data.execute(
        "INSERT INTO visit SELECT i // 2, paid, DATE '2024-01-01' + CAST(i % 90 AS INTEGER), "
        "CASE i % 2 WHEN 0 THEN 'a' ELSE 'b' END "
        "FROM (SELECT unnest(?::DOUBLE[]) AS paid, unnest(range(?)) AS i)",
        [values, len(values)],
    )
    return data, recuse.connect(data, recuse.Policy.parse(POLICY), parts=Parts(noise=noise or Seeded(3)))


def exact(session: Session, sql: str) -> list[tuple[object, ...]]:
    """Return the table without noise: data of a test is public."""
    question = session.question(sql, 1)
    found = question.exact_answer(session._parts.solver, lambda groups: groups.true_answers())
    return [(*row.keys, int(row.cells[0].value or 0)) for row in found.rows]


@settings(max_examples=examples(20), deadline=None)
@given(
    st.lists(st.none() | st.integers(-30, 130).map(lambda n: n / 2), min_size=1, max_size=30),
    st.lists(st.integers(-10, 60), min_size=1, max_size=5, unique=True).map(sorted),
)
def test_bins_hold_what_duckdb_puts_into_them(values, edges):
    data, session = opened(values)
    with session:
        found = exact(session, f"SELECT HISTOGRAM(paid, {edges}) FROM visit")
    (told,) = data.execute(f"SELECT histogram(paid, {edges}) FROM visit").fetchone() or (None,)
    counted = {} if told is None else told
    assert [row[:2] for row in found] == list(zip([None, *edges], [*edges, None], strict=True))
    for _, up_to, count in found:
        assert count == counted.get(float("inf") if up_to is None else up_to, 0)


def test_equal_width_and_given_edges_ask_the_same():
    _, session = opened([1, 5, 12, 33, 70])
    with session:
        width = exact(session, "SELECT HISTOGRAM(paid, 4, 0, 40) FROM visit")
        given_edges = exact(session, "SELECT HISTOGRAM(paid, [0, 10, 20, 30, 40]) FROM visit")
        assert width == given_edges
        assert [row[2] for row in width] == [0, 2, 1, 0, 1, 1]
        one = session.question("SELECT HISTOGRAM(paid, 4, 0, 40) FROM visit", 1).identity()
        assert one == session.question("SELECT HISTOGRAM(paid, [0, 10, 20, 30, 40]) FROM visit", 1).identity()


def test_a_histogram_in_groups_with_a_filter_and_an_order():
    _, session = opened([1, 5, 12, 33, 70])
    sql = """SELECT town, HISTOGRAM(paid, [10]) FILTER (WHERE paid < 50) AS n FROM visit
             WHERE town IN ('a', 'b') GROUP BY town ORDER BY n DESC, town LIMIT 2"""
    with session:
        assert exact(session, sql) == [("a", None, 10, 1), ("a", 10, None, 1)]


def test_edges_between_released_ends_are_what_was_released():
    _, session = opened([float(n % 97) for n in range(3000)])
    with session:
        answer = session.ask("SELECT HISTOGRAM(paid, 4) FROM visit", 4)
    low, high = (stand_in.cell.value for stand_in in answer.stand_ins)
    edges = [row.keys[1] for row in answer.rows[:-1]]
    assert edges == [low + (high - low) * place / 4 for place in range(5)]
    assert 60 < high < 140
    assert sum(row.cells[0].value for row in answer.rows) == pytest.approx(3000, rel=0.1)


def test_a_histogram_of_days():
    _, session = opened([1.0] * 40)
    with session:
        found = exact(session, "SELECT HISTOGRAM(day, [DATE '2024-01-10', DATE '2024-01-20']) FROM visit")
    assert [row[2] for row in found] == [10, 10, 20]
    assert found[0][1] == date(2024, 1, 10)


def test_a_histogram_about_nobody_is_exact_and_free():
    _, session = opened([1.0])
    with session:
        answer = session.ask("SELECT HISTOGRAM(size, [10, 20]) FROM room", 1)
        assert [row.cells[0].value for row in answer.rows] == [1, 1, 1]
        assert session.budget.spent == 0


@pytest.mark.parametrize(
    "call",
    [
        "HISTOGRAM(paid)",
        "HISTOGRAM()",
        "HISTOGRAM(paid, [])",
        "HISTOGRAM(paid, [2, 1])",
        "HISTOGRAM(paid, [1, 1])",
        "HISTOGRAM(paid, ['a'])",
        "HISTOGRAM(paid, [1, DATE '2024-01-01'])",
        "HISTOGRAM(paid, 0)",
        "HISTOGRAM(paid, 101)",
        "HISTOGRAM(paid, 1000, 0, 1)",
        "HISTOGRAM(paid, 3, 5, 5)",
        "HISTOGRAM(paid, 3, 0, paid)",
        "HISTOGRAM(paid, [1]), HISTOGRAM(paid, [2])",
        "HISTOGRAM(paid, person)",
    ],
)
def test_other_calls_are_refused_before_anything_is_charged(call):
    _, session = opened([1.0])
    with session:
        with pytest.raises(QueryError):
            session.ask(f"SELECT {call} FROM visit", 1)
        assert not session.has_ledger


@pytest.mark.parametrize(
    "call", ["HISTOGRAM(day, 3)", "HISTOGRAM(day, 3, DATE '2024-01-01', DATE '2025-01-01')"]
)
def test_the_refusal_of_days_between_ends_says_what_is_answered(call):
    _, session = opened([1.0] * 40)
    with session:
        with pytest.raises(QueryError) as refused:
            session.ask(f"SELECT {call} FROM visit", 1)
        calls = re.findall(
            r"HISTOGRAM\((?:d|date_diff\('day', DATE '[-0-9]+', d\)), .+?[0\]]\)", str(refused.value)
        )
        assert calls
        for written in calls:
            shown = re.sub(r"\bd\b", "day", written)
            assert session.ask(f"SELECT {shown} FROM visit", 1).rows


# ---------------------------------------------------------------------- distributions


def test_shares_rise_to_one_and_hold_the_truth():
    values = [float(n % 100) for n in range(4000)]
    _, session = opened(values)
    held = 0
    with session:
        for run in range(20):
            answer = session.cdf("paid", "visit", 1, edges=[9, 19, 49, 89, 120], where=f"{run} = {run}")
            shares = [row.cells[0].value for row in answer.rows]
            assert shares == sorted(shares)
            assert [row.keys for row in answer.rows] == [(9,), (19,), (49,), (89,), (120,)]
            for row, truth in zip(answer.rows, (10, 20, 50, 90, 100), strict=True):
                low, high = row.cells[0].interval
                assert 0 <= low <= high <= 1
                held += low <= Fraction(truth, 100) <= high
    assert held >= 85


def test_the_totals_of_bins_are_what_a_distribution_is_made_of():
    """The same draws: shares are the running totals of the histogram, over the last of them."""
    values = [float(n % 100) for n in range(4000)]
    edges = [20, 40, 60]
    _, first = opened(values, Seeded(5))
    _, second = opened(values, Seeded(5))
    with first, second:
        bins = [row.cells[0].value for row in first.histogram("paid", "visit", 1, edges=edges)]
        shares = [row.cells[0].value for row in second.cdf("paid", "visit", 1, edges=edges)]
    totals = [sum(bins[: place + 1]) for place in range(4)]
    assert shares == pytest.approx([float(total / totals[-1]) for total in totals[:-1]], abs=1e-3)


def test_a_distribution_of_rows_with_two_owners_is_refused():
    data = duckdb.connect()
    data.execute("CREATE TABLE person (id INTEGER PRIMARY KEY)")
    data.execute("CREATE TABLE pair (a INTEGER, b INTEGER, x INTEGER)")
    policy = recuse.Policy.parse(
        '[[protect]]\ntable = "person"\nkey = ["id"]\n'
        '[[link]]\ntable = "pair"\ncolumn = ["a"]\nto = "person"\n'
        '[[link]]\ntable = "pair"\ncolumn = ["b"]\nto = "person"\n[budget]\nepsilon = 1\n'
    )
    with recuse.connect(data, policy) as session:
        with pytest.raises(QueryError, match="one owner"):
            session.cdf("x", "pair", 1, edges=[1, 2])
        with pytest.raises(QueryError, match="one value"):
            session.cdf("x", "pair", 1, edges=[1, 2], where="x > 1 LIMIT 2")
        assert not session.has_ledger


@pytest.mark.parametrize(
    ("edges", "bins", "between"),
    [(None, None, None), ([1], 2, None), ([1], None, (0, 1)), ([object()], None, None)],
)
def test_bins_are_stated_in_one_way(edges, bins, between):
    with pytest.raises(ParameterError):
        Bins.of(edges, bins, between)


def test_the_edges_of_thirds_are_told_to_some_places():
    assert equal_width(3, Fraction(0), Fraction(1))[1] == Fraction(333333333333, 10**12)


def test_a_histogram_is_drawn_with_its_noise():
    _, session = opened([float(n % 50) for n in range(1000)])
    with session:
        answer = recuse.histogram(session, "paid", "visit", 1, edges=[10, 20])
        lines = text_bars(answer)
        assert [line.split("  ")[0].strip() for line in lines[1:]] == ["up to 10", "10 to 20", "above 20"]
        assert all("▓" in line or "─" in line for line in lines[1:])
        assert svg(answer).count("<rect") == 4
        shares = recuse.cdf(session, "paid", "visit", 1, edges=[10, 20])
        assert "share" in text_bars(shares)[0]
        assert "<svg" in answer._repr_html_()


def test_a_picture_says_how_much_of_the_noise_its_lines_hold():
    _, session = opened([float(n % 100) for n in range(400)])
    with session:
        counted = svg(session.histogram("paid", "visit", 1, edges=[0, 50]))
        shares = svg(session.cdf("paid", "visit", 1, edges=[0, 50]))
    assert "lines: 95 % of the noise" in counted
    assert "lines: 90 % of the noise" in shares, "a share is made of two numbers"
