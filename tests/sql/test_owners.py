"""Rows that are nobody's: owners that are NULL or name nobody, whatever the links, whatever a query joins.

DuckDB is the judge. For every set of participants the relation, restricted to them, is what the plain query
answers on the rows that belong to them; and nothing raises.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import chain, combinations

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse.annotation import TRUE, And, Annotation, Or, Participant
from recuse.engines.binding import check_plan
from recuse.engines.collect import collect
from recuse.engines.duckdb import DuckDB
from recuse.krelation import encode
from recuse.krelation.build import expressions
from recuse.sql import complete
from recuse.sql.compile import compile_query
from recuse.sql.plan import Plan
from support.profiles import examples
from support.sql.links import (
    ENFORCED,
    POLICY,
    TABLES,
    TYPES,
    Name,
    Owned,
    Rows,
    databases,
    everybody,
    intact,
    plain_schema,
    questions,
)


def holds(annotation: Annotation, there: frozenset[Name]) -> bool:
    match annotation:
        case Participant(name):
            return name in there
        case And(children):
            return all(holds(child, there) for child in children)
        case Or(children):
            return any(holds(child, there) for child in children)
    return annotation == TRUE


# ------------------------------------------------------------------ the law


def opened(schema: str) -> DuckDB:
    connection = duckdb.connect(":memory:", config={"threads": 1})
    connection.execute(schema)
    return DuckDB.open(connection)


empty = cache(opened)


@cache
def compiled(schema: str, text: str) -> Plan:
    plan = compile_query(text, POLICY, empty(schema).catalogue())
    check_plan(plan, empty(schema))
    return plan


def load(engine: DuckDB, rows: Rows) -> DuckDB:
    engine.connection.execute("SET search_path = 'memory.main'")
    for table in TABLES:
        for row in rows[table]:
            engine.connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    engine.connection.execute("SET search_path = 'system.main'")
    return engine


def judged(kind: str, rows: Rows, text: str) -> int:
    """Return what DuckDB answers."""
    connection = empty(plain_schema(kind)).connection
    connection.begin()
    try:
        load(empty(plain_schema(kind)), rows)
        connection.execute("SET search_path = 'memory.main'")
        ((count,),) = connection.sql(text).fetchall()
    finally:
        connection.rollback()
        connection.execute("SET search_path = 'system.main'")
    return int(count)


def subsets(people: frozenset[Name]) -> Iterator[frozenset[Name]]:
    """Yield everybody, everybody but one, nobody, and each alone."""
    listed = sorted(people, key=repr)
    sizes = {0, 1, len(listed) - 1, len(listed)} - {-1}
    yield from map(frozenset, chain.from_iterable(combinations(listed, size) for size in sorted(sizes)))


def wrong(schema: str, kind: str, rows: Rows, text: str) -> list[frozenset[Name]]:
    """Return the sets of participants for whom the relation is not what DuckDB answers.

    Whoever the relation names is among them: a name that nobody has would be one too many.
    """
    plan = compiled(schema, text)
    with opened(schema) as engine:
        ((relation,),) = collect(load(engine, rows), plan)
    found = expressions(relation)
    return [
        there
        for there in subsets(everybody(rows) | set(relation.names))
        if sum(weight for annotation, weight in found if holds(annotation, there))
        != judged(kind, Owned(rows, there).remaining(), text)
    ]


@settings(max_examples=examples(50))
@given(st.data())
def test_rows_without_owners_are_nobodys_whatever_is_joined(data):
    kind = data.draw(st.sampled_from(TYPES))
    rows = data.draw(databases(kind, whole=False))
    assert wrong(plain_schema(kind), kind, rows, data.draw(questions())) == []


@settings(max_examples=examples(20))
@given(st.data())
def test_where_the_database_enforces_references_too(data):
    kind = data.draw(st.sampled_from(TYPES))
    rows = intact(data.draw(databases(kind, whole=True)))
    assert wrong(ENFORCED.format(kind), kind, rows, data.draw(questions())) == []


# ------------------------------------------------------------------ by name, and the twins

SMALL: Rows = {table: [] for table in TABLES} | {
    "person": [("v1", "v1"), ("v2", None)],
    "gift": [
        ("v1", "v2", "v1"),
        (None, "v1", "v1"),
        ("v2", None, None),
        (None, None, "v2"),
        ("v9", "v2", "v2"),
    ],
    "club": [("v1", None, "v1"), ("v2", "v9", None)],
    "visit": [("v1", "v2", "v1"), (None, "v1", "v1"), ("v9", None, "v2")],
    "seat": [("v1", "v1")],
    "ticket": [("v1", None, "v1", "v1"), (None, "v1", None, "v1")],
}
BY_NAME = [
    "SELECT COUNT(*) FROM gift g JOIN person p ON g.a = p.id",
    "SELECT COUNT(*) FROM gift g, person p WHERE p.id = g.b",
    "SELECT COUNT(*) FROM person p WHERE EXISTS (SELECT 1 FROM gift g WHERE g.a = p.id)",
    "SELECT COUNT(*) FROM visit g JOIN club k ON k.id = g.first JOIN person p ON p.id = k.vice",
    "SELECT COUNT(*) FROM ticket g JOIN seat s ON s.row = g.r1 AND s.number = g.n1",
]


@pytest.mark.parametrize("text", BY_NAME)
def test_a_query_that_joins_one_alternative_itself(text):
    assert wrong(plain_schema("VARCHAR"), "VARCHAR", SMALL, text) == []


def test_the_twin_that_believes_every_owner_is_there_is_caught(monkeypatch):
    compiled.cache_clear()
    monkeypatch.setattr(complete._Follower, "_joined", lambda *_: True)
    assert wrong(plain_schema("VARCHAR"), "VARCHAR", SMALL, "SELECT COUNT(a) FROM gift") != []
    compiled.cache_clear()


def test_the_twin_that_takes_null_for_somebody_is_caught(monkeypatch):
    """Without the test for NULL and the encoder's own there would be a participant whose name is NULL."""
    plan = compile_query("SELECT COUNT(*) FROM ring", POLICY, empty(plain_schema("VARCHAR")).catalogue())
    monkeypatch.setattr(complete._Follower, "_require", lambda *_: None)
    careless = compile_query("SELECT COUNT(*) FROM ring", POLICY, empty(plain_schema("VARCHAR")).catalogue())
    rows = SMALL | {"ring": [(None, "v1", "v1"), (None, "v2", "v1")]}

    def known(asked: Plan) -> bool:
        with opened(plain_schema("VARCHAR")) as engine:
            ((relation,),) = collect(load(engine, rows), asked)
        return ("phone", None) in set(relation.names)

    assert not known(plan)
    assert not known(careless), "the encoder leaves such a row out"
    monkeypatch.setattr(encode, "_contributed", lambda table, _: table)
    assert not known(plan), "the statements leave it out"
    assert known(careless)
