"""Relations that stay in PostgreSQL: in temporary tables, or derived anew in every pass; nobody sees it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import pytest

from recuse.engines.collect import Collected, collect, collect_domain
from recuse.engines.open import open_engine
from recuse.engines.postgres import Postgres
from recuse.errors import DatabaseError
from recuse.mechanism.clipped import clipped, clipped_kept
from recuse.mechanism.prepared import Prepared, prepare, prepare_kept, truncated_difference
from recuse.policy import Policy
from recuse.solver.fast import FastPrograms, fast_programs
from recuse.solver.kept.source import InEngine
from recuse.sql.compile import compile_query
from support.postgres import Server

pytestmark = pytest.mark.engine

POLICY = Policy.parse("""
[[protect]]
table = "person"
key = ["name", "born"]
[[protect]]
table = "club"
key = ["id"]
[[link]]
table = "visit"
column = ["name", "born"]
to = "person"
[[link]]
table = "visit"
column = ["club"]
to = "club"
[[link]]
table = "friends"
column = ["a"]
to = "club"
[[link]]
table = "friends"
column = ["b"]
to = "club"
[[link]]
table = "stay"
column = ["club"]
to = "club"
[engine]
memory = "200MB"
[sum]
granularity = 1
[budget]
epsilon = 10
""")
MADE = (
    "CREATE TABLE person (name text, born int, PRIMARY KEY (name, born))",
    "CREATE TABLE club (id bigint PRIMARY KEY)",
    "CREATE TABLE visit (name text, born int, club bigint, paid int)",
    "CREATE TABLE friends (a bigint, b bigint)",
    "CREATE TABLE stay (club bigint, day text, paid int)",
    "INSERT INTO person SELECT 'n' || i % 5, 1990 + i % 3 FROM generate_series(0, 14) AS i",
    "INSERT INTO club SELECT generate_series(1, 7)",
    "INSERT INTO visit SELECT 'n' || i * 7 % 5, 1990 + i % 3, 1 + i * i % 7, i % 14 - 5 "
    "FROM generate_series(1, 60) AS i",
    "INSERT INTO visit VALUES (NULL, 1990, 3, 7)",
    "INSERT INTO friends SELECT 1 + i * 5 % 7, 1 + i * i % 7 FROM generate_series(1, 20) AS i",
    "INSERT INTO stay SELECT 1 + i * i % 7, (ARRAY['mon', 'tue', 'wed', NULL])[1 + i % 4], i % 14 - 5 "
    "FROM generate_series(1, 80) AS i",
    "DO $$ BEGIN CREATE ROLE onlooker LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$",
    "GRANT SELECT ON ALL TABLES IN SCHEMA public TO onlooker",
)
STAY = (
    "SELECT COUNT(*) FROM visit",
    "SELECT SUM(paid) FROM visit",
    "SELECT COUNT(*) FROM person",
    "SELECT COUNT(*) FROM friends x JOIN friends y ON x.b = y.a",
    "SELECT SUM(v.paid) FROM visit v JOIN friends f ON v.club = f.a WHERE f.b > 2",
)
VECTORS = (
    "SELECT day, COUNT(*) FROM stay WHERE day IN ('mon', 'tue', 'sun') GROUP BY day",
    "SELECT day IS NULL, paid > 3, SUM(paid) FROM stay GROUP BY 1, 2",
)
APART = "SELECT id, COUNT(*) FROM club WHERE id IN (2, 3, 9) GROUP BY id"


@pytest.fixture(scope="module", params=["tables", "statements"])
def opened(server: Server, name: str, request: pytest.FixtureRequest) -> Iterator[Postgres]:
    """A role that may make temporary tables, and one that may not."""
    server.execute(f'REVOKE TEMPORARY ON DATABASE "{name}" FROM PUBLIC')
    user = "postgres" if request.param == "tables" else "onlooker"
    with open_engine(server.uri(name, user=user), POLICY) as found:
        assert found.keep(["SELECT 1 AS x"])[0].makes == (request.param == "tables")
        yield found


def asked(engine: Postgres, sql: str) -> tuple[Collected, Prepared]:
    plan = compile_query(sql, POLICY, engine.catalogue())
    rows = Collected.of(engine, plan)
    kept = rows.staying(plan.single)
    assert kept is not None
    (relation,) = kept
    return rows, prepare_kept(relation)


@pytest.mark.parametrize("sql", STAY)
def test_what_stays_is_answered_as_if_it_were_read(opened, sql):
    plan = compile_query(sql, POLICY, opened.catalogue())
    _, kept = asked(opened, sql)
    ((relation,),) = collect(replace(opened, keeps=False), plan)
    read = prepare(relation, fast_programs)
    assert kept.relation.true_answer() == relation.true_answer()
    for tau in (Fraction(1, 2), Fraction(2), Fraction(9)):
        one, other = (truncated_difference(found, tau, Fraction(1, 100)) for found in (kept, read))
        assert abs(one - other) <= 2 * tau / 100
        for mine, theirs in zip(kept.signs, read.signs, strict=True):
            assert mine.largest_load() == theirs.largest_load()
            found, wanted = (part.strict_withdrawals(float(tau), 0.01) for part in (mine, theirs))
            assert found.low <= wanted.high
            assert wanted.low <= found.high


def test_a_core_is_cut_out_and_outsiders_are_charged(opened):
    """The route behind the loads, by itself: everything that a program can ask for."""
    plan = compile_query(STAY[3], POLICY, opened.catalogue())
    rows = Collected.of(opened, plan)
    (relation,) = rows.staying(plan.single)
    ((listed,),) = collect(replace(opened, keeps=False), plan)
    kept, read = (
        FastPrograms(InEngine(relation.positive)),
        fast_programs(listed.positive, listed.participants),
    )
    for tau in (4.0, 11.0):
        for ask in ("truncated", "withdrawals", "strict_withdrawals"):
            found, wanted = (getattr(programs, ask)(tau, 0.01) for programs in (kept, read))
            assert found.low <= wanted.high
            assert wanted.low <= found.high
    everything = InEngine(relation.positive).everything().evaluation.tuples
    assert sorted(everything.weights.tolist()) == sorted(listed.positive.weights.tolist())


@pytest.mark.parametrize("sql", [*VECTORS, APART])
def test_groups_that_stay_are_those_that_are_read(opened, sql):
    plan = compile_query(sql, POLICY, opened.catalogue())
    domain = collect_domain(opened, plan.grouping)
    kept, read = (Collected.of(one, plan, domain) for one in (opened, replace(opened, keeps=False)))
    if sql == APART:
        mine, theirs = kept.staying(plan.single), read.relations(plan.single)
        assert [one.true_answer() for one in mine] == [one.true_answer() for one in theirs] == [1, 1, 0]
        return
    vectors, listed = (
        kept.staying_vectors(plan.single),
        clipped(read.contributions(plan.single), fast_programs),
    )
    assert any(vectors.true_answers())
    assert list(vectors.true_answers()) == list(listed.contributions.true_answers())
    for tau in (Fraction(1, 3), Fraction(5), Fraction(2**40)):
        assert list(clipped_kept(vectors).at(tau)) == list(listed.at(tau))


def test_rows_are_of_one_state(opened, server, name):
    """Somebody writes between two passes: what was kept is asked, not what is there now."""
    _, prepared = asked(opened, STAY[0])
    before = prepared.positive.truncated(2.0, 0.01)
    server.execute("INSERT INTO visit VALUES ('n1', 1991, 2, 99)", database=name)
    assert prepared.positive.truncated(2.0, 0.01) == before
    _, later = asked(opened, STAY[0])
    assert later.relation.true_answer() > prepared.relation.true_answer()
    server.execute("DELETE FROM visit WHERE paid = 99", database=name)


def test_nothing_is_left_behind(opened, server, name):
    rows, prepared = asked(opened, STAY[0])
    prepared.positive.truncated(1.0, 0.01)
    (pid,) = prepared.relation.positive.warehouse.read("SELECT pg_catalog.pg_backend_pid() AS p")[
        "p"
    ].to_pylist()
    there = f"SELECT COUNT(*)::int FROM pg_stat_activity WHERE pid = {pid}"
    assert server.answer(name, there) == 1
    del rows, prepared
    for _ in range(100):  # a server takes a moment to notice
        if server.answer(name, there) == 0:
            break
        time.sleep(0.1)
    assert server.answer(name, there) == 0


def test_what_fails_says_nothing_of_values(opened):
    warehouse, _ = opened.keep(["SELECT 1 AS x"])
    with pytest.raises(DatabaseError, match="could not run the query") as refused:
        warehouse.read("SELECT CAST('secret' AS int4) AS x")
    assert "secret" not in str(refused.value)
    with pytest.raises(DatabaseError, match="could not run the query"):
        ask_all(*opened.keep(["SELECT nothing"]))


def ask_all(warehouse, names):
    for name in names:
        warehouse.read(f"SELECT * FROM {name} AS t")


def test_without_memory_in_the_policy_rows_are_read(server, name):
    with open_engine(server.uri(name), replace(POLICY, engine=type(POLICY.engine)())) as engine:
        plan = compile_query(STAY[0], POLICY, engine.catalogue())
        assert Collected.of(engine, plan).kept is None
