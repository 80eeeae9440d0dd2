"""Poisoned rows: one participant's values that divide by zero, overflow or cannot be cast.

An error, a warning or another form of the answer would say that the participant is there. Nothing of an
answer but its numbers may depend on them.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import duckdb
import pandas
import pytest

from recuse.engines.duckdb import DuckDB
from recuse.policy import Policy, Public
from support.policies import about_people
from support.shape import outcome, session_on
from support.sql.poison import COLUMNS, POISON

POLICY = replace(about_people(("t", "id")), public=(Public("p"),))

QUESTIONS = [
    "SELECT COUNT(*), AVG({}) FROM t WHERE ({}) = 1",
    "SELECT COUNT(*) FROM t a WHERE EXISTS (SELECT 1 FROM t WHERE t.id = a.id AND ({}) = 1)",
    "SELECT p.k, SUM({}) FROM t JOIN p ON ({}) = p.k GROUP BY p.k",
]


class Careless(DuckDB):
    """The broken twin: the same queries without TRY."""

    def run(self, statements):
        return super().run([sql.replace("TRY_CAST(", "CAST(").replace("TRY(", "(") for sql in statements])


def opened(kind: type[DuckDB], rows: list[dict[str, object]]) -> DuckDB:
    """Return a database of the rows."""
    made = duckdb.connect(":memory:", config={"threads": 1})
    types = ", ".join(f"{name} {type_}" for name, type_ in COLUMNS.items())
    made.execute(f"CREATE TABLE t (id INTEGER, {types})")
    made.execute("CREATE TABLE p AS SELECT i AS k FROM range(3) r(i)")
    for row in rows:
        names, marks = ", ".join(row), ", ".join("?" for _ in row)
        made.execute(f"INSERT INTO t ({names}) VALUES ({marks})", list(row.values()))
    return kind.open(made)


def told_apart(kind: type[DuckDB], poison: str) -> bool:
    """Return whether any question has another outcome once the poisoned row is there."""
    expression, poisoned, harmless = POISON[poison]
    rows = [{"id": who, **harmless} for who in range(8)]
    found = []
    for there in (rows, [*rows, {"id": 77, **poisoned}]):
        with session_on(opened(kind, there), POLICY) as session:
            found.append([outcome(session, text.replace("{}", expression), "1") for text in QUESTIONS])
    assert any(isinstance(told, list) for told in found[0]), "at least one of the questions is answered"
    return found[0] != found[1]


QUICK = [*POISON][::4]
"""the rest is slow; tests/sql/test_poison.py has all of them for relations without a session around"""


@pytest.mark.parametrize(
    "poison", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in POISON]
)
def test_a_poisoned_row_changes_neither_errors_nor_the_form(poison):
    assert not told_apart(DuckDB, poison)


def test_the_twin_without_try_is_caught():
    assert sum(told_apart(Careless, poison) for poison in QUICK) > len(QUICK) / 2


# ------------------------------------------------------------------ files and frames

CELLS = [
    b"x",
    b"",
    b"\xff\xfe",
    b"9" * 400,
    b'"',
    b"1e999",
    b"nan",
    b"-inf",
    b"\x00",
    b"1,2,3",
    b"2020-13-45",
]
NUMBERS = [float("nan"), float("inf"), -float("inf"), None, 1e308, -0.0, 5e-324]
TYPED = Policy.parse("""
[[protect]]
table = "t"
key = ["id"]

[columns.t]
id = "BIGINT"
x = "DECIMAL(9, 2)"
day = "DATE"
""")
ASKED = ["SELECT SUM(x), COUNT(day) FROM t", "SELECT COUNT(DISTINCT x) FROM t WHERE year(day) > 1990"]


def csv_outcomes(folder: Path, lines: list[bytes]) -> list[object]:
    folder.mkdir()
    clean = b"".join(b"%d,1.50,2020-01-01\n" % who for who in range(8))
    (folder / "t.csv").write_bytes(b"id,x,day\n" + clean + b"".join(lines))
    with session_on(DuckDB.open(folder, TYPED), TYPED) as session:
        return [outcome(session, text, "1") for text in ASKED]


@pytest.mark.parametrize("line", [b"%b,1,2020-01-01\n", b"77,%b,2020-01-01\n", b"77,1,%b\n"])
def test_poisoned_lines_of_a_file_change_nothing(line, tmp_path):
    poisoned = csv_outcomes(tmp_path / "poisoned", [line % cell for cell in CELLS])
    assert poisoned == csv_outcomes(tmp_path / "clean", [])


def test_poisoned_numbers_of_a_frame_change_nothing():
    found = []
    for numbers in ([1.0] * 9, [1.0, *NUMBERS, 1.0]):
        frame = pandas.DataFrame({"id": range(9), "x": pandas.Series(numbers, dtype="float64")})
        with session_on(DuckDB.open({"t": frame}), TYPED) as session:
            found.append(outcome(session, "SELECT SUM(x), AVG(x) FROM t", "1"))
    assert found[0] == found[1]
