"""A small bank with every group filled: ways of writing a question must mean here what DuckDB means."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any

import duckdb

from recuse.dbapi import records
from recuse.policy import Policy
from recuse.session.parts import Parts
from recuse.session.session import Session, connect

POLICY = Policy.parse("""
[[protect]]
table = "account"
key = ["id"]

[[link]]
table = "purchase"
column = ["account"]
to = "account"

[[public]]
table = "region"

[[public]]
table = "shelf"

[[domain]]
table = "purchase"
column = "channel"
values = ["web", "shop", "phone"]

[sum]
granularity = 0.01

[budget]
epsilon = 1000
""")

TABLES = """
CREATE TYPE level AS ENUM ('low', 'mid', 'high');
CREATE TABLE region (id INTEGER PRIMARY KEY, name VARCHAR, founded DATE, "Big Area" BOOLEAN);
CREATE TABLE shelf (product INTEGER PRIMARY KEY, label VARCHAR);
CREATE TABLE account (id INTEGER PRIMARY KEY, region INTEGER REFERENCES region (id), balance DECIMAL(9, 2),
                      grade level, active BOOLEAN, "Full Name" VARCHAR);
CREATE TABLE purchase (id INTEGER PRIMARY KEY, account INTEGER REFERENCES account (id), product INTEGER,
                       price DECIMAL(9, 2), quantity INTEGER, channel VARCHAR, day DATE, late BOOLEAN);
INSERT INTO region VALUES (1, 'north', '1990-01-01', true), (2, 'south', '2000-05-05', false),
                          (3, 'east', '2010-10-10', true), (4, 'west', '2020-02-20', false);
INSERT INTO shelf SELECT i, 'product ' || i FROM range(1, 8) t(i);
INSERT INTO account SELECT i, ([1, 1, 1, 1, 2, 2, 2, 3, 3, 4])[i % 10 + 1], i * 7.25 % 100,
                           (['low', 'mid', 'mid', 'high', 'mid', 'high'])[i % 6 + 1]::level,
                           i % 5 <> 0, 'name ' || i FROM range(1, 61) t(i);
INSERT INTO purchase SELECT i, i * 7 % 60 + 1, i % 7 + 1, i * 3.35 % 50 + 1, i % 4 + 1,
                            (['web', 'web', 'web', 'shop', 'shop', 'phone'])[i % 6 + 1],
                            DATE '2024-01-01' + CAST(i * 2 AS INTEGER),
                            CASE WHEN i % 6 = 0 THEN NULL ELSE i % 2 = 0 END FROM range(1, 301) t(i);
"""


@cache
def bank() -> Session:
    """Return a session on the bank."""
    connection = duckdb.connect(":memory:", config={"threads": 1})
    connection.execute(TABLES)
    return connect(connection, POLICY, parts=Parts())


@cache
def judge() -> duckdb.DuckDBPyConnection:
    """Return a connection of its own with the same tables."""
    connection = duckdb.connect(":memory:", config={"threads": 1})
    connection.execute(TABLES)
    return connection


def understood(sql: str) -> list[tuple[Any, ...]]:
    """Return the rows of a question as it was understood, without noise and without truncation."""
    session = bank()
    question = session.question(sql, 1)
    answer = question.exact_answer(session._parts.solver, lambda groups: groups.true_answers())
    return [tuple(map(plain, row)) for row in records(question.plan.columns, answer)]


def meant(sql: str) -> list[tuple[Any, ...]]:
    """Return the rows that DuckDB has for the same text."""
    rows = judge().execute(sql).fetchall()
    return [tuple(map(plain, row)) for row in rows]


def plain(value: Any) -> Any:
    """Return a value that is equal however it was computed."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float | Decimal | Fraction):
        return round(float(value), 6) + 0.0
    if isinstance(value, datetime):
        return value if (value.hour, value.minute, value.second) != (0, 0, 0) else value.date()
    return value if isinstance(value, date) else str(value)
