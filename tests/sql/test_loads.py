"""A public bound on loads: found where keys say so, and nowhere else; and true of the rows."""

from __future__ import annotations

import duckdb
import pytest

from recuse.policy import Policy
from recuse.session.session import connect

POLICY = Policy.parse(
    """
    [[protect]]
    table = "person"
    key = ["id"]

    [[link]]
    table = "visit"
    column = ["who"]
    to = "person"

    [[link]]
    table = "passport"
    column = ["holder"]
    to = "person"

    [[public]]
    table = "town"

    [budget]
    epsilon = 100
    """
)
TABLES = """
CREATE TABLE town (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE person (id INTEGER PRIMARY KEY, town INTEGER, age INTEGER);
CREATE TABLE visit (id INTEGER PRIMARY KEY, who INTEGER, place INTEGER);
CREATE TABLE passport (holder INTEGER PRIMARY KEY, year INTEGER);
INSERT INTO town SELECT i, 'n' || i FROM range(4) r(i);
INSERT INTO person SELECT i, i % 4, i % 70 FROM range(300) r(i);
INSERT INTO visit SELECT i, i % 40, i % 4 FROM range(900) r(i);
INSERT INTO passport SELECT i, 2000 + i % 20 FROM range(250) r(i);
"""

BOUNDED = {
    "SELECT COUNT(*) FROM person": 1,
    "SELECT COUNT(*) FROM person WHERE age > 30": 1,
    "SELECT COUNT(*) FROM person p JOIN town t ON p.town = t.id WHERE t.name = 'n1'": 1,
    "SELECT COUNT(*) FROM passport": 1,
    "SELECT COUNT(*) FROM person p JOIN passport q ON q.holder = p.id": 1,
    "SELECT town, COUNT(*) FROM person WHERE town IN (1, 2) GROUP BY town": 1,
    "SELECT COUNT(*) FROM (SELECT who, COUNT(*) AS n FROM visit GROUP BY who) WHERE n > 3": 1,
    "SELECT COUNT(DISTINCT who) FROM visit": 1,
    "SELECT COUNT(DISTINCT who) FROM visit WHERE place = 1": 1,
    "SELECT COUNT(DISTINCT p.id) FROM person p JOIN visit v ON v.who = p.id": 1,
    "SELECT COUNT(DISTINCT p.id) FROM visit v JOIN person p ON v.who = p.id JOIN town t ON t.id < v.place": 1,
}
UNBOUNDED = [
    "SELECT COUNT(*) FROM visit",
    "SELECT SUM(age) FROM person",
    "SELECT COUNT(*) FROM person p JOIN visit v ON v.who = p.id",
    "SELECT COUNT(*) FROM person p JOIN town t ON p.town < t.id",
    "SELECT COUNT(*) FROM person a JOIN person b ON a.town = b.town",
    "SELECT COUNT(DISTINCT place) FROM visit",
    "SELECT COUNT(DISTINCT town) FROM person",
    "SELECT COUNT(DISTINCT p.id) FROM person p JOIN person q ON p.town = q.town",
    "SELECT COUNT(DISTINCT who + 1) FROM visit",
    "SELECT COUNT(DISTINCT v.id) FROM visit v JOIN person p ON v.who = p.id",
    "SELECT COUNT(*) FROM (SELECT who FROM visit UNION SELECT holder FROM passport)",
]


@pytest.fixture(scope="module")
def session():
    database = duckdb.connect()
    database.execute(TABLES)
    with connect(database, POLICY) as found:
        yield found


@pytest.mark.parametrize("sql", BOUNDED)
def test_keys_bound_what_one_owns(session, sql):
    (measure,) = session.compile(sql).measures
    assert measure.bound == BOUNDED[sql]
    assert "more than one row, whatever the data" in " ".join(repr(session.explain(sql)).split())


@pytest.mark.parametrize("sql", UNBOUNDED)
def test_where_no_key_says_so_nothing_is_bounded(session, sql):
    (measure,) = session.compile(sql).measures
    assert measure.bound is None


def test_with_a_bound_of_one_the_answer_has_the_least_noise_there_is(session):
    found = session.ask("SELECT COUNT(*) FROM person", 1).number
    assert abs(float(found.noise_scale) - 0.96) < 0.03, "staircase noise of one row"
    assert found.interval[1] - found.interval[0] <= 8


def test_different_owners_are_counted_with_the_least_noise_there_is(session):
    found = session.ask("SELECT COUNT(DISTINCT who) FROM visit", 1).number
    assert abs(float(found.noise_scale) - 0.96) < 0.03, "staircase noise of one row"
    assert abs(found.value - 40) < 30
