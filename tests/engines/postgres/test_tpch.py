"""Ten TPC-H questions: PostgreSQL and DuckDB have the same K-relations, where arithmetic is exact in both."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow
import pytest

from recuse.engines.binding import check_plan
from recuse.engines.collect import collect
from recuse.engines.engine import Engine
from recuse.engines.open import open_engine
from recuse.krelation.relation import KRelation
from recuse.lab.experiments.tpch import KEYS, QUESTIONS, REFERENCES, TpchQuery, load, policy_of
from recuse.sql.compile import compile_query
from support.canonical import as_set
from support.postgres import Server, spelled

pytestmark = pytest.mark.engine
SCALE = "0.01"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = shutil.which("tpchgen-cli", path=str(Path(sys.executable).parent)) or shutil.which(
        "tpchgen-cli"
    )
    if program is None:
        pytest.skip("tpchgen-cli is not installed")
    made = tmp_path_factory.mktemp("tpch")
    subprocess.run([program, "parquet", "-s", SCALE, f"--output-dir={made}"], check=True, capture_output=True)
    load(made, made / "tpch.duckdb")
    return made


@pytest.fixture(scope="module")
def engines(folder: Path, server: Server) -> Iterator[tuple[Engine, Engine]]:
    name = server.database()
    with server.connection(name) as cursor:
        for table, key in KEYS.items():
            rows = duckdb.sql(f"FROM read_parquet('{folder / table}.parquet')").to_arrow_table()
            rows = rows.cast(pyarrow.schema([pyarrow.field(f.name, _plain(f.type)) for f in rows.schema]))
            columns = ", ".join(f"{f.name} {spelled(f.type)} NOT NULL" for f in rows.schema)
            cursor.execute(f"CREATE TABLE {table} ({columns}, PRIMARY KEY ({', '.join(key)}))")
            cursor.adbc_ingest(table, rows, mode="append")
            for names, target in REFERENCES.get(table, ()):
                to = f"{target} ({', '.join(KEYS[target])})"
                cursor.execute(f"ALTER TABLE {table} ADD FOREIGN KEY ({', '.join(names)}) REFERENCES {to}")
        cursor.execute("ANALYZE")
    with open_engine(folder / "tpch.duckdb") as first, open_engine(server.uri(name)) as second:
        yield first, second


def _plain(kind: pyarrow.DataType) -> pyarrow.DataType:
    return pyarrow.string() if "string" in str(kind) else kind


def relation_of(engine: Engine, question: TpchQuery, sql: str) -> KRelation:
    plan = compile_query(sql, policy_of(question, engine), engine.catalogue())
    check_plan(plan, engine)
    ((relation,),) = collect(engine, plan)
    return relation


def exactly(sql: str) -> str:
    """Return a question without the division that DuckDB does in floats and PostgreSQL in decimals."""
    return sql.replace("/ 1000000", "* 0.000001").replace("/ 1000", "* 0.001")


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_the_relations_are_the_same(engines: tuple[Engine, Engine], question: TpchQuery):
    first, second = (as_set(relation_of(engine, question, exactly(question.sql))) for engine in engines)
    assert first == second


@pytest.mark.parametrize("question", [q for q in QUESTIONS if exactly(q.sql) != q.sql], ids=lambda q: q.name)
def test_a_quotient_differs_by_its_rounding_alone(engines: tuple[Engine, Engine], question: TpchQuery):
    floats, decimals = (relation_of(engine, question, question.sql).true_answer() for engine in engines)
    assert abs(floats - decimals) < 1e-5 * decimals
