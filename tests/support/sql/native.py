"""Small tables with everything odd in them, and queries read and lowered for them."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Sequence
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
from hypothesis import strategies as st

from recuse.engines.duckdb import DuckDB
from recuse.policy import Policy
from recuse.sql.catalogue import Catalogue
from recuse.sql.compile import schema_of
from recuse.sql.met import Met
from recuse.sql.native.lower import NativeLowering
from recuse.sql.native.read import NativeReader
from recuse.sql.native.tree import NativeQuery
from recuse.sql.parse import parse

SCHEMA = """
CREATE TABLE t (a INTEGER, b INTEGER, d DATE, s VARCHAR, f DOUBLE, m DECIMAL(9,2), k BOOLEAN);
CREATE TABLE u (a BIGINT, x INTEGER, m DECIMAL(15,2));
CREATE VIEW v AS SELECT a, count(*) AS n FROM t GROUP BY a;
"""
POLICY = Policy.parse('[[protect]]\nkind = "person"\n\n[[public]]\ntable = "t"\n\n[[public]]\ntable = "u"\n')

FLOATS = ["NaN", "-NaN", "0.0", "-0.0", "1.5", "-2.5", "0.1", "infinity", "3.0"]
_CELLS: dict[str, list[Any]] = {
    "a": [None, 0, 1, 2, 3],
    "b": [None, 0, 1, 2, 3, 4],
    "d": [None, "2020-01-01", "2020-01-02", "2020-01-05", "2021-03-01"],
    "s": [None, "x", "xy", "y", ""],
    "f": [None, *FLOATS],
    "m": [None, "0.00", "1.01", "1.02", "-5.00", "7.77"],
    "k": [None, True, False],
    "x": [None, 0, 1, 2, 10],
}
Rows = list[tuple[Any, ...]]


def _rows(names: str, most: int) -> st.SearchStrategy[Rows]:
    row = st.tuples(*(st.sampled_from(_CELLS[name]) for name in names))
    return st.lists(row, max_size=most).map(lambda found: [*found, *found[:2]])  # rows that look alike


def tables() -> st.SearchStrategy[dict[str, Rows]]:
    """Return the rows of both tables: few values, so that there are ties, equal rows and partners."""
    return st.fixed_dictionaries({"t": _rows("abdsfmk", 7), "u": _rows("axm", 5)})


def connect(rows: dict[str, Rows]) -> duckdb.DuckDBPyConnection:
    """Return a database with these rows."""
    con = duckdb.connect()
    con.execute("SET threads = 1")
    con.execute(SCHEMA)
    fill(con, rows)
    return con


def fill(con: duckdb.DuckDBPyConnection, rows: dict[str, Rows]) -> None:
    """Replace the rows of the tables."""
    for name, found in rows.items():
        con.execute(f"DELETE FROM {name}")
        if found:
            con.execute(f"INSERT INTO {name} VALUES {', '.join(map(_row, found))}")


def _row(cells: Sequence[Any]) -> str:
    return "(" + ", ".join("NULL" if cell is None else f"'{cell}'" for cell in cells) + ")"


def shuffled(rows: dict[str, Rows], rng: random.Random) -> dict[str, Rows]:
    """Return the same bags of rows in another order."""
    return {name: rng.sample(found, len(found)) for name, found in rows.items()}


@cache
def catalogue() -> Catalogue:
    con = duckdb.connect()
    con.execute(SCHEMA)
    return DuckDB.open(con).catalogue()


def read(text: str) -> NativeQuery:
    """Return a query over the two tables, read."""
    schema = schema_of(text, POLICY, catalogue())
    return NativeReader(schema, Met(schema)).query(parse(text))


def lowered(text: str) -> str:
    """Return the SQL that is run for a query over the two tables."""
    return NativeLowering(text=text).query(read(text))


def bag(rows: Sequence[Sequence[Any]]) -> list[str]:
    """Return rows as a bag: one NaN, one zero, floats to nine digits or twelve places."""
    return sorted(str([_cell(cell) for cell in row]) for row in rows)


def _cell(cell: Any) -> Any:
    if isinstance(cell, float):
        if math.isnan(cell):
            return "NaN"
        return float(f"{round(cell, 12) + 0.0:.9g}") + 0.0
    if isinstance(cell, Decimal | int) and not isinstance(cell, bool):
        return float(f"{float(cell):.9g}") + 0.0
    return cell


def selects(path: Path) -> dict[str, bool]:
    """Return the queries of a file, and whether SQL leaves it open which rows they return."""
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("--")]
    return {re.sub(r" -- open$", "", line): line.endswith(" -- open") for line in lines}
