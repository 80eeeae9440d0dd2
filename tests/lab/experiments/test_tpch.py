"""TPC-H from Parquet files to answers: keys declared, policies drafted, the ten questions asked and timed."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb
import pytest

from recuse.engines.binding import check_plan
from recuse.engines.collect import collect
from recuse.engines.duckdb import DuckDB
from recuse.lab.experiments.tpch import KEYS, QUESTIONS, REFERENCES, main, policy_of
from recuse.sql.compile import compile_query

SCHEMA = (Path(__file__).parents[2] / "sql" / "tpch" / "schema.sql").read_text()
ROWS = {
    "region": 2,
    "nation": 4,
    "supplier": 5,
    "customer": 6,
    "part": 5,
    "partsupp": 5,
    "orders": 20,
    "lineitem": 60,
}
VALUES = {
    "n_regionkey": "i % 2",
    "s_nationkey": "i % 4",
    "c_nationkey": "i % 4",
    "o_custkey": "i % 6",
    "l_orderkey": "i % 20",
    "l_partkey": "i % 5",
    "l_suppkey": "i % 5",
    "l_linenumber": "i // 20",
    "ps_supplycost": "1000 + i",
    "ps_availqty": "5000 + i",
    "o_orderdate": "DATE '1994-06-01' + CAST(i * 60 AS INTEGER)",
    **dict.fromkeys(
        ["l_shipdate", "l_commitdate", "l_receiptdate"], "DATE '1994-06-01' + CAST(i * 20 AS INTEGER)"
    ),
    "l_discount": "i % 10 / 100",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of Parquet files with TPC-H's columns and a few made rows."""
    path = tmp_path_factory.mktemp("tpch")
    with duckdb.connect(":memory:") as made:
        made.execute(SCHEMA)
        for table in KEYS:
            values = [
                f"CAST({VALUES.get(name, 'i')} AS {kind}) AS {name}"
                for name, kind, *_ in made.sql(f"DESCRIBE {table}").fetchall()
            ]
            rows = f"SELECT {', '.join(values)} FROM range({ROWS[table]}) AS r(i)"
            made.execute(f"COPY ({rows}) TO '{path / f'{table}.parquet'}' (FORMAT parquet)")
    return path


@pytest.fixture(scope="module")
def database(folder: Path) -> Path:
    path = folder / "tpch.duckdb"
    main(["load", str(folder), str(path)])
    return path


def test_loading_declares_every_key_and_reference(database):
    with DuckDB.open(database) as engine:
        catalogue = engine.catalogue()
    for table, key in KEYS.items():
        found = catalogue.table(table)
        assert found is not None
        assert found.keys == (key,)
        assert {(r.columns, r.target) for r in found.foreign_keys} == set(REFERENCES.get(table, ()))
        assert not any(column.nullable for column in found.columns)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_a_question_is_answered_as_plain_sql_answers_it(question, database):
    with DuckDB.open(database) as engine:
        plan = compile_query(question.sql, policy_of(question, engine), engine.catalogue())
        check_plan(plan, engine)
        ((relation,),) = collect(engine, plan)
        ((plain,),) = engine.connection.sql(plan.single.plain).fetchall()
    assert relation.true_answer() > 0
    rows = 60 if question.granularity else 0  # each is rounded to whole granules
    assert abs(relation.true_answer() - float(plain) / float(plan.single.granularity)) <= rows / 2
    assert {name[0] for name in relation.names} == set(question.protect)


def test_the_benchmark_prints_both_times_the_error_and_the_memory(database, capsys):
    main(["bench", str(database), "Q3", "Q11", "--runs", "5"])
    heading, *lines = capsys.readouterr().out.splitlines()
    assert heading.split() == ["plain", "private", "ratio", "answer", "trimmed", "error", "peak", "memory"]
    assert [line.split()[0] for line in lines] == ["Q3", "Q11"]
    for line in lines:
        assert re.fullmatch(r"Q\d+ +[\d.]+s +[\d.]+s +[\d.]+ +[\d,]+ +[\d.]+% +[\d.]+GB", line)
