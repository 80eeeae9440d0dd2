"""Keys that break ties: what windows say is the same whatever the order of rows, and a false key is seen."""

from __future__ import annotations

import random
from dataclasses import replace

import duckdb
import pytest

from recuse.engines.duckdb import DuckDB
from recuse.policy import Policy
from recuse.sql.catalogue import Catalogue
from recuse.sql.compile import schema_of
from recuse.sql.met import Met
from recuse.sql.native.apart import told_apart
from recuse.sql.native.lower import NativeLowering
from recuse.sql.native.read import NativeReader
from recuse.sql.native.tree import NativeSelect
from recuse.sql.parse import parse

KINDS = {
    "one": "k BIGINT PRIMARY KEY, x DOUBLE, j BIGINT, s VARCHAR",
    "maybe": "k BIGINT UNIQUE, s VARCHAR",
    "pair": "i BIGINT NOT NULL, j BIGINT NOT NULL, s VARCHAR, UNIQUE (i, j)",
    "half": "i BIGINT NOT NULL, j BIGINT, s VARCHAR, UNIQUE (i, j)",
    "none": "k BIGINT NOT NULL, s VARCHAR",
    "fine": "k TIMESTAMP_NS PRIMARY KEY, s VARCHAR",
}
BIG = 2**53
"""from here on several whole numbers are one float"""
ROWS = {
    "one": [f"({BIG + n}, {BIG}, {n % 3}, 's{n}')" for n in range(8)],
    "maybe": [f"({n if n < 2 else 'NULL'}, 's{n}')" for n in range(8)],
    "pair": [f"({n % 2}, {n // 2}, 's{n}')" for n in range(8)],
    "half": [f"({n % 2}, {'NULL' if n < 6 else n}, 's{n}')" for n in range(8)],
    "none": [f"({n % 2}, 's{n}')" for n in range(8)],
    "fine": [f"('2020-01-01 00:00:00.00000000{n}', 's{n}')" for n in range(8)],
}
POLICY = Policy.parse(
    '[[protect]]\nkind = "person"\n' + "".join(f'\n[[public]]\ntable = "{name}"\n' for name in KINDS)
)

FIRST = "SELECT {} FROM (SELECT {}, ROW_NUMBER() OVER (ORDER BY 1) AS n FROM {}) AS z WHERE n IN (1, 3)"
QUERIES = {
    "a key": (FIRST.format("s", "s, k", "one"), True),
    "a key that may be NULL": (FIRST.format("s", "s, k", "maybe"), False),
    "two columns": (FIRST.format("s", "s, i, j", "pair"), True),
    "one column of two": (FIRST.format("s", "s, i", "pair"), False),
    "two columns, one of them NULL": (FIRST.format("s", "s, i, j", "half"), False),
    "no key": (FIRST.format("s", "s, k", "none"), False),
    "finer than it is read": (FIRST.format("s", "s, k", "fine"), False),
    "a table looked up": (
        FIRST.format("s, t", "a.s, a.k, b.s AS t", "pair AS c JOIN one AS a ON a.k = c.j JOIN one AS b"
                     " ON b.k = c.i").replace("a.k,", "a.k, c.i, c.j,"), True,
    ),
    "looked up by a float": (
        FIRST.format("s, t", "a.s, a.k, b.s AS t", "one AS a JOIN one AS b ON b.k = a.x"), False,
    ),
    "looked up by half of a key": (
        FIRST.format("s, t", "a.s, a.k, p.s AS t", "one AS a JOIN pair AS p ON p.j = a.j"), False,
    ),
    "both sides have keys": (
        FIRST.format("s, t", "a.s, a.k, b.s AS t, b.k AS l", "one AS a JOIN one AS b ON b.x = a.x"), True,
    ),
    "outer": (FIRST.format("s, t", "a.s, a.k, b.s AS t", "one AS a LEFT JOIN one AS b ON b.k = a.j"), False),
    "derived": (FIRST.format("s", "s, k", "(SELECT DISTINCT k, s FROM one) AS d"), True),
    "derived without its key": (FIRST.format("s", "s, j", "(SELECT j, s FROM one) AS d"), False),
    "derived twice a row": (
        FIRST.format("s", "s, k", "(SELECT a.k, b.s FROM one AS a JOIN one AS b ON b.x = a.x) AS d"), False,
    ),
}  # fmt: skip
"""queries, and whether columns that are used tell their rows apart"""


def database(seed: int | None = None) -> duckdb.DuckDBPyConnection:
    con = duckdb.connect(config={"threads": 1})
    for name, columns in KINDS.items():
        con.execute(f"CREATE TABLE {name} ({columns})")
        rows = ROWS[name] if seed is None else random.Random(seed).sample(ROWS[name], len(ROWS[name]))
        con.execute(f"INSERT INTO {name} VALUES {', '.join(rows)}")
    return con


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return DuckDB.open(database()).catalogue()


@pytest.fixture(scope="module")
def databases():
    return [database(seed) for seed in range(6)]


def read(text: str, catalogue: Catalogue) -> NativeSelect:
    schema = schema_of(text, POLICY, catalogue)
    found = NativeReader(schema, Met(schema)).query(parse(text))
    assert isinstance(found, NativeSelect)
    return found


def answers(text: str, catalogue: Catalogue, databases: list[duckdb.DuckDBPyConnection]) -> set[str]:
    sql = NativeLowering(text=text).query(read(text, catalogue))
    return {str(sorted(map(repr, con.execute(sql).fetchall()))) for con in databases}


@pytest.mark.parametrize("name", QUERIES)
def test_the_order_of_rows_does_not_show(name, catalogue, databases):
    text, _ = QUERIES[name]
    assert len(answers(text, catalogue, databases)) == 1


@pytest.mark.parametrize("name", QUERIES)
def test_keys_are_used_only_where_they_tell_rows_apart(name, catalogue):
    text, expected = QUERIES[name]
    inside = read(text, catalogue).items[0].rows
    assert isinstance(inside, NativeSelect)
    found = told_apart(inside.items, [output.value for output in inside.outputs])
    assert (found is not None) == expected


@pytest.mark.parametrize(
    ("name", "table", "key"),
    [
        ("no key", "none", ("k",)),
        ("one column of two", "pair", ("i",)),
        ("looked up by half of a key", "pair", ("j",)),
        ("finer than it is read", "fine", ("k",)),
    ],
)
def test_a_twin_with_a_key_that_is_not_enforced_is_caught(name, table, key, catalogue, databases):
    """Broken: the catalogue names a key that the rows do not keep."""
    tables = (replace(t, keys=(key,)) if t.name == table else t for t in catalogue.tables)
    twin = replace(catalogue, tables=tuple(tables))
    assert len(answers(QUERIES[name][0], twin, databases)) > 1


def test_a_twin_that_takes_a_nullable_key_is_caught(catalogue, databases):
    """Broken: a UNIQUE column is believed never to be NULL."""
    tables = (
        replace(t, columns=tuple(replace(c, nullable=False) for c in t.columns)) for t in catalogue.tables
    )
    twin = replace(catalogue, tables=tuple(tables))
    for name in ("a key that may be NULL", "two columns, one of them NULL"):
        assert len(answers(QUERIES[name][0], twin, databases)) > 1
