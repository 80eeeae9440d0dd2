"""What is lowered is a function of the bag of rows: not of their order, nor of the number of threads."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse.scalars.expression import Expression
from recuse.scalars.types import Float
from recuse.sql.native import picks, steps, sums
from recuse.sql.native.asked import Over, RowsCall
from support.profiles import examples
from support.sql.native import Rows, connect, fill, lowered, selects, shuffled, tables

QUERIES = selects(Path(__file__).parent / "selects.sql")
compiled = cache(lowered)
LOADS = ["0.1", "1e16", "-1e16", "0.3"]
LOADED: dict[str, Rows] = {
    "t": [(n % 3, n % 2, None, "xyz"[n % 3], LOADS[n % 4], "1.01", None) for n in range(24)],
    "u": [(n % 3, n % 2, "1.01") for n in range(6)],
}
"""Rows with ties wherever there is an order, and floats whose sum depends on the order."""


def exactly(rows: list[tuple[object, ...]]) -> list[str]:
    return sorted(map(repr, rows))


@settings(max_examples=examples(10))
@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(rows: dict[str, Rows], rng: random.Random):
    with connect(rows) as con:
        before = {text: exactly(con.execute(compiled(text)).fetchall()) for text in QUERIES}
        fill(con, shuffled(rows, rng))
        for text, expected in before.items():
            assert exactly(con.execute(compiled(text)).fetchall()) == expected, text


def test_threads_change_nothing():
    many = {name: rows * 200 for name, rows in LOADED.items()}
    joins = (" u", " v", " t t", "t w", "c x")  # of so many rows they would take long
    texts = [text for text in QUERIES if not any(word in text for word in joins)]
    with connect(many) as con:
        before = {text: exactly(con.execute(compiled(text)).fetchall()) for text in texts}
        con.execute("SET threads = 4")
        con.execute("PRAGMA verify_parallelism")
        for text, expected in before.items():
            assert exactly(con.execute(compiled(text)).fetchall()) == expected, text


def moved(texts: list[str]) -> list[str]:
    """Return the queries whose answer changes when rows are only put in another order."""
    found = []
    with connect(LOADED) as con:
        for text in texts:
            sql, seen = lowered(text), set()
            for seed in range(12):
                fill(con, shuffled(LOADED, random.Random(seed)))
                seen.add(str(exactly(con.execute(sql).fetchall())))
            found += [text] if len(seen) > 1 else []
    return found


TWINS = {
    "ties": [
        "select s, row_number() over (order by b) from t",
        "select s, lag(s) over (order by b) from t",
        "select s, ntile(5) over (order by b) from t",
        "select s, sum(a) over (order by b rows 2 preceding) from t",
    ],
    "floats": ["select sum(f) from t", "select avg(f) from t"],
    "picks": ["select first(s order by b) from t", "select last(s order by b) from t"],
}


def _as_floats(asked: RowsCall, value: Expression) -> Expression:
    return asked.engine("sum", (value,), Float())


def _by_order_alone(asked: RowsCall, function: str) -> Expression:
    return asked.engine(function, asked.arguments, asked.argument.type, order=asked.order)


@pytest.mark.parametrize("twin", TWINS)
def test_without_what_settles_it_the_order_of_rows_shows(twin: str, monkeypatch: pytest.MonkeyPatch):
    assert moved(TWINS[twin]) == []
    match twin:
        case "ties":
            monkeypatch.setattr(Over, "total", lambda self: self)
        case "floats":
            monkeypatch.setattr(sums, "_of_floats", _as_floats)
        case "picks":
            monkeypatch.setattr(picks, "_picked", _by_order_alone)
    assert moved(TWINS[twin]) == TWINS[twin]


def test_windows_of_several_orders_agree_on_rows_that_look_alike(monkeypatch: pytest.MonkeyPatch):
    """Equal rows may be numbered in any order, but by all windows in the same one."""
    text = """
        select sum(up * down) from (select row_number() over (order by b) as up,
            row_number() over (partition by a order by b desc) as down from t) z"""
    with connect({"t": [], "u": []}) as con:
        con.execute("INSERT INTO t SELECT i % 3, i % 2, NULL, NULL, NULL, NULL, NULL FROM range(150000) r(i)")
        con.execute("SET threads = 4")
        con.execute("PRAGMA verify_parallelism")

        def agree(times: int) -> bool:
            sql = lowered(text)
            first = con.execute(sql).fetchall()
            return all(con.execute(sql).fetchall() == first for _ in range(times))

        assert agree(3)
        monkeypatch.setattr(steps, "several_orders", lambda found: False)
        assert not agree(60)  # it stops at the first that differs: threads race, and not every time
