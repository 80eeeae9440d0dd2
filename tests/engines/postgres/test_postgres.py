"""What is PostgreSQL's alone: schemas, roles, constraints, refusals, snapshots, lost connections, secrets."""

from __future__ import annotations

import shutil
import subprocess
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pyarrow
import pytest

from engines.conformance import POLICY, TABLES, count, relation_of
from recuse import connect
from recuse.engines.open import open_engine
from recuse.engines.postgres import Postgres
from recuse.engines.postgres_place import PostgresPlace
from recuse.errors import DatabaseError, LedgerError, PolicyError, QueryError, UnansweredError
from recuse.krelation.build import without
from recuse.policy import Policy
from recuse.sql.catalogue import Table
from recuse.sql.compile import compile_query
from support.canonical import as_set
from support.postgres import Server, started

pytestmark = pytest.mark.engine

RULES = """
[[protect]]
table = "person"
key = ["id"]
[[link]]
table = "visit"
column = ["person"]
to = "person"
[budget]
epsilon = 100
"""
PEOPLE = Policy.parse(RULES)
PERSONS = Policy.parse('[[protect]]\ntable = "person"\nkey = ["id"]')
MADE = (
    "CREATE TABLE person (id integer PRIMARY KEY, name text)",
    "CREATE TABLE visit "
    "(id integer PRIMARY KEY, person integer REFERENCES person, day date, cost numeric(9, 2))",
    "INSERT INTO person SELECT i, 'p' || i FROM generate_series(1, 20) i",
    "INSERT INTO visit SELECT i, 1 + i % 20, DATE '2024-01-01' + i, i FROM generate_series(1, 100) i",
)


def table(engine: Postgres, name: str) -> Table:
    found = engine.catalogue().table(name)
    assert found is not None
    return found


def test_the_first_schema_of_the_search_path_that_has_a_table_is_meant(server: Server):
    name = server.database(
        "CREATE SCHEMA one", "CREATE SCHEMA two",
        "CREATE TABLE one.person (id integer)", "CREATE TABLE two.person (id integer)",
        "CREATE TABLE two.visit (id integer, person integer)", "INSERT INTO one.person VALUES (1), (2)",
    )  # fmt: skip
    with open_engine(server.uri(name, more="&options=-c%20search_path%3Done,two"), PEOPLE) as engine:
        assert table(engine, "person").path == ("one", "person")
        assert table(engine, "visit").path == ("two", "visit")
        assert relation_of(engine, "SELECT COUNT(*) FROM person", PEOPLE).true_answer() == 2
        assert relation_of(engine, "SELECT COUNT(*) FROM one.person", PEOPLE).true_answer() == 2
        with pytest.raises(QueryError, match="no such schema"):
            relation_of(engine, "SELECT COUNT(*) FROM two.person", PEOPLE)


LEFT_OUT = {
    "secured": ("row-level security",
                "ALTER TABLE visit RENAME TO secured", "ALTER TABLE secured ENABLE ROW LEVEL SECURITY"),
    "copy": ("materialized view", "CREATE MATERIALIZED VIEW copy AS SELECT * FROM visit"),
    "child": ("inherits", "CREATE TABLE child () INHERITS (visit)"),
    "visit": ("inherits", "CREATE TABLE child () INHERITS (visit)"),
    "part": ("part of a partitioned table", "CREATE TABLE whole (id integer) PARTITION BY RANGE (id)",
             "CREATE TABLE part PARTITION OF whole FOR VALUES FROM (0) TO (9)"),
    "afar": ("foreign table", "CREATE FOREIGN DATA WRAPPER w", "CREATE SERVER s FOREIGN DATA WRAPPER w",
             "CREATE FOREIGN TABLE afar (id integer) SERVER s"),
    "Twin": ("capitals only", 'CREATE TABLE "Twin" (id integer)', "CREATE TABLE twin (id integer)"),
    "odd": ("capitals only", 'CREATE TABLE odd (id integer, "ID" integer)'),
}  # fmt: skip


@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_hides_copies_or_computes_rows_is_refused_by_its_reason(server: Server, name: str):
    why, *statements = LEFT_OUT[name]
    with open_engine(server.uri(server.database(*MADE, *statements)), PERSONS) as engine:
        catalogue = engine.catalogue()
    with pytest.raises(QueryError, match=f"is not read: .*{why}"):
        compile_query(f'SELECT COUNT(*) FROM "{name}"', PERSONS, catalogue)
    named = Policy.parse(f'[[protect]]\ntable = "{name}"\nkey = ["id"]')
    with pytest.raises(PolicyError, match=f"is not read: .*{why}"):
        compile_query("SELECT COUNT(*) FROM person", named, catalogue)
    compile_query("SELECT COUNT(*) FROM person", PERSONS, catalogue)  # "ask another table"


def test_only_constraints_that_hold_now_are_believed(server: Server):
    name = server.database(
        *MADE,
        "CREATE TABLE other "
        "(id integer UNIQUE DEFERRABLE, a integer UNIQUE, b integer, c integer CHECK (c >= 0))",
        "ALTER TABLE other ADD FOREIGN KEY (a) REFERENCES person NOT VALID",
        "ALTER TABLE other ADD FOREIGN KEY (b) REFERENCES person",
        "ALTER TABLE other ADD CHECK (a >= 0) NOT VALID",
    )
    with open_engine(server.uri(name), PEOPLE) as engine:
        found = table(engine, "other")
    assert found.keys == (("a",),)
    assert [key.columns for key in found.foreign_keys] == [("b",)]
    assert [column.name for column in found.columns if column.nonnegative] == ["c"]


def test_partitions_domains_enums_and_generated_columns_are_read(server: Server):
    name = server.database(
        *MADE[:1], "INSERT INTO person VALUES (1, 'a'), (2, 'b')",
        "CREATE DOMAIN money2 AS numeric(9, 2)", "CREATE DOMAIN price AS money2 CHECK (VALUE > 0)",
        "CREATE TYPE mood AS ENUM ('sad', 'it''s ok')",
        "CREATE TABLE visit (person integer REFERENCES person, day date, cost price, m mood, "
        "twice numeric(9, 2) GENERATED ALWAYS AS (cost * 2) STORED) PARTITION BY RANGE (day)",
        "CREATE TABLE early PARTITION OF visit FOR VALUES FROM ('2020-01-01') TO ('2021-01-01')",
        "CREATE TABLE late PARTITION OF visit FOR VALUES FROM ('2021-01-01') TO ('2022-01-01')",
        "INSERT INTO visit VALUES (1, '2020-05-01', 1.5, 'sad'), (2, '2021-05-01', 2, 'it''s ok')",
    )  # fmt: skip
    with open_engine(server.uri(name), PEOPLE) as engine:
        types = {column.name: column.type for column in table(engine, "visit").columns}
        assert types["cost"] == "NUMERIC(9,2)"
        assert types["m"] == "ENUM('sad', 'it''s ok')"
        rules = Policy.parse(RULES + "[sum]\ngranularity = 0.01")
        assert relation_of(engine, "SELECT SUM(cost) FROM visit", rules).true_answer() == 350
        assert relation_of(engine, "SELECT SUM(twice) FROM visit", rules).true_answer() == 700
        assert (
            relation_of(engine, "SELECT COUNT(*) FROM visit WHERE m = 'it''s ok'", rules).true_answer() == 1
        )


def test_types_that_are_not_understood_are_only_asked_for_null(server: Server):
    odd = (
        "numeric",
        "jsonb",
        "interval",
        "integer[]",
        "inet",
        'text COLLATE "POSIX"',
        "numeric(50, 2)",
        "bytea",
        "money",
    )
    name = server.database(*MADE, *(f"ALTER TABLE visit ADD c{n} {kind}" for n, kind in enumerate(odd)))
    with open_engine(server.uri(name), PEOPLE) as engine:
        for n in range(len(odd)):
            assert (
                relation_of(engine, f"SELECT COUNT(*) FROM visit WHERE c{n} IS NULL", PEOPLE).true_answer()
                == 100
            )
            with pytest.raises(QueryError, match=r"not compared|cannot become|needed"):
                relation_of(engine, f"SELECT COUNT(*) FROM visit WHERE c{n} = c{n}", PEOPLE)


def test_a_view_is_read_as_its_query(server: Server):
    name = server.database(
        *MADE,
        "CREATE VIEW chosen AS SELECT v.person, v.cost FROM visit v JOIN person p ON p.id = v.person "
        "WHERE p.name IN ('p1', 'p2') AND v.cost IS NOT NULL",
    )
    with open_engine(server.uri(name), PEOPLE) as engine:
        assert relation_of(engine, "SELECT COUNT(*) FROM chosen", PEOPLE).true_answer() == 10


def test_a_role_that_may_only_select_is_enough_and_sees_what_it_may(server: Server):
    name = server.database(
        *MADE,
        "DO $$ BEGIN CREATE ROLE reader LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$",
        "GRANT SELECT ON person TO reader", "GRANT SELECT (id, person) ON visit TO reader",
        "ALTER ROLE reader SET statement_timeout = '9s'",
    )  # fmt: skip
    server.execute(f"REVOKE TEMP ON DATABASE {name} FROM PUBLIC", database=name)
    with open_engine(server.uri(name, user="reader"), PEOPLE) as engine:
        assert [column.name for column in table(engine, "visit").columns] == ["id", "person"]
        (found,) = engine.run(["SELECT current_setting('statement_timeout') AS t"])
        assert found["t"].to_pylist() == ["0"], "how long a question takes hangs on the rows"
        assert relation_of(engine, "SELECT COUNT(*) FROM visit", PEOPLE).true_answer() == 100


def test_functions_and_operators_of_the_database_shadow_nothing(server: Server):
    name = server.database(
        *MADE,
        "CREATE FUNCTION public.abs(bigint) RETURNS bigint LANGUAGE sql AS 'SELECT 666::bigint'",
        "CREATE FUNCTION public.wrong(integer, bigint) RETURNS boolean LANGUAGE sql AS 'SELECT true'",
        "CREATE OPERATOR public.= (LEFTARG = integer, RIGHTARG = bigint, FUNCTION = public.wrong)",
    )
    with open_engine(server.uri(name), PEOPLE) as engine:
        assert relation_of(engine, "SELECT COUNT(*) FROM visit WHERE abs(id) = 7", PEOPLE).true_answer() == 1


@pytest.mark.parametrize(
    ("statement", "problem"),
    [("CREATE CAST (text AS xid8) WITH INOUT", "casts of its own"), ("", "not UTF8")],
)
def test_a_database_that_means_otherwise_is_not_opened(server: Server, statement: str, problem: str):
    name = server.database(statement or "SELECT 1")
    if not statement:
        name = f"{name}_ascii"
        server.execute(
            f"CREATE DATABASE {name} ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
        )
    with pytest.raises(DatabaseError, match=problem):
        open_engine(server.uri(name), PEOPLE)


def test_a_writer_changes_nothing_between_two_statements(server: Server):
    name, stop = server.database(*MADE), threading.Event()

    def write() -> None:
        with server.connection(name) as cursor:
            while not stop.is_set():
                cursor.execute("INSERT INTO visit SELECT max(id) + 1, 1 FROM visit")

    with open_engine(server.uri(name), PEOPLE) as engine:
        thread = threading.Thread(target=write)
        thread.start()
        try:
            statement = count(engine, "visit")
            seen: list[list[int]] = []
            while len(seen) < 20 or (len(seen) < 2000 and len({run[0] for run in seen}) == 1):
                seen.append([found["n"][0].as_py() for found in engine.run([statement] * 5)])
        finally:
            stop.set()
            thread.join()
    assert all(len(set(run)) == 1 for run in seen)
    assert len({run[0] for run in seen}) > 1, "somebody wrote meanwhile"


def test_a_connection_that_is_killed_after_the_charge_gives_the_one_outward_form(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    name = server.database(*MADE)
    run, kills = Postgres.run, ["now"]

    def killed(self: Postgres, statements: list[str]) -> list[pyarrow.Table]:
        if kills:
            kills.pop()
            server.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
        return run(self, statements)

    with connect(server.uri(name), PEOPLE, tmp_path / "ledger") as session:
        monkeypatch.setattr(Postgres, "run", killed)
        with pytest.raises(UnansweredError) as error:
            session.ask("SELECT COUNT(*) FROM visit", 1)
        assert error.value.__cause__ is None
        assert session.ledger.balance().spent == 1
        other = session.ask("SELECT COUNT(*) FROM person", 50)  # on a connection made anew
        assert abs(other.value - 20) < 5


SECRET = "hunter2"


def test_a_password_is_never_shown(server: Server, tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    name = server.database(*MADE)
    uri = server.uri(name).replace("postgres@", f"postgres:{SECRET}@")
    told: list[str] = []
    with connect(uri, PEOPLE, tmp_path / "ledger") as session:
        told += [
            repr(session),
            str(session.place),
            repr(session.engine),
            str(session.ask("SELECT COUNT(*) FROM visit", 1)),
        ]
        told.append(str(session.explain("SELECT COUNT(*) FROM visit")))
        with suppress(QueryError):
            session.ask("SELECT nothing FROM nowhere", 1)
    for wrong in (uri.replace(name, "nowhere"), f"postgresql://ann:{SECRET}@127.0.0.1:1/x", f"postgresql://ann:{SECRET}/x@h/d",
                  f"postgresql:/ann:{SECRET}@h/d", f"mysql://ann:{SECRET}@h/d"):  # fmt: skip
        with pytest.raises(DatabaseError) as error:
            connect(wrong, PEOPLE, tmp_path / "other")
        told += [str(error.value), repr(error.value), repr(error.value.__cause__)]
    told += capfd.readouterr()
    assert not [text for text in told if SECRET in text]
    assert str(PostgresPlace(uri)) in told[1]
    kept = [path.read_bytes() for path in tmp_path.iterdir()]
    assert kept
    assert not [found for found in kept if SECRET.encode() in found]


def test_the_ledger_lies_beside_the_policy_file_under_the_name_of_the_database(
    server: Server, tmp_path: Path
):
    name = server.database(*MADE)
    with pytest.raises(LedgerError, match="no ledger beside it"):
        connect(server.uri(name), PEOPLE)
    (tmp_path / "shop.toml").write_text(RULES)
    with connect(server.uri(name), tmp_path / "shop.toml") as session:
        session.ask("SELECT COUNT(*) FROM visit", 1)
    assert (tmp_path / f"{name}.ledger").exists()


QUESTIONS = (
    "SELECT COUNT(*) FROM orders o JOIN customer c ON o.customer = c.id",
    "SELECT SUM(total) FROM orders",
    "SELECT COUNT(DISTINCT x.customer + y.customer) FROM orders x, orders y WHERE x.id < y.id",
    "SELECT COUNT(*) FROM customer c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.total > c.id)",
    "SELECT COUNT(*) FROM customer c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id + 1)",
    "SELECT COUNT(*) FROM (SELECT name FROM customer UNION SELECT 'x' FROM orders) u",
    "SELECT COUNT(*) FROM customer a LEFT JOIN orders o ON o.customer = a.id WHERE o.id IS NULL",
    "SELECT COUNT(*) FROM customer c WHERE (SELECT COUNT(*) FROM orders o WHERE o.customer = c.id) >= 2",
)


UNWRITTEN = {
    "SELECT COUNT(*) FROM person p WHERE (SELECT cost FROM visit v WHERE v.person = p.id) > 2": (
        "one value of several rows"
    ),
    "SELECT COUNT(*) FROM (SELECT person, percentile_disc(0.5) WITHIN GROUP (ORDER BY cost) AS m FROM visit"
    " GROUP BY person) t WHERE m > 2": "PostgreSQL",
}


@pytest.mark.parametrize("text", UNWRITTEN)
def test_what_has_no_form_in_postgresql_is_refused(server: Server, text: str):
    with (
        open_engine(server.uri(server.database(*MADE)), PEOPLE) as engine,
        pytest.raises(QueryError, match=UNWRITTEN[text]),
    ):
        compile_query(text, PEOPLE, engine.catalogue())


def leaving(tables: Mapping[str, pyarrow.Table], customer: int) -> Mapping[str, pyarrow.Table]:
    found = tables["customer"]
    stays = pyarrow.array([value != customer for value in found["id"].to_pylist()])
    return {**tables, "customer": found.filter(stays)}


@pytest.mark.parametrize("text", QUESTIONS)
def test_a_withdrawal_takes_what_names_the_participant_and_nothing_else(server: Server, text: str):
    """The neighbour law, and that DuckDB has the very same relation."""
    with (
        open_engine(server.uri(server.holding(TABLES)), POLICY) as engine,
        open_engine(dict(TABLES), POLICY) as other,
    ):
        whole = relation_of(engine, text)
        assert as_set(whole) == as_set(relation_of(other, text))
    for name in whole.names:
        with open_engine(server.uri(server.holding(leaving(TABLES, name[1]))), POLICY) as engine:
            assert as_set(relation_of(engine, text)) == as_set(without(whole, name))


def test_a_standby_is_asked_like_any_other(server: Server):
    name = server.database(*MADE)
    copy = Path(str(server.folder) + "-standby")
    copy.mkdir(mode=0o700)
    options = {} if server.user is None else {"user": server.user}
    if server.user is not None:
        shutil.chown(copy, server.user)
    backup = [
        server.bin / "pg_basebackup",
        "-h",
        server.folder,
        "-U",
        "postgres",
        "-D",
        copy / "data",
        "-R",
        "-c",
        "fast",
    ]
    if not backup[0].exists():
        pytest.skip("no pg_basebackup")
    subprocess.run(backup, check=True, capture_output=True, cwd=copy, **options)
    standby = started(copy)
    try:
        with standby.connection(name) as cursor:
            cursor.execute("SELECT pg_is_in_recovery()")
            assert cursor.fetchall() == [(True,)]
        with open_engine(standby.uri(name), PEOPLE) as engine:
            assert relation_of(engine, "SELECT COUNT(*) FROM visit", PEOPLE).true_answer() == 100
    finally:
        standby.stop()
