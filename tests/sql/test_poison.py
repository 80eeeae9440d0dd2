"""One poisoned row for each class of error: nothing raises, and the row alone is lost."""

from __future__ import annotations

import contextlib

import duckdb
import pytest

from recuse.engines.binding import check_plan
from recuse.engines.collect import collect
from recuse.engines.duckdb import DuckDB
from recuse.errors import QueryError
from recuse.policy import Policy, Public
from recuse.sql.catalogue import Catalogue
from recuse.sql.compile import compile_query
from recuse.sql.plan import Plan
from support.policies import about_people
from support.profiles import some
from support.sql.poison import COLUMNS, POISON

POLICY = about_people(("t", "id"), ("u", "id"))


def engine(poisoned: dict[str, object], harmless: dict[str, object]) -> DuckDB:
    """Return a database of 5,000 harmless rows around one poisoned one, owned by 7."""
    connection = duckdb.connect(":memory:", config={"threads": 1})
    types = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
    connection.execute(f"CREATE TABLE t (id INTEGER, {types})")
    connection.execute("CREATE TABLE u (id INTEGER, one INTEGER)")
    for count, owner, values in ((2_500, 1, harmless), (1, 7, poisoned), (2_500, 1, harmless)):
        names = ", ".join(values)
        marks = ", ".join("?" for _ in values)
        connection.execute(
            f"INSERT INTO t (id, {names}) SELECT {owner}, {marks} FROM range({count})", list(values.values())
        )
    connection.execute("INSERT INTO u VALUES (1, 1)")
    return DuckDB.open(connection)


def answer(engine: DuckDB, text: str, catalogue: Catalogue | None = None) -> tuple[int, set[object]]:
    plan = compile_query(text, POLICY, catalogue or engine.catalogue())
    ((relation,),) = collect(engine, plan)
    return relation.true_answer(), set(relation.names)


@pytest.mark.parametrize("name", some([*POISON], 0.4))
def test_a_poisoned_row_raises_nowhere_and_is_lost_alone(name):
    expression, poisoned, harmless = POISON[name]
    with contextlib.closing(engine(poisoned, harmless)) as database:
        catalogue, owners = database.catalogue(), {("person", 1)}

        def told(text: str) -> tuple[int, set[object]]:
            return answer(database, text, catalogue)

        for where in ("WHERE", "JOIN u ON"):
            assert told(f"SELECT COUNT(*) FROM t {where} ({expression}) = 1") == (5_000, owners)
        assert told(f"SELECT SUM({expression}) FROM t") == (5_000, owners)
        # an error in a row that WHERE drops does not matter, wherever the engine evaluates it
        assert told(f"SELECT SUM({expression}) FROM t WHERE t.id <> 7")[0] == 5_000
        assert told(f"SELECT COUNT(*) FROM t WHERE ({expression}) = 1 OR t.id = 7")[0] == 5_001
        assert told(f"SELECT COUNT(*) FROM t JOIN u ON t.id = u.id AND ({expression}) = u.one")[0] == 5_000


def test_plain_duckdb_does_raise_on_the_poison():
    """As written most of these rows raise: the test above can fail."""
    raised = 0
    for expression, poisoned, harmless in POISON.values():
        with contextlib.closing(engine(poisoned, harmless)) as database:
            try:
                database.connection.sql(f"SELECT count({expression}) FROM memory.main.t").fetchall()
            except duckdb.Error:
                raised += 1
    assert raised > len(POISON) / 2


def test_what_would_overflow_is_computed_exactly():
    with contextlib.closing(engine({"b": 2**63 - 1, "i": 2**31 - 1}, {"b": 0, "i": 0})) as database:
        for expression in ("b + 9223372036854775807 = 18446744073709551614", "i * i = 4611686014132420609"):
            assert answer(database, f"SELECT COUNT(*) FROM t WHERE {expression}") == (1, {("person", 7)})


@pytest.mark.parametrize(
    ("value", "weight"),
    [
        ("'nan'::DOUBLE", 0),
        ("'inf'::DOUBLE", 0),
        ("'-inf'::DOUBLE", 0),
        ("1e300", 0),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775807", -(2**63 - 1)),
        ("-9223372036854775807 - 1", 0),
        ("9223372036854775808", 0),
        ("NULL::BIGINT", 0),
        ("0.4", 0),
        ("0.6", 1),
        ("-1.5", -2),
    ],
)
def test_weights_are_granules_of_at_most_64_bits(value, weight):
    with contextlib.closing(DuckDB.open(duckdb.connect())) as database:
        database.connection.execute(
            f"CREATE TABLE memory.main.t AS SELECT 1 AS id, {value} AS x FROM range(3)"
        )
        database.connection.execute("CREATE TABLE memory.main.u (id INTEGER)")
        assert answer(database, "SELECT SUM(x) FROM t")[0] == 3 * weight


def test_scaling_by_the_granularity_overflows_no_narrow_column():
    policy = Policy(POLICY.protect, POLICY.links[:1], granularity=POLICY.granularity / 100)
    with contextlib.closing(DuckDB.open(duckdb.connect())) as database:
        database.connection.execute("CREATE TABLE memory.main.t (id INTEGER, x INTEGER)")
        database.connection.execute("INSERT INTO memory.main.t VALUES (1, 2147483647)")
        ((relation,),) = collect(
            database, compile_query("SELECT SUM(x) FROM t", policy, database.catalogue())
        )
        assert relation.true_answer() == 214748364700


PLACES = [
    "SELECT COUNT(*) FROM t WHERE EXISTS (SELECT 1 FROM u WHERE ({}) = u.one)",
    "SELECT COUNT(*) FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.one = 1 AND ({}) = 1 AND t.id = u.id)",
    "SELECT COUNT(*) FROM t WHERE id IN (SELECT id FROM u) AND ({}) = 1",
    "SELECT COUNT(*) FROM (SELECT ({}) AS x, id FROM t) s WHERE x = 1",
    "SELECT COUNT({}) FROM t WHERE ({}) = 1",
    "SELECT COUNT(*) FILTER (WHERE ({}) = 1) FROM t",
    "SELECT COUNT(*) FROM t LEFT JOIN p ON ({}) = p.one AND p.one = 2 WHERE t.id = 1",
    "SELECT COUNT(*) FROM t WHERE t.id = 1 AND NOT EXISTS (SELECT 1 FROM p WHERE ({}) <> p.one)",
    "SELECT COUNT(*) FROM t WHERE t.id <> 7 AND 1 = (SELECT COUNT(*) FROM p WHERE ({}) = p.one)",
    "SELECT COUNT(*) FROM t WHERE t.id <> 7 AND 1 >= (SELECT MAX(p.one) FROM p WHERE ({}) = p.one)",
    "SELECT SUM(CASE WHEN EXISTS (SELECT 1 FROM p WHERE ({}) = p.one) THEN 1 END) FROM t WHERE ({}) = 1",
    "SELECT COUNT(*) FROM (SELECT id, ({}) AS x FROM t UNION ALL SELECT id, ({}) FROM t WHERE id = 9) s "
    "WHERE x = 1",
]
SETS = [
    "SELECT COUNT(*) FROM (SELECT DISTINCT ({}) AS x FROM t) s WHERE x IS NOT NULL",
    "SELECT COUNT(DISTINCT {}) FROM t",
]


def understood(text: str, policy: Policy, database: DuckDB, catalogue: Catalogue) -> Plan | None:
    """Return the plan, or None where a set of values of unknown type is refused."""
    try:
        plan = compile_query(text, policy, catalogue)
    except QueryError as error:
        if "equal" in error.problem or "not known" in error.problem:
            return None
        raise
    check_plan(plan, database)
    return plan


@pytest.mark.parametrize("name", some([*POISON], 0.4))
def test_a_poisoned_row_raises_nowhere_in_subqueries_and_sets(name):
    expression, poisoned, harmless = POISON[name]
    policy = Policy(protect=POLICY.protect, links=POLICY.links, public=(Public("p"),))
    with contextlib.closing(engine(poisoned, harmless)) as database:
        database.connection.execute("CREATE TABLE memory.main.p AS SELECT 1 AS one")
        catalogue = database.catalogue()
        expected = {**dict.fromkeys(PLACES, (5_000,)), **dict.fromkeys(SETS, (1, 2))}  # NaN is a value
        for text, answers in expected.items():
            plan = understood(text.replace("{}", expression), policy, database, catalogue)
            if plan is not None:
                ((relation,),) = collect(database, plan)
                assert relation.true_answer() in answers, text
