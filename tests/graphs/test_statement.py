"""A pattern as SQL over a table of edges counts the copies that graphs count: NetworkX is the judge."""

from __future__ import annotations

import duckdb
import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse.errors import ParameterError
from recuse.graphs.names import read_pattern
from recuse.graphs.statement import EdgeTable, count_statement
from support.judges.graphs import copies
from support.profiles import examples

EDGES = EdgeTable("friends", "from", "to")
PATTERNS = [
    "a-b",
    "a-b, b-c",
    "triangle",
    "star(3)",
    "rectangle",
    "path(4)",
    "clique(4)",
    "a-b, b-c, c-a, c-d",
]
DIRECTED = ["a->b", "a->b, b->c", "a->b, b->c, c->a", "a->b, b->a", "a->b, a->c, d->c"]
LISTS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=14)


def counted(statement: str, rows: list[tuple[int, int]]) -> int:
    with duckdb.connect() as database:
        database.execute('CREATE TABLE friends ("from" BIGINT, "to" BIGINT)')
        if rows:
            database.executemany("INSERT INTO friends VALUES (?, ?)", rows)
        return database.execute(statement).fetchall()[0][0]


def graph(rows: list[tuple[int, int]], kind: type[nx.Graph]) -> nx.Graph:
    made = kind((u, v) for u, v in rows if u != v)
    made.add_node(0)
    return made


@pytest.mark.parametrize("text", PATTERNS)
@settings(max_examples=examples(20))
@given(rows=LISTS)
def test_copies_are_counted_once_however_edges_are_stored(text, rows):
    pattern = read_pattern(text)
    expected = len(copies(graph(rows, nx.Graph), pattern, induced=False))
    assert counted(count_statement(pattern, EDGES), rows) == expected


@pytest.mark.parametrize("text", DIRECTED)
@settings(max_examples=examples(20))
@given(rows=LISTS)
def test_directed_copies_too(text, rows):
    pattern = read_pattern(text)
    expected = len(copies(graph(rows, nx.DiGraph), pattern, induced=False))
    assert counted(count_statement(pattern, EDGES), rows) == expected


def test_a_statement_without_its_order_counts_every_naming():
    """The twin: without what breaks the symmetries a triangle is six."""
    statement = count_statement(read_pattern("triangle"), EDGES)
    rows = [(1, 2), (2, 3), (3, 1)]
    assert counted(statement, rows) == 1
    assert counted(statement[: statement.rindex("\nWHERE")], rows) == 6


def test_what_is_too_large_is_refused():
    with pytest.raises(ParameterError, match="too large to be written as joins"):
        count_statement(read_pattern("star(9)"), EDGES)
