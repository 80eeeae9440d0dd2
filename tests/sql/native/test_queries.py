"""What is lowered returns what DuckDB returns for the query as it is written, and its types are known."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings

from recuse.scalars.spelling import spelled
from recuse.scalars.types import Null
from support.profiles import examples, some
from support.sql.native import Rows, bag, connect, lowered, read, selects, tables

QUERIES = selects(Path(__file__).parent / "selects.sql")
CLOSED = [text for text, open_ in QUERIES.items() if not open_]
compiled = cache(lowered)


def test_there_are_queries_of_every_kind():
    assert len(QUERIES) >= 150
    assert len(CLOSED) >= 130


@settings(max_examples=examples(25))
@given(tables())
def test_a_query_means_what_duckdb_means(rows: dict[str, Rows]):
    with connect(rows) as con:
        for text in CLOSED:
            assert bag(con.execute(compiled(text)).fetchall()) == bag(con.execute(text).fetchall()), text


@pytest.fixture(scope="module")
def empty() -> Iterator[duckdb.DuckDBPyConnection]:
    with connect({"t": [], "u": []}) as con:
        yield con


@pytest.mark.parametrize("text", some([*QUERIES], 0.3))
def test_the_types_of_its_columns_are_known(text: str, empty: duckdb.DuckDBPyConnection):
    query = read(text)
    described = empty.execute(f"DESCRIBE {compiled(text)}").fetchall()
    for (name, found, *_), kind in zip(described, query.types, strict=True):
        assert isinstance(kind, Null) or found == spelled(kind), name


@settings(max_examples=5)
@given(tables())
def test_order_by_is_kept(rows: dict[str, Rows]):
    with connect(rows) as con:
        for text in (
            "select b from t order by b desc nulls first",
            "select a, count(*) from t group by a order by 1",
        ):
            assert con.execute(compiled(text)).fetchall() == con.execute(text).fetchall()


def test_several_rows_for_one_value_are_null():
    rows: dict[str, Rows] = {"t": [(1, *[None] * 6)], "u": [(1, 2, None), (1, 3, None)]}
    with connect(rows) as con:
        with pytest.raises(duckdb.Error):
            con.execute("select (select x from u) from t").fetchall()
        assert con.execute(lowered("select (select x from u) from t")).fetchall() == [(None,)]
        assert con.execute(lowered("select (select x from u where x = 3) from t")).fetchall() == [(3,)]
