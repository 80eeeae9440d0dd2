"""DuckDB, from every kind of source, is one instance of the suite that all engines share."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import duckdb
import polars
import pyarrow
import pyarrow.csv
import pyarrow.parquet
import pytest

from engines.conformance import POLICY, TABLES, Conformance, Make, count
from recuse.engines.engine import Engine
from recuse.engines.open import Source, open_engine
from recuse.policy import Policy

Tables = Mapping[str, pyarrow.Table]


def connection(tables: Tables, path: str = ":memory:") -> duckdb.DuckDBPyConnection:
    made = duckdb.connect(path)
    for name, table in tables.items():
        made.register("frame", table)
        made.execute(f"CREATE TABLE {name} AS SELECT * FROM frame")
        made.unregister("frame")
    return made


def file(tables: Tables, folder: Path) -> Path:
    connection(tables, str(folder / "shop.db")).close()
    return folder / "shop.db"


def parquet(tables: Tables, folder: Path) -> Path:
    for name, table in tables.items():
        pyarrow.parquet.write_table(table, folder / f"{name}.parquet")
    return folder


def csv(tables: Tables, folder: Path) -> Path:
    for name, table in tables.items():
        pyarrow.csv.write_csv(table, folder / f"{name}.csv")
    return folder


SOURCES = {
    "arrow": lambda tables, _: dict(tables),
    "polars": lambda tables, _: {name: polars.from_arrow(table) for name, table in tables.items()},
    "file": file,
    "parquet": parquet,
    "csv": csv,
    "connection": lambda tables, _: connection(tables),
}


@pytest.fixture(scope="module", params=SOURCES)
def opened(request: pytest.FixtureRequest, tmp_path_factory) -> Iterator[tuple[str, Make]]:
    with ExitStack() as engines:

        def make(tables: Tables, policy: Policy = POLICY) -> Engine:
            source: Source = SOURCES[request.param](tables, tmp_path_factory.mktemp("source"))
            engine = open_engine(source, policy)
            engines.callback(engine.close)
            return engine

        usual = cache(lambda: make(TABLES))

        def once(tables: Tables, policy: Policy = POLICY) -> Engine:
            return usual() if tables is TABLES and policy is POLICY else make(tables, policy)

        yield request.param, once


class TestDuckDB(Conformance):
    """DuckDB keeps every promise, whatever the source."""

    @pytest.fixture
    def make(self, opened: tuple[str, Make]) -> Make:
        kind, make = opened
        self.governed = kind != "connection"
        return make


def test_a_writer_changes_nothing_between_two_statements():
    """Whoever shares the database may write at any moment; a question sees one state of it."""
    shared = connection(TABLES)
    engine, stop = open_engine(shared, POLICY), threading.Event()
    writer = shared.cursor()

    def write() -> None:
        while not stop.is_set():
            writer.execute("INSERT INTO customer VALUES (4, 'new')")

    thread = threading.Thread(target=write)
    thread.start()
    try:
        statement = count(engine, "customer")
        seen = [[table["n"][0].as_py() for table in engine.run([statement] * 20)] for _ in range(20)]
    finally:
        stop.set()
        thread.join()
    assert all(len(set(run)) == 1 for run in seen)
    assert len({run[0] for run in seen}) > 1, "somebody wrote meanwhile"
