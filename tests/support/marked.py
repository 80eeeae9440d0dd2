"""A database whose private values are unmistakable: wherever one of them is printed, it is a leak."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb

POLICY = """
[[protect]]
table = "person"
key = ["id"]

[[link]]
table = "visit"
column = ["person"]
to = "person"

[[public]]
table = "town"

[[domain]]
table = "person"
column = "year"
values = [2001, 2002]

[budget]
epsilon = 1000
"""

PEOPLE = 613
VISITS = 2_741
TOTAL = 777_123_457
"""How many people and visits there are and what they add up to: true answers, which nobody may print."""

MARKS = (
    "Xmarkedname",
    "Xmarkedtown",
    "7771234",
    "8882345",
    "613",
    "2741",
    "2,741",
    "777123457",
    "777,123,457",
)
"""Parts of private values, and the true answers."""


def make_victims(folder: Path) -> tuple[Path, Path]:
    """Return the paths of a database full of marks and of its policy."""
    database, policy = folder / "victims.duckdb", folder / "victims.toml"
    policy.write_text(POLICY)
    with duckdb.connect(str(database)) as made:
        columns = "id BIGINT PRIMARY KEY, name VARCHAR, town VARCHAR, year INTEGER, note DOUBLE"
        made.execute(f"CREATE TABLE person ({columns})")
        values = "7771234000 + i, 'Xmarkedname' || i, 'Xmarkedtown' || i % 9, 2001 + i % 2, 88823450"
        made.execute(f"INSERT INTO person SELECT {values} FROM range({PEOPLE}) r(i)")
        made.execute("UPDATE person SET note = 'nan' WHERE name = 'Xmarkedname5'")
        made.execute("CREATE TABLE visit (person BIGINT, day VARCHAR, cost BIGINT)")
        values = "7771234000 + (i * 7) % 613, 'Xmarkedname' || i, 283518"
        made.execute(f"INSERT INTO visit SELECT {values} FROM range({VISITS}) r(i)")
        rest = f"{TOTAL} - (SELECT sum(cost) FROM visit)"
        made.execute(f"UPDATE visit SET cost = cost + {rest} WHERE day = 'Xmarkedname0'")
        made.execute("CREATE TABLE town (name VARCHAR, size INTEGER)")
        made.execute("INSERT INTO town VALUES ('Ghent', 1), ('Bruges', 2)")
        made.execute("CREATE TABLE unmentioned AS SELECT * FROM person")
        made.execute("CREATE VIEW marked AS SELECT * FROM person WHERE name LIKE 'Xmarked%'")
    return database, policy


def leaked(text: str) -> list[str]:
    """Return the marks that a text holds; digits must stand alone, letters may stand anywhere."""
    return [mark for mark in MARKS if mark in (text if mark[0] == "X" or len(mark) > 6 else _numbers(text))]


def _numbers(text: str) -> set[str]:
    """Return the numbers that stand alone: not within a hash, a fraction or a time."""
    words = (word.strip(".,") for word in re.findall(r"[\w.,]+", text))
    return {re.sub(r"\.0+$", "", word) for word in words}
