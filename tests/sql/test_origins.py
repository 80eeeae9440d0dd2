"""Keys that nobody listed: what WHERE, CHECK, references, the policy and types say of them; released ends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

import duckdb
import pytest

from recuse.engines.binding import check_plan
from recuse.engines.collect import collect, collect_domain
from recuse.engines.duckdb import DuckDB
from recuse.errors import PolicyError, QueryError
from recuse.policy import Policy
from recuse.sql.compile import compile_query
from recuse.sql.dense import Dense, ReleasedEnd
from recuse.sql.plan import Plan

TABLES = """
CREATE TABLE country (code VARCHAR PRIMARY KEY, region VARCHAR);
CREATE TYPE mood AS ENUM ('sad', 'glad');
CREATE TABLE person (id INTEGER PRIMARY KEY, country VARCHAR REFERENCES country (code), age INTEGER NOT NULL,
    born DATE, grade VARCHAR CHECK (grade IN ('a', 'b')), stars INTEGER CHECK (stars BETWEEN 1 AND 5),
    mood mood, name VARCHAR, height DOUBLE);
CREATE TABLE visit (person INTEGER REFERENCES person (id), seen TIMESTAMP NOT NULL, day DATE NOT NULL,
    cost DECIMAL(8, 2), nr INTEGER UNIQUE);
INSERT INTO country VALUES ('at', 'EU'), ('ch', NULL), ('nz', 'OC');
INSERT INTO person VALUES
    (1, 'at', 20, DATE '1990-05-01', 'a', 1, 'sad', 'Ada', 1.5), (2, 'at', 30, DATE '1992-01-31', 'b', 5,
    'glad', 'Bob', 2.5), (3, 'nz', 30, NULL, NULL, NULL, NULL, 'Cyd', NULL);
INSERT INTO visit VALUES
    (1, TIMESTAMP '2024-01-05 10:00', DATE '2024-01-05', 1.25, 1), (1, TIMESTAMP '2024-01-09 11:30',
    DATE '2024-01-09', 2.00, 2), (2, TIMESTAMP '2024-03-01 00:00', DATE '2024-03-01', 1.25, 3),
    (3, TIMESTAMP '2025-12-31 23:59', DATE '2025-12-31', NULL, 4);
"""
POLICY = """
[[protect]]
table = "person"
key = ["id"]
[[link]]
table = "visit"
column = ["person"]
to = "person"
[[public]]
table = "country"
"""


@pytest.fixture(scope="module")
def engine() -> Iterator[DuckDB]:
    made = duckdb.connect(":memory:")
    made.execute(TABLES)
    opened = DuckDB.open(made)
    yield opened
    opened.close()
    made.close()


JUDGE = duckdb.connect(":memory:")
JUDGE.execute(TABLES)


def planned(text: str, engine: DuckDB, more: str = "") -> Plan:
    plan = compile_query(text, Policy.parse(POLICY + more), engine.catalogue())
    check_plan(plan, engine)
    return plan


def groups_of(key: str, engine: DuckDB, *, source: str = "person", where: str = "", more: str = "") -> list:
    text = f"SELECT {key}, COUNT(*) FROM {source} {f'WHERE {where}' if where else ''} GROUP BY 1"
    plan = planned(text, engine, more)
    assert not plan.firsts
    domain = collect_domain(engine, plan.grouping)
    (found,) = collect(engine, plan, domain)
    counts = {keys: relation.true_answer() for keys, relation in zip(domain.keys, found, strict=True)}
    stated = {row[:-1]: row[-1] for row in JUDGE.sql(text).fetchall()}
    expected = {keys: stated.get(keys, 0) for keys in counts}
    assert counts == expected
    return [keys[0] for keys in domain.keys]


def test_conditions_give_the_keys_and_every_group_has_the_rows_that_sql_gives_it(engine):
    months = [datetime(2024, month, 1) for month in range(1, 4)]
    in_spring = "seen >= '2024-01-01' AND seen < TIMESTAMP '2024-04-01'"
    cases = [
        ("age", "person", "age BETWEEN 29 AND 31", [29, 30, 31]),
        ("age // 10", "person", "age >= 20 AND age < 40", [2, 3]),
        ("floor(age / 10)", "person", "age >= 20 AND age < 40", [2.0, 3.0]),
        ("year(born)", "person", "born BETWEEN DATE '1990-01-01' AND DATE '1991-12-31'", [1990, 1991]),
        ("extract(year FROM seen)", "visit", "seen >= '2024-01-01' AND seen < '2026-01-01'", [2024, 2025]),
        ("date_trunc('month', seen)", "visit", in_spring, months),
        ("date_trunc('quarter', seen)", "visit", in_spring, [datetime(2024, 1, 1)]),
        ("date_trunc('week', day)", "visit", "day BETWEEN '2024-01-01' AND '2024-01-09'",
         [datetime(2024, 1, 1), datetime(2024, 1, 8)]),
        ("seen::date", "visit", "seen >= '2024-01-05' AND seen < '2024-01-07'",
         [date(2024, 1, 5), date(2024, 1, 6)]),
        ("cost", "visit", "cost BETWEEN 1.24 AND 1.26", [Decimal("1.24"), Decimal("1.25"), Decimal("1.26")]),
        ("round(height)", "person", "height BETWEEN 1 AND 3", [1.0, 2.0, 3.0]),
        ("hour(seen)", "visit", "", list(range(25))),
    ]  # fmt: skip
    for key, source, where, expected in cases:
        assert groups_of(key, engine, source=source, where=where) == expected, key


def test_what_the_database_enforces_gives_the_keys(engine):
    assert groups_of("grade", engine) == ["a", "b"]
    assert groups_of("stars", engine) == [1, 2, 3, 4, 5, None]
    assert groups_of("country", engine) == ["at", "ch", "nz"]
    assert groups_of("mood", engine) == ["sad", "glad"]
    assert groups_of("month(born)", engine) == [*range(1, 13), None]
    assert groups_of("age > 25", engine) == [False, True]
    assert groups_of("born IS NULL", engine) == [False, True]


def test_a_domain_is_a_list_a_range_or_a_query(engine):
    said = '[[domain]]\ntable = "person"\ncolumn = "{}"\n{}\n'
    assert groups_of("name", engine, more=said.format("name", 'values = ["Ada", "Eve"]')) == ["Ada", "Eve"]
    assert groups_of("age", engine, more=said.format("age", "from = 29\nto = 31")) == [29, 30, 31]
    assert groups_of("age", engine, more=said.format("age", "from = 10\nto = 35\nstep = 10")) == [10, 20, 30]
    born = said.format("born", 'from = "1990-01-01"\nto = "1992-12-31"')
    assert groups_of("year(born)", engine, more=born) == [1990, 1991, 1992, None]
    stepped = said.format("born", 'from = "1991-12-31"\nto = "1992-03-31"\nstep = "month"')
    days = [date(1991, 12, 31), date(1992, 1, 31), date(1992, 2, 29), date(1992, 3, 31)]
    assert groups_of("born", engine, more=stepped) == days
    queried = said.format("name", "query = \"SELECT code FROM country WHERE region = 'EU'\"")
    assert groups_of("name", engine, more=queried) == ["at"]


@pytest.mark.parametrize(
    ("lines", "word"),
    [
        ('query = "SELECT name FROM person"', "cannot be used"),
        ('query = "SELECT code, region FROM country"', "2 columns"),
        ('query = "SELECT code FROM country"\nvalues = ["a"]', "both"),
        ("from = 3\nto = 1", "first value"),
        ('from = "1990-13-01"\nto = "1991-01-01"', "no date"),
        ('from = "1990-01-01"\nto = "1991-01-01"\nstep = "fortnight"', "unit"),
        ("from = 1\nto = 1000000\nstep = 1", "too many"),
    ],
)
def test_a_domain_that_says_no_values_is_refused(lines, word, engine):
    with pytest.raises(PolicyError, match=word):
        planned(
            "SELECT COUNT(*) FROM person", engine, f'[[domain]]\ntable = "person"\ncolumn = "name"\n{lines}'
        )


def dense(text: str, engine: DuckDB) -> Dense:
    plan = planned(text, engine)
    assert plan.grouping is not None
    (key,) = plan.grouping.keys
    assert isinstance(key, Dense)
    return key


def test_an_end_that_nothing_says_is_released_first(engine):
    both = dense("SELECT year(day), COUNT(*) FROM visit GROUP BY 1", engine)
    assert (both.low, both.high, both.null) == (ReleasedEnd(0), ReleasedEnd(1), False)
    one = dense("SELECT day, COUNT(*) FROM visit WHERE day >= '2024-01-01' GROUP BY 1", engine)
    assert (one.low, one.high) == (8766, ReleasedEnd(0))
    counted = "SELECT n, COUNT(*) FROM (SELECT person, COUNT(*) AS n FROM visit GROUP BY person) t GROUP BY n"
    assert dense(counted, engine) == Dense(both.step.__class__(), 0, ReleasedEnd(0), null=False)


def test_ends_are_labels_and_what_lies_beyond_is_cut_where_it_is_said(engine):
    years = dense("SELECT year(day), COUNT(*) FROM visit GROUP BY 1", engine)
    found = years.given(lambda place: Fraction((24, 25)[place]), 100)
    assert found.labels() == [2024, 2025]
    assert years.given(lambda place: Fraction((0, 10**9)[place]), 3).labels() == [2000, 2001, 2002]
    days = dense("SELECT day, COUNT(*) FROM visit GROUP BY 1", engine)
    assert days.given(lambda place: Fraction((0, 10)[place]), 2).labels() == [
        date(2000, 1, 10),
        date(2000, 1, 11),
    ]
    far = days.given(lambda place: Fraction((-(10**15), 10**15)[place]), 2)
    assert far.labels() == [date(9999, 12, 30), date(9999, 12, 31)]


def test_few_people_leave_no_groups_but_that_of_null(engine):
    born = dense("SELECT year(born), COUNT(*) FROM person GROUP BY 1", engine)
    assert born.null
    assert born.given(lambda _: None, 100).labels() == [None]
    below = born.given(lambda place: (None, Fraction(2))[place], 100)
    assert below.labels() == [2000, 2001, 2002, None]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT id, COUNT(*) FROM person GROUP BY id",
        "SELECT person, COUNT(*) FROM visit GROUP BY person",
        "SELECT nr, COUNT(*) FROM visit GROUP BY nr",
    ],
)
def test_keys_that_are_individuals_stay_refused(text, engine):
    for more in ("", "[budget]\nepsilon = 1\ndelta = 0.000001"):
        with pytest.raises(QueryError, match="individual"):
            planned(text, engine, more)


def test_a_refusal_says_which_ways_there_are(engine):
    with pytest.raises(QueryError) as caught:
        planned("SELECT name, COUNT(*) FROM person GROUP BY name", engine)
    for way in ("WHERE name IN", "recuse policy domain person.name", "[budget] delta"):
        assert way in str(caught.value.hint)


def test_too_many_stated_groups_are_not_made(engine):
    plan = planned("SELECT age, COUNT(*) FROM person WHERE age BETWEEN 0 AND 1000000000 GROUP BY 1", engine)
    domain = collect_domain(engine, plan.grouping)
    assert domain.size == 1_000_000_001
    assert domain.keys == ()


def test_the_policy_grants_delta_or_keys_are_not_found(engine):
    granted = "[budget]\nepsilon = 1\ndelta = 0.000001"
    plan = planned("SELECT name, COUNT(*) FROM person GROUP BY name", engine, granted)
    assert plan.grouping is not None
    assert plan.grouping.found == (0,)
    unused = replace(Policy.parse(POLICY + granted), delta=None)
    with pytest.raises(QueryError, match="which groups"):
        compile_query("SELECT name, COUNT(*) FROM person GROUP BY name", unused, engine.catalogue())
