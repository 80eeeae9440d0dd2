"""What DuckDB says of its tables: keys, references, collations, generated columns; when it is asked again."""

from __future__ import annotations

import contextlib
from pathlib import Path

import duckdb
import pytest

from recuse.engines.duckdb import DuckDB
from recuse.errors import DatabaseError, PolicyError, QueryError
from recuse.policy import Policy
from recuse.sql.compile import compile_query


def test_a_collation_makes_a_column_unfit_to_name_participants():
    made = duckdb.connect(":memory:")
    made.execute('CREATE TABLE customer ("the id" VARCHAR COLLATE NOCASE, x VARCHAR)')
    with contextlib.closing(DuckDB.open(made)) as engine:
        policy = Policy.parse('[[protect]]\ntable = "customer"\nkey = ["the id"]')
        with pytest.raises(PolicyError, match="cannot name participants"):
            compile_query("SELECT COUNT(*) FROM customer", policy, engine.catalogue())
    made.execute("SET default_collation = 'nocase'")
    with pytest.raises(DatabaseError, match="collation"):
        DuckDB.open(made)


def test_keys_and_references_are_read_from_the_catalogue():
    made = duckdb.connect(":memory:")
    made.execute("CREATE TABLE a (x INTEGER, y INTEGER, z INTEGER UNIQUE, PRIMARY KEY (x, y))")
    made.execute("CREATE TABLE b (p INTEGER NOT NULL, q INTEGER, FOREIGN KEY (p, q) REFERENCES a (x, y))")
    made.execute("CREATE VIEW v AS SELECT * FROM a")
    made.execute("CREATE SCHEMA other; CREATE TABLE other.c (x INTEGER)")
    with contextlib.closing(DuckDB.open(made)) as engine:
        a, b, v = engine.catalogue().tables
        assert set(a.keys) == {("x", "y"), ("z",)}
        assert [(r.columns, r.target, r.target_columns) for r in b.foreign_keys] == [
            (("p", "q"), "a", ("x", "y"))
        ]
        assert [column.nullable for column in b.columns] == [False, True]
        assert v.view is not None


def test_generated_columns_are_no_columns():
    """DuckDB computes them when it reads them: one row could make every question fail."""
    connection = duckdb.connect()
    connection.execute(
        'CREATE TABLE t (id INTEGER PRIMARY KEY, x INTEGER, "a b" INT GENERATED ALWAYS AS (1 // (x - 90)), '
        "d DECIMAL(9, 2) NOT NULL DEFAULT 0, e AS (x + 1))"
    )
    with DuckDB.open(connection) as database:
        (table,) = database.catalogue().tables
        assert [column.name for column in table.columns] == ["id", "x", "d"]


def test_somebody_elses_connection_is_asked_again_as_its_tables_may_change():
    shared = duckdb.connect()
    shared.execute("CREATE TABLE person (id INTEGER PRIMARY KEY)")
    with contextlib.closing(DuckDB.open(shared)) as engine:
        assert engine.catalogue().table("visit") is None
        shared.execute("CREATE TABLE visit (person INTEGER); CREATE MACRO abs(x) AS x")
        after = engine.catalogue()
        assert after.table("visit") is not None
        assert "abs" in after.macros
        assert "lower" not in after.macros


def test_a_file_that_we_opened_is_asked_once_and_not_when_it_is_closed(tmp_path: Path):
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute("CREATE TABLE person (id INTEGER PRIMARY KEY)")
    engine = DuckDB.open(path)
    assert engine.catalogue() is engine.catalogue()
    engine.close()
    with pytest.raises(DatabaseError, match="catalogue cannot be read"):
        engine.catalogue()


def test_a_macro_hides_the_aggregate_of_its_name_and_no_column(tmp_path: Path):
    path = tmp_path / "people.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute(
            "CREATE TABLE town (id INTEGER PRIMARY KEY, size INTEGER); CREATE TABLE person (id INTEGER)"
        )
        made.execute("CREATE MACRO size(x) AS 42; CREATE MACRO max(x) AS 42")
    policy = Policy.parse('[[protect]]\ntable = "person"\nkey = ["id"]\n\n[[public]]\ntable = "town"')
    with DuckDB.open(path) as engine:
        catalogue = engine.catalogue()
        compile_query("SELECT id, MIN(size) OVER () AS least FROM town", policy, catalogue)
        with pytest.raises(QueryError, match="not among the accepted ones"):
            compile_query("SELECT id, MAX(size) OVER () AS most FROM town", policy, catalogue)
