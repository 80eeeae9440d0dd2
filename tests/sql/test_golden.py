"""Golden files: what each pass makes of a query, which queries are accepted, which refused, in what words.

`RECUSE_GOLDEN=write pytest tests/sql/test_golden.py` writes them anew, for people to read the difference.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from recuse.engines.binding import check_plan
from recuse.engines.collect import collect, collect_domain
from recuse.errors import QueryError
from recuse.sql.compile import PASSES, compile_query, schema_of
from recuse.sql.derive import derive
from recuse.sql.growth import unique_keys
from recuse.sql.measure import Measure
from recuse.sql.parse import parse
from recuse.sql.plan import statements
from recuse.sql.query import Block
from recuse.sql.read import read
from recuse.sql.render import plain, readable
from support.profiles import some
from support.sql.shop import CATALOGUE, POLICY, TABLES, Database, the_catalogue, the_engine

GOLDEN = Path(__file__).parent / "golden"
STAGES = ["read", *(step.__name__ for step in PASSES), "derive"]


def blocks(name: str) -> dict[str, str]:
    """Return query → expected text."""
    texts = (GOLDEN / name).read_text().split("\n\n")
    return {query: expected for query, _, expected in (text.strip("\n").partition("\n  ") for text in texts)}


def agree(name: str, found: dict[str, str]) -> None:
    if os.environ.get("RECUSE_GOLDEN") == "write":
        (GOLDEN / name).write_text("\n\n".join(f"{query}\n  {text}" for query, text in found.items()) + "\n")
    assert found == blocks(name)


def lines(name: str) -> list[str]:
    return (GOLDEN / name).read_text().splitlines()


def show(measure: Measure) -> str:
    return "\n  ".join(
        [readable(plain(measure)), *(line for block in measure.blocks for line in details(block))]
    )


def details(block: Block, margin: str = "") -> list[str]:
    """Return what the passes have added to a block, and below it to its choices."""
    lines = [f"{margin}owner {o.kind}: {', '.join(map(readable, o.values))}" for o in block.owners]
    lines += [f"{margin}completed: {line}" for line in block.completed]
    if block.weight is not None and block.owners:
        lines.append(f"{margin}weight: {readable(block.weight)}")
    inner = [branch for source in block.sources for branch in getattr(source, "branches", ())]
    inner += [branch for choice in block.choices for branch in choice.branches]
    return lines + [line for branch in inner for line in details(branch, margin + "| ")]


@cache
def stages(text: str) -> dict[str, str]:
    schema = schema_of(text, POLICY, CATALOGUE)
    measures = list(read(parse(text), schema).measures)
    shown = {"read": "\n  ".join(map(show, measures))}
    for step in PASSES:
        measures = [step(measure, schema) for measure in measures]
        shown[step.__name__] = "\n  ".join(map(show, measures))
    tables = [
        sql for measure in measures for sql in statements(derive(measure, text, keys=unique_keys(POLICY)))
    ]
    return {**shown, "derive": "\n  ".join(tables)}


@pytest.mark.parametrize("stage", STAGES)
def test_a_pass_does_what_its_golden_file_says(stage):
    agree(f"{stage}.txt", {text: stages(text)[stage] for text in lines("cases.sql")})


@cache
def refusal(text: str) -> QueryError:
    with pytest.raises(QueryError) as error:
        compile_query(text, POLICY, CATALOGUE)
    return error.value


def test_refusals_say_exactly_this():
    found = {text: str(refusal(text)) for text in blocks("refused.txt")}
    assert not any("\n" in said for said in found.values())
    agree("refused.txt", found)


def test_refusals_say_where_what_and_what_to_write_instead():
    for text in blocks("refused.txt"):
        error = refusal(text)
        assert error.found, text
        assert text[error.column - 1 :].startswith(error.found), text
        assert error.hint or error.accepted, text


# every construct that is promised to be refused, and a word of a query in the list that has it
PROMISED = """
EXCEPT ALL|FROM customer WHERE c_id NOT IN (SELECT|FULL JOIN|, customer RIGHT JOIN|CASE WHEN n_id IN (SELECT
SELECT (SELECT|HAVING|INTERSECT ALL|DISTINCT ON|ASOF|POSITIONAL|TABLESAMPLE|QUALIFY|UNNEST|PIVOT|rowid
file_row_number|twice(|LIMIT|ORDER BY o_total LIMIT|OVER (|SUM(SUM(|WITH RECURSIVE|random()|now()|read_csv
COPY|ATTACH|PRAGMA|httpfs|DROP|INSERT|UPDATE|DELETE|CREATE|ALTER|; SELECT
"""


@pytest.mark.parametrize("words", [word for line in PROMISED.split("\n") for word in line.split("|") if word])
def test_every_promised_refusal_is_in_the_list(words):
    assert any(words in text for text in blocks("refused.txt"))


def test_the_lists_are_long_enough():
    assert len(blocks("refused.txt")) >= 60
    assert len(lines("accepted.sql")) >= 60


@pytest.mark.parametrize("text", some([*lines("accepted.sql")], 0.3))
def test_accepted_queries_bind_on_the_engine(text):
    engine = the_engine()
    plan = compile_query(text, POLICY, the_catalogue())
    check_plan(plan, engine)
    collect(engine, plan, collect_domain(engine, plan.grouping))


@pytest.mark.parametrize("text", some([*lines("accepted.sql")], 0.3))
def test_no_owner_and_no_weight_arrives_as_null(text):
    """Every column NULL in some row, every reference dangling in another: the encoder refuses NULLs."""
    rows = {
        table: [(None,) * len(columns), tuple(map(DANGLING.get, columns.values())), *FULL.get(table, [])]
        for table, columns in TABLES.items()
    }
    engine = Database(rows).load()
    plan = compile_query(text, POLICY, the_catalogue())
    for groups in collect(engine, plan, collect_domain(engine, plan.grouping)):
        assert all(None not in name for found in groups for name in found.names)


DANGLING = {
    **dict.fromkeys(("INTEGER", "BIGINT"), 99),
    "VARCHAR": "zz",
    "DATE": "1999-01-01",
    "DECIMAL(9,2)": "1.00",
    "DOUBLE": 1.0,
}
FULL = {
    "customer": [(1, None, None), (2, 1, "a")],
    "supplier": [("a", None)],
    "orders": [(1, 1, None, None), (2, None, None, "1.00"), (3, 2, "1997-01-01", "-1.00")],
    "item": [(1, "a", None, None), (None, "a", 1.0, 1), (1, None, 1.0, 1), (3, "a", 2.0, 1)],
    "edges": [(1, None), (None, 1), (1, 2)],
    "gift": [(1, None, 1), (None, 2, 3), (None, None, 1), (1, 2, None)],
    "nation": [(1, None), (None, "a")],
}


def test_passes_do_not_change_their_argument():
    for text in lines("cases.sql"):
        schema = schema_of(text, POLICY, CATALOGUE)
        for measure in read(parse(text), schema).measures:
            for step in PASSES:
                before = show(measure)
                after = step(measure, schema)
                assert show(measure) == before
                measure = after
