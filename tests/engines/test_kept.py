"""Relations that stay in DuckDB: which do follows from plan and policy, and nobody sees it in an answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import duckdb
import numpy as np
import pyarrow
import pytest

from recuse.engines.collect import Collected, collect, collect_domain
from recuse.engines.duckdb import DuckDB
from recuse.engines.duckdb_kept import DuckDBWarehouse
from recuse.errors import DatabaseError
from recuse.mechanism.clipped import clipped, clipped_kept, clipping_grid
from recuse.mechanism.prepared import Prepared, prepare, prepare_kept, truncated_difference
from recuse.policy import EngineLimits, Policy
from recuse.solver import limits
from recuse.solver.fast import fast_programs
from recuse.sql.compile import compile_query
from recuse.sql.plan import Plan
from recuse.sql.sharing import Sharing

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
[[public]]
table = "year"
[engine]
memory = "200MB"
[sum]
granularity = 1
[budget]
epsilon = 10
""")
STAY = (
    "SELECT COUNT(*) FROM visit",
    "SELECT SUM(paid) FROM visit",
    "SELECT SUM(v.paid) FROM visit v JOIN club c ON v.club = c.id",
    "SELECT COUNT(*) FROM person",
    "SELECT COUNT(*) FROM friends x JOIN friends y ON x.b = y.a",
    "SELECT SUM(v.paid) FROM visit v JOIN friends f ON v.club = f.a WHERE f.b > 2",
)
APART = (
    "SELECT y.born, COUNT(*) FROM person p JOIN year y ON p.born = y.born GROUP BY y.born",
    "SELECT y.born, p.name = 'n1', COUNT(*) FROM person p JOIN year y ON p.born = y.born GROUP BY 1, 2",
    "SELECT id, COUNT(*) FROM club WHERE id IN (2, 3, 9) GROUP BY id",
)
"""nobody can touch two groups"""
VECTORS = (
    "SELECT day, COUNT(*) FROM stay WHERE day IN ('mon', 'tue', 'sun') GROUP BY day",
    "SELECT day, SUM(paid) FROM stay WHERE day IN ('mon', 'tue', 'sun') GROUP BY day",
    "SELECT day IS NULL, paid > 3, SUM(paid) FROM stay GROUP BY 1, 2",
)
"""every row has one owner"""
LEAVE = (
    "SELECT COUNT(DISTINCT paid) FROM visit",
    "SELECT MEDIAN(paid) FROM visit",
    "SELECT born, COUNT(*) FROM visit WHERE born IN (1990, 1991) GROUP BY born",
    "SELECT COUNT(*), COUNT(DISTINCT club) FROM visit",
)


DAYS = ("mon", "tue", "wed", None, "thu")


def tables() -> dict[str, pyarrow.Table]:
    random = np.random.default_rng(4)
    people = [(f"n{i % 5}", 1990 + i % 3) for i in range(15)]
    visits = [
        (*people[i], int(c), int(p))
        for i, c, p in zip(
            random.integers(0, 15, 60), random.integers(1, 8, 60), random.integers(-5, 9, 60), strict=True
        )
    ]
    name, born = zip(*people, strict=True)
    visitor, year, club, paid = zip(*visits, strict=True)
    return {
        "person": pyarrow.table({"name": name, "born": born}),
        "club": pyarrow.table({"id": range(1, 8)}),
        "visit": pyarrow.table(
            {"name": [*visitor, None], "born": [*year, 1990], "club": [*club, 3], "paid": [*paid, 7]}
        ),
        "friends": pyarrow.table({"a": random.integers(1, 8, 20), "b": random.integers(1, 8, 20)}),
        "year": pyarrow.table({"born": [1990, 1991]}),
        "stay": pyarrow.table(
            {
                "club": random.integers(1, 8, 80),
                "day": [DAYS[i] for i in random.integers(0, 5, 80)],
                "paid": random.integers(-5, 9, 80),
            }
        ),
    }


@pytest.fixture(scope="module")
def engine() -> Iterator[DuckDB]:
    with DuckDB.open(tables(), POLICY) as opened:
        yield opened


def asked(engine: DuckDB, sql: str) -> tuple[Collected, Prepared]:
    plan = compile_query(sql, POLICY, engine.catalogue())
    rows = Collected.of(engine, plan)
    kept = rows.staying(plan.single)
    assert kept is not None
    (relation,) = kept
    return rows, prepare_kept(relation)


def grouped(engine: DuckDB, sql: str) -> tuple[Plan, Collected, Collected]:
    """Return the plan of a question, its rows where they stay, and its rows as they are read."""
    plan = compile_query(sql, POLICY, engine.catalogue())
    domain = collect_domain(engine, plan.grouping)
    assert domain.keys
    found = Collected.of(engine, plan, domain), Collected.of(reading(engine), plan, domain)
    return plan, *found


def reading(engine: DuckDB) -> DuckDB:
    return replace(engine, limits=EngineLimits())


def left(engine: DuckDB) -> int:
    ((found,),) = engine.connection.execute(
        "SELECT COUNT(*) FROM duckdb_tables() WHERE table_name LIKE 'recuse kept%'"
    ).fetchall()
    return found


@pytest.mark.parametrize("sql", STAY)
def test_what_stays_is_answered_as_if_it_were_read(engine, sql):
    plan = compile_query(sql, POLICY, engine.catalogue())
    _, kept = asked(engine, sql)
    ((relation,),) = collect(reading(engine), plan)
    read = prepare(relation, fast_programs)
    assert kept.relation.true_answer() == relation.true_answer()
    assert kept.relation.signed == relation.signed
    assert len(kept.signs) == len(read.signs)
    for tau in (Fraction(1, 2), Fraction(2), Fraction(9)):
        one, other = (truncated_difference(found, tau, Fraction(1, 100)) for found in (kept, read))
        assert abs(one - other) <= 2 * tau / 100
        for mine, theirs in zip(kept.signs, read.signs, strict=True):
            assert mine.largest_load() == theirs.largest_load()
            found, wanted = (part.strict_withdrawals(float(tau), 0.01) for part in (mine, theirs))
            assert found.low <= wanted.high
            assert wanted.low <= found.high


@pytest.mark.parametrize("sql", APART)
def test_groups_that_stay_are_answered_as_if_they_were_read(engine, sql):
    plan, kept, read = grouped(engine, sql)
    assert plan.single.sharing is Sharing.SIDE_BY_SIDE
    mine, theirs = kept.staying(plan.single), read.relations(plan.single)
    assert mine is not None
    assert [one.true_answer() for one in mine] == [one.true_answer() for one in theirs]
    assert len(mine) > 1
    for one, other in zip(mine, theirs, strict=True):
        found, wanted = prepare_kept(one), prepare(other, fast_programs)
        for tau in (Fraction(1, 2), Fraction(2)):
            pair = (truncated_difference(part, tau, Fraction(1, 100)) for part in (found, wanted))
            assert abs(next(pair) - next(pair)) <= 2 * tau / 100


@pytest.mark.parametrize("sql", VECTORS)
def test_vectors_that_stay_are_those_that_are_read(engine, sql):
    plan, kept, read = grouped(engine, sql)
    assert plan.single.sharing is Sharing.ONE_OWNER
    vectors, listed = (
        kept.staying_vectors(plan.single),
        clipped(read.contributions(plan.single), fast_programs),
    )
    assert vectors is not None
    found = clipped_kept(vectors)
    assert list(vectors.true_answers()) == list(listed.contributions.true_answers())
    assert any(vectors.true_answers())
    assert list(found.constants) == list(listed.constants)
    assert vectors.signed == listed.contributions.signed
    for tau in (Fraction(1, 3), Fraction(5), Fraction(21, 2), Fraction(2**40)):
        assert list(found.at(tau)) == list(listed.at(tau))
        assert list(vectors._listed(tau, *clipping_grid(tau))) == list(listed.at(tau))
        ((mine,), (theirs,)) = found.signs, listed.signs
        assert mine.largest_load() == theirs.largest_load()
        assert mine.strict_withdrawals(float(tau), 0.01) == theirs.strict_withdrawals(float(tau), 0.01)


@pytest.mark.parametrize("sql", STAY)
def test_rows_that_are_kept_apart_add_up_to_those_that_are_read(engine, sql):
    plan = compile_query(sql, POLICY, engine.catalogue())
    (table,) = plan.single.tables
    several = len(table.owners) > 1 and "friends" not in sql  # a club has many of them
    assert (table.loose is not None) == several
    owners = ", ".join(column for owner in table.owners for column in owner.columns)
    summed, loose = (
        engine.connection.sql(
            f"SELECT {owners}, weight > 0, SUM(weight) FROM ({text}) AS t GROUP BY ALL ORDER BY ALL"
        ).fetchall()
        for text in (table.sql, table.loose or table.sql)
    )
    assert summed == loose


@pytest.mark.parametrize("sql", LEAVE)
def test_what_cannot_stay_is_read(engine, sql):
    plan = compile_query(sql, POLICY, engine.catalogue())
    assert Collected.of(engine, plan, collect_domain(engine, plan.grouping)).kept is None


def test_many_groups_that_are_asked_one_by_one_are_read(engine, monkeypatch):
    monkeypatch.setattr(limits, "MOST_KEPT_GROUPS", 2)
    assert grouped(engine, APART[0])[1].kept is not None
    assert grouped(engine, APART[1])[1].kept is None
    assert grouped(engine, VECTORS[0])[1].kept is not None


def test_whether_rows_stay_follows_from_the_policy(engine):
    plan = compile_query(STAY[0], POLICY, engine.catalogue())
    assert Collected.of(engine, plan).kept is not None
    assert Collected.of(reading(engine), plan).kept is None


def test_tables_are_gone_when_nobody_needs_them(engine):
    before = left(engine)
    rows, prepared = asked(engine, STAY[3])
    prepared.positive.truncated(1.0, 0.01)
    assert left(engine) > before
    del rows, prepared
    assert left(engine) == before


def test_rows_are_of_one_state(tmp_path):
    """Somebody writes between two passes: what was kept is asked, not what is there now."""
    database = duckdb.connect(str(tmp_path / "x.db"))
    for name, table in tables().items():
        database.register("frame", table)
        database.execute(f"CREATE TABLE {name} AS SELECT * FROM frame")
        database.unregister("frame")
    engine = replace(DuckDB.open(database, POLICY), limits=POLICY.engine)
    _, prepared = asked(engine, STAY[0])
    before = prepared.positive.truncated(2.0, 0.01)
    database.execute("INSERT INTO visit SELECT * FROM visit")
    assert prepared.positive.truncated(2.0, 0.01) == before
    engine.close()


def test_what_fails_says_nothing_of_values():
    warehouse = DuckDBWarehouse(duckdb.connect())
    for ask in (warehouse.read, warehouse.keep):
        with pytest.raises(DatabaseError, match="could not run the query") as refused:
            ask("SELECT CAST('secret' AS INTEGER) AS x")
        assert "secret" not in str(refused.value)
    with pytest.raises(duckdb.Error):
        warehouse.kept(["SELECT 1 AS x", "SELECT nothing"])
    assert warehouse.tables == []
