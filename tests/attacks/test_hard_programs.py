"""Relations on which a solver once gave up, or never ended, asked about through `ask`."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest

import recuse
from support.policies import about_people
from support.profiles import some

POLICY = about_people(("r", "a"), ("r", "b"), ("r", "c"), epsilon=1000)
SEVEN = [
    (2, 6, 9, 2**25 + 1),
    (5, 5, 5, 2),
    (6, 6, 6, 2**25 + 1),
    (0, 8, 8, 10**12),
    (5, 8, 9, 2**40),
    (9, 9, 9, 2**25 + 1),
    (0, 6, 6, 2**40),
]
STALLING = [(1, 1, 2, 1), (3, 3, 3, 1), (1, 1, 3, 10**11)]


def source(kind: str, folder: Path, rows: list[tuple[int, ...]]) -> duckdb.DuckDBPyConnection | str:
    path = folder / "data.duckdb"
    made = duckdb.connect(str(path) if kind == "file" else ":memory:")
    made.execute("CREATE TABLE r (a INTEGER, b INTEGER, c INTEGER, x BIGINT)")
    if rows:
        made.executemany("INSERT INTO r VALUES (?, ?, ?, ?)", rows)
    if kind == "connection":
        return made
    if kind == "parquet":
        (folder / "data").mkdir()
        made.execute(f"COPY r TO '{folder / 'data' / 'r.parquet'}'")
    made.close()
    return str(path if kind == "file" else folder / "data")


def neighbours(rows: list[tuple[int, ...]]) -> Iterator[list[tuple[int, ...]]]:
    yield rows
    for leaver in sorted({owner for row in rows for owner in row[:3]}):
        yield [row for row in rows if leaver not in row[:3]]


@pytest.mark.parametrize("kind", some(["connection", "file", "parquet"], 0.3))
def test_the_seven_rows_are_answered_whoever_is_in_the_data(kind, tmp_path):
    asked = neighbours(SEVEN) if kind == "connection" else [SEVEN]
    for number, rows in enumerate(asked):
        folder = tmp_path / str(number)
        folder.mkdir()
        with recuse.connect(source(kind, folder, rows), policy=POLICY) as session:
            for step in range(3 if rows == SEVEN else 1):
                session.ask("SELECT SUM(x) FROM r", epsilon=Fraction(1, 10) + Fraction(step, 10**6))


@pytest.mark.parametrize("kind", some(["connection", "file", "parquet"], 0.3))
def test_the_papers_parameters_end_on_three_rows(kind, tmp_path):
    asked = neighbours(STALLING) if kind == "connection" else [STALLING]
    for number, rows in enumerate(asked):
        folder = tmp_path / str(number)
        folder.mkdir()
        with recuse.connect(source(kind, folder, rows), policy=POLICY) as session:
            session.ask("SELECT SUM(x) FROM r", epsilon="0.5", mechanism="paper")
