"""A source is opened by the adapter that knows it: another engine is one module and one registration."""

from __future__ import annotations

import subprocess
import sys

import duckdb
import pandas
import pyarrow
import pytest

from engines.conformance import POLICY, TABLES, Conformance, Make
from engines.toy import Box
from recuse.engines import open as opening
from recuse.engines.duckdb import DuckDB
from recuse.engines.engine import Engine
from recuse.engines.open import Registration, open_engine, open_tables, recognised
from recuse.errors import DatabaseError
from recuse.policy import Policy
from recuse.session.session import connect

TOY = Registration(lambda source: isinstance(source, Box), "engines.toy")


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "ADAPTERS", [*opening.ADAPTERS, TOY])


class TestToy(Conformance):
    """The toy keeps every promise."""

    @pytest.fixture
    def make(self, registered: None) -> Make:
        def make(tables: dict[str, pyarrow.Table], policy: Policy = POLICY) -> Engine:
            return open_engine(Box(tables), policy)

        return make


def test_questions_are_asked_of_a_toy(registered):
    with connect(Box(TABLES), POLICY) as session:
        session.ask("SELECT COUNT(*) FROM orders", 1)
        assert session.budget.spent == 1


@pytest.mark.parametrize("source", [pandas.DataFrame({"x": [1]}), pyarrow.table({"x": [1]}), 3, None])
def test_what_no_adapter_knows_is_refused_with_how_frames_are_passed(source):
    for opened in (open_engine, recognised):
        with pytest.raises(DatabaseError, match="frames are passed by name") as error:
            opened(source)
        assert error.value.hint


def test_a_connection_is_told_by_its_package():
    with duckdb.connect() as connection:
        assert recognised(connection) is connection
        with open_engine(connection) as engine:
            assert isinstance(engine, DuckDB)


def test_an_adapter_is_imported_when_it_is_needed():
    code = "import sys, recuse.engines.open; print(*{'duckdb', 'psycopg', 'pyspark'} & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == ""


def test_tables_of_ours_are_found_by_name_and_locked_in():
    engine = open_tables({"t": pyarrow.table({"x": [1, 2]})})
    assert isinstance(engine, DuckDB)
    assert engine.run(["SELECT sum(x) AS n FROM t"])[0].column("n").to_pylist() == [3]
    (table,) = engine.catalogue().tables
    assert (table.name, table.path) == ("t", ("memory", "main", "t"))
    for statement in ("SELECT * FROM glob('/*')", "SET threads = 1", "INSTALL httpfs"):
        with pytest.raises(duckdb.Error):
            engine.connection.execute(statement)
    ((disabled,),) = engine.connection.sql("SELECT current_setting('disabled_optimizers')").fetchall()
    assert "join_order" in disabled, "joins run as they are written"
    engine.close()
