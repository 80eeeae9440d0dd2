"""The 22 TPC-H queries as they are written: answered, or refused for the right reason; and the ten questions.

`docs/reference/sql.md` shows the verdicts. `RECUSE_GOLDEN=write` writes them anew.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from recuse.engines.binding import check_plan
from recuse.engines.duckdb import DuckDB
from recuse.errors import QueryError
from recuse.lab.experiments.tpch import QUESTIONS, policy_of
from recuse.policy import Policy
from recuse.sql.compile import compile_query
from recuse.sql.draft import draft

HERE = Path(__file__).parent / "tpch"
TEXTS = dict(re.findall(r"-- (Q\d+)\n(.*)\n", (HERE / "queries.sql").read_text()))
DOMAINS = """
[[domain]]
table = "lineitem"
column = "l_returnflag"
values = ["A", "N", "R"]

[[domain]]
table = "lineitem"
column = "l_linestatus"
values = ["F", "O"]

[[domain]]
table = "orders"
column = "o_orderpriority"
values = ["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"]
"""


@pytest.fixture(scope="module")
def engine() -> Iterator[DuckDB]:
    made = duckdb.connect(":memory:")
    made.execute((HERE / "schema.sql").read_text())
    opened = DuckDB.open(made)
    yield opened
    opened.close()
    made.close()


def verdict(text: str, policy: Policy, engine: DuckDB) -> str:
    try:
        plan = compile_query(text, policy, engine.catalogue())
        check_plan(plan, engine)
    except QueryError as error:
        return f"refused: {error.problem}"
    return "answered"


def test_every_query_is_answered_or_refused_for_its_reason(engine):
    text = "\n".join(draft(engine.catalogue(), ["customer", "supplier"]))
    text = text.replace("# [[public]]\n# table", "[[public]]\ntable")
    policy = Policy.parse(text + DOMAINS)
    found = "".join(f"{name} {verdict(query, policy, engine)}\n" for name, query in TEXTS.items())
    if os.environ.get("RECUSE_GOLDEN") == "write":
        (HERE / "verdicts.txt").write_text(found)
    assert len(TEXTS) == 22
    assert found == (HERE / "verdicts.txt").read_text()


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_the_ten_questions_need_no_join_that_they_do_not_write(question, engine):
    plan = compile_query(question.sql, policy_of(question, engine), engine.catalogue())
    check_plan(plan, engine)
    (table,) = plan.single.tables
    assert table.sql.count("CROSS JOIN") == question.sql.count("JOIN")
    assert "EXISTS" not in table.sql
    assert {owner.kind for owner in table.owners} == set(question.protect)
    assert len(table.owners) == len(question.protect)
