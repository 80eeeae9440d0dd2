"""DuckDB's own: pandas, hardening, what cannot be opened, CSV; what all engines promise is `conformance`."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

from recuse.engines.binding import check_plan
from recuse.engines.collect import collect
from recuse.engines.duckdb import DuckDB
from recuse.errors import DatabaseError, PolicyError, QueryError
from recuse.krelation.relation import KRelation
from recuse.policy import Policy
from recuse.sql.compile import compile_query
from recuse.sql.plan import Plan
from support.profiles import some

POLICY = Policy.parse("""
[[protect]]
table = "customer"
key = ["id"]

[[link]]
table = "orders"
column = ["customer"]
to = "customer"

[columns.customer]
id = "BIGINT"

[columns.orders]
id = "BIGINT"
customer = "BIGINT"
total = "DECIMAL(9, 2)"
day = "DATE"

[sum]
granularity = 0.01
""")

CUSTOMER = {"id": [1, 2, 3], "name": ["ann", "bob", None]}
ORDERS = {
    "id": [10, 11, 12, 13],
    "customer": [1, 1, 2, 9],
    "total": [1.5, 2.25, -1.0, 100.0],
    "day": [datetime.date(2020, 1, 1), None, datetime.date(2021, 1, 1), None],
}
FRAMES = {"customer": CUSTOMER, "orders": ORDERS}
TABLES = {name: pyarrow.table(columns) for name, columns in FRAMES.items()}

MAKERS = {
    "pandas": lambda _: {name: pandas.DataFrame(columns) for name, columns in FRAMES.items()},
    "polars": lambda _: {name: polars.DataFrame(columns) for name, columns in FRAMES.items()},
    "arrow": lambda _: TABLES,
    "connection": lambda _: connection(":memory:"),
    "file": lambda folder: file(folder),
    "parquet": lambda folder: parquet(folder),
    "csv": lambda folder: csv(folder),
}


def connection(path: str) -> duckdb.DuckDBPyConnection:
    made = duckdb.connect(path)
    for name, table in TABLES.items():
        made.register("frame", table)
        made.execute(f"CREATE TABLE {name} AS SELECT * FROM frame")
        made.unregister("frame")
    return made


def file(folder: Path) -> Path:
    connection(str(folder / "shop.db")).close()
    return folder / "shop.db"


def parquet(folder: Path) -> Path:
    for name, table in TABLES.items():
        pyarrow.parquet.write_table(table, folder / f"{name}.parquet")
    return folder


def csv(folder: Path) -> Path:
    for name, columns in FRAMES.items():
        pandas.DataFrame(columns).to_csv(folder / f"{name}.csv", index=False)
    return folder


@pytest.fixture(params=MAKERS)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[DuckDB]:
    with DuckDB.open(MAKERS[request.param](tmp_path), POLICY) as opened:
        yield opened


def compiled(engine: DuckDB, text: str, policy: Policy = POLICY) -> Plan:
    query = compile_query(text, policy, engine.catalogue())
    check_plan(query, engine)
    return query


def relation_of(engine: DuckDB, plan: Plan) -> KRelation:
    ((relation,),) = collect(engine, plan)
    return relation


# ------------------------------------------------------------------ conformance: every source alike


def test_every_source_gives_the_same_relation(engine):
    relation = relation_of(
        engine, compiled(engine, "SELECT SUM(total) FROM orders WHERE id < 13 OR id IS NULL")
    )
    assert relation.true_answer() == 275
    assert set(relation.names) == {("customer", 1), ("customer", 2)}
    assert relation.signed
    count = relation_of(
        engine, compiled(engine, "SELECT COUNT(*) FROM orders o JOIN customer c ON o.customer = c.id")
    )
    assert (count.true_answer(), count.signed) == (3, False)
    dated = compiled(engine, "SELECT COUNT(*) FROM orders WHERE day >= DATE '2020-06-01'")
    assert relation_of(engine, dated).true_answer() == 1


def test_what_has_no_type_is_refused_before_the_engine_sees_it(engine):
    with pytest.raises(QueryError, match="this is text, and a sum needs numbers") as error:
        compile_query("SELECT SUM(name) FROM customer", POLICY, engine.catalogue())
    assert "\n" not in str(error.value)
    assert error.value.hint


MISTYPED = {
    "SELECT COUNT(*) FROM orders WHERE lower(id) = 'x'": "id",
    "SELECT SUM(name) FROM customer": "name",
    "SELECT COUNT(*)\nFROM orders WHERE id IN (SELECT id FROM customer WHERE upper(id) = '')": "id",
    "SELECT COUNT(*) FROM (SELECT DISTINCT lower(id) AS x FROM orders) t": "id",
    "SELECT COUNT(*) FROM (SELECT lower(id) AS x FROM orders) t WHERE x = 'a'": "id",
    # constants that cannot be what they must be
    "SELECT COUNT(*) FROM orders WHERE day < '2000-13-01'": "'2000-13-01'",
    "SELECT COUNT(*) FROM orders WHERE day BETWEEN '2000-01-01' AND 'x'": "'x'",
    "SELECT COUNT(*) FROM orders WHERE id IN ('1', 'one')": "'one'",
    "SELECT COUNT(*) FROM orders WHERE day < DATE '2000-02-30'": "'2000-02-30'",
    "SELECT COUNT(*) FROM orders WHERE id = CAST(300 AS TINYINT)": "300",
    "SELECT COUNT(*) FROM orders WHERE day < DATE '2000-01-01' + INTERVAL 'x' DAY": "'x'",
    "SELECT COUNT(*) FROM customer WHERE id IN (SELECT customer FROM orders WHERE day = 'x')": "'x'",
}


@pytest.mark.parametrize("text", MISTYPED)
def test_what_the_engine_refuses_is_pointed_at_before_anything_is_read(text, tmp_path, monkeypatch):
    def nothing(*_):
        raise AssertionError("a statement was executed")

    monkeypatch.setattr(DuckDB, "run", nothing)
    with DuckDB.open(file(tmp_path), POLICY) as database, pytest.raises(QueryError) as caught:
        check_plan(compile_query(text, POLICY, database.catalogue()), database)
    error = caught.value
    assert error.found == MISTYPED[text]
    assert text.splitlines()[error.line - 1][error.column - 1 :].startswith(error.found)
    assert error.hint


def test_constants_that_fit_are_accepted(engine):
    for condition in ("day < '2000-02-29'", "id IN ('1', '2')", "TRY_CAST('x' AS INTEGER) IS NULL"):
        compiled(engine, f"SELECT COUNT(*) FROM orders WHERE {condition}")


def test_a_frame_whose_owners_became_floats_is_accepted_once_the_policy_types_them():
    """One NULL makes pandas store integers as floats; a declared type does not depend on the data."""
    frames = {
        "customer": pandas.DataFrame({"id": [1, 2], "name": ["a", "b"]}),
        "orders": pandas.DataFrame({"id": [1, 2, 3], "customer": [1, None, 2], "total": 1.0, "day": None}),
    }
    assert frames["orders"]["customer"].dtype == float
    with DuckDB.open(frames, POLICY) as typed:
        relation = relation_of(typed, compiled(typed, "SELECT COUNT(*) FROM orders"))
        assert relation.true_answer() == 2
        assert set(relation.names) == {("customer", 1), ("customer", 2)}
    untyped = replace(POLICY, columns=())
    with DuckDB.open(frames, untyped) as opened:
        with pytest.raises(PolicyError, match="cannot name participants") as error:
            compile_query("SELECT COUNT(*) FROM orders", untyped, opened.catalogue())
        assert "[columns.orders]" in str(error.value)


# ------------------------------------------------------------------ hardening

ESCAPES = [
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM glob('/*')",
    "COPY (SELECT 1) TO 'recuse-escape.csv'",
    "ATTACH 'recuse-escape.db'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SET enable_external_access = true",
    "SET threads = 1",
]


@pytest.mark.parametrize("statement", ESCAPES)
@pytest.mark.parametrize("kind", some(["file", "csv", "parquet", "arrow"], 0.5))
def test_nothing_outside_can_be_reached(kind, statement, tmp_path):
    with DuckDB.open(MAKERS[kind](tmp_path), POLICY) as engine, pytest.raises(duckdb.Error):
        engine.connection.execute(statement)


def test_no_progress_is_printed(engine):
    """How long a query takes depends on private rows; interactive DuckDB shows it after two seconds."""
    assert engine.connection.sql("SELECT current_setting('enable_progress_bar')").fetchall() == [(False,)]


def test_a_database_file_is_not_written(tmp_path):
    with DuckDB.open(file(tmp_path)) as engine:
        for statement in ("DELETE FROM data.main.orders", "CREATE TABLE data.main.x (i INTEGER)"):
            with pytest.raises(duckdb.Error):
                engine.connection.execute(statement)


def test_no_macro_shadows_a_function(tmp_path):
    path = file(tmp_path)
    with contextlib.closing(duckdb.connect(str(path))) as made:
        for name in ("abs", "lower", '"+"', '"*"', "sum", "count", "year"):
            arguments = "(a, b) AS a - b" if name.startswith('"') else "(a) AS 42"
            with contextlib.suppress(duckdb.Error):
                made.execute(f"CREATE MACRO {name}{arguments}")
    with DuckDB.open(path) as engine:
        catalogue = engine.catalogue()
        assert "abs" in catalogue.macros
        with pytest.raises(QueryError, match="abs is a macro of this database"):
            compile_query("SELECT SUM(abs(total)) FROM orders", POLICY, catalogue)
        query = compile_query("SELECT SUM(total * 2 + 1) FROM orders", POLICY, catalogue)
        assert relation_of(engine, query).true_answer() == 850


def test_the_connection_that_was_handed_over_keeps_its_settings():
    made = connection(":memory:")
    engine = DuckDB.open(made)
    engine.catalogue()
    made.execute("SET threads = 1")
    assert made.sql("SELECT count(*) FROM orders").fetchall() == [(4,)]
    engine.close()
    assert made.sql("SELECT count(*) FROM orders").fetchall() == [(4,)]
    made.close()


def test_errors_while_running_quote_nothing():
    with contextlib.closing(DuckDB.open(connection(":memory:"))) as engine:
        query = compiled(engine, "SELECT COUNT(*) FROM orders")
        engine.connection.execute("DROP TABLE memory.main.orders")
        with pytest.raises(DatabaseError) as error:
            engine.run([query.single.tables[0].sql])
        assert (
            str(error.value)
            == "the database could not run the query; hint: is there enough memory and disk space?"
        )
        assert error.value.__cause__ is None


# ------------------------------------------------------------------ sources that cannot be opened


def broken_sources(folder: Path) -> dict[str, object]:
    (folder / "text.db").write_text("this is not a database, but it is a file")
    (folder / "empty.db").write_bytes(b"")
    (folder / "nothing").mkdir()
    (folder / "twice").mkdir()
    (folder / "twice" / "a.csv").write_text("x\n1\n")
    (folder / "twice" / "A.tsv").write_text("x\n1\n")
    (folder / "header").mkdir()
    (folder / "header" / "a.csv").write_text("x,x\n1,2\n")
    (folder / "blank").mkdir()
    (folder / "blank" / "a.csv").write_text("")
    (folder / "binary").mkdir()
    (folder / "binary" / "a.csv").write_bytes(b"\xff\xfe\x00\n1\n")
    (folder / "torn").mkdir()
    (folder / "torn" / "a.parquet").write_bytes(b"PAR1 and then nothing")
    closed = duckdb.connect(":memory:")
    closed.close()
    names = ("absent.db", "text.db", "nothing", "twice", "header", "blank", "binary", "torn")
    return {
        **{name: folder / name for name in names},
        "closed": closed,
        "frame": {"a": 3},
        "mixed": {"a": pandas.DataFrame({"x": [1, "b", object()]})},
    }


BROKEN = [
    "absent.db",
    "text.db",
    "nothing",
    "twice",
    "header",
    "blank",
    "binary",
    "torn",
    "closed",
    "frame",
    "mixed",
]


@pytest.mark.parametrize("name", BROKEN)
def test_what_cannot_be_opened_is_an_error_of_one_line_with_a_hint(name, tmp_path):
    with pytest.raises(DatabaseError) as error:
        DuckDB.open(broken_sources(tmp_path)[name])
    assert "\n" not in str(error.value)
    assert error.value.hint or error.value.accepted


def test_a_connection_that_hands_over_types_of_its_own_is_refused():
    """The encoder knows none of them: every question would fail after its charge."""
    made = duckdb.connect(":memory:")
    made.execute("SET arrow_lossless_conversion = true")
    with pytest.raises(DatabaseError, match="RESET arrow_lossless_conversion"):
        DuckDB.open(made)


# ------------------------------------------------------------------ CSV: a bad cell is NULL

LINES = {
    "bad number": b"x,1\n",
    "too few cells": b"7\n",
    "too many cells": b"7,1,2,3\n",
    "quote inside": b'7,"1"2\n',
    "unclosed quote": b'7,"1\n',
    "not UTF-8": b"\xff\xfe,1\n",
    "zero byte": b"7\x00,1\n",
    "blank": b"\n\n",
    "quoted line break": b'"7\n",1\n',
    "very long": b"7," + b"9" * 3_000_000 + b"\n",
    "carriage return": b"7,1\r8,1\r\n",
}


@pytest.mark.parametrize("name", LINES)
def test_a_malformed_line_raises_nothing(name, tmp_path):
    (tmp_path / "t.csv").write_bytes(b"\xef\xbb\xbfid,x\n1,1\n2,1\n" + LINES[name] + b"3,1\n")
    policy = Policy.parse('[[protect]]\ntable = "t"\nkey = ["id"]\n[columns.t]\nid = "INT"\nx = "INTEGER"')
    with DuckDB.open(tmp_path, policy) as engine:
        query = compiled(engine, "SELECT SUM(x) FROM t WHERE id < 3", policy)
        assert relation_of(engine, query).true_answer() == 2


def test_a_column_without_a_declared_type_is_text(tmp_path):
    (tmp_path / "t.csv").write_text('id,"a ""b"""\n1,2\n')
    with DuckDB.open(tmp_path) as engine:
        ((table),) = engine.catalogue().tables
        assert [(column.name, column.type) for column in table.columns] == [
            ("id", "VARCHAR"),
            ('a "b"', "VARCHAR"),
        ]


@pytest.mark.parametrize(
    "kind", ["INTEGR", "INT[]", "STRUCT(a INT)", "INT); DROP TABLE t; --", "VARCHAR COLLATE NOCASE"]
)
def test_a_column_type_is_a_plain_one(kind, tmp_path):
    (tmp_path / "t.csv").write_text("id\n1\n")
    policy = Policy.parse(f'[[protect]]\ntable = "t"\nkey = ["id"]\n[columns.t]\nid = "{kind}"')
    with pytest.raises(PolicyError, match="policy line 5: column id of t has an unknown type"):
        DuckDB.open(tmp_path, policy)
