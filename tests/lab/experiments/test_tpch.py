"""TPC-H from Parquet files to answers: keys declared, policies drafted, the ten questions asked and timed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from recuse.engines.binding import check_plan
from recuse.engines.collect import collect
from recuse.engines.duckdb import DuckDB
from recuse.lab.experiments.tpch import KEYS, QUESTIONS, REFERENCES, main, plain_sql, policy_of
from recuse.sql.compile import compile_query
from support.tpch import FEW, make_parquet, values


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of Parquet files with TPC-H's columns and a few made rows."""
    path = tmp_path_factory.mktemp("tpch")
    make_parquet(path, FEW, values(FEW))
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
        policy = policy_of(question, engine)
        plan = compile_query(question.sql, policy, engine.catalogue())
        check_plan(plan, engine)
        ((relation,),) = collect(engine, plan)
        ((plain,),) = engine.connection.sql(plain_sql(plan, policy, engine)).fetchall()
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
