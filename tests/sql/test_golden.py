"""Golden files: what each pass makes of a query, which queries are accepted, which refused, in what words.

`RECUSE_GOLDEN=write pytest tests/sql/test_golden.py` writes them anew, for people to read the difference.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from recuse.engines.collect import collect, collect_domain
from recuse.errors import QueryError
from recuse.sql.compile import PASSES, compile_query, schema_of, statements
from recuse.sql.derive import derive
from recuse.sql.parse import parse
from recuse.sql.query import Block, Measure
from recuse.sql.read import read
from recuse.sql.render import plain, readable
from sql.shop import CATALOGUE, POLICY, the_engine

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


def stages(text: str) -> dict[str, str]:
    schema = schema_of(text, POLICY, CATALOGUE)
    measures = list(read(parse(text), schema).measures)
    shown = {"read": "\n  ".join(map(show, measures))}
    for step in PASSES:
        measures = [step(measure, schema) for measure in measures]
        shown[step.__name__] = "\n  ".join(map(show, measures))
    tables = [sql for measure in measures for sql in statements(derive(measure, text))]
    return {**shown, "derive": "\n  ".join(tables)}


@pytest.mark.parametrize("stage", STAGES)
def test_a_pass_does_what_its_golden_file_says(stage):
    agree(f"{stage}.txt", {text: stages(text)[stage] for text in lines("cases.sql")})


def test_refusals_say_exactly_this():
    found = {}
    for text in blocks("refused.txt"):
        with pytest.raises(QueryError) as error:
            compile_query(text, POLICY, CATALOGUE)
        found[text] = str(error.value)
        assert "\n" not in str(error.value)
    agree("refused.txt", found)


def test_the_lists_are_long_enough():
    assert len(blocks("refused.txt")) >= 60
    assert len(lines("accepted.sql")) >= 60


@pytest.mark.parametrize("text", lines("accepted.sql"))
def test_accepted_queries_bind_on_the_engine(text):
    engine = the_engine()
    plan = compile_query(text, POLICY, engine.catalogue())
    engine.check(plan)
    collect(engine, plan, collect_domain(engine, plan.grouping))


def test_passes_do_not_change_their_argument():
    for text in lines("cases.sql"):
        schema = schema_of(text, POLICY, CATALOGUE)
        for measure in read(parse(text), schema).measures:
            for step in PASSES:
                before = show(measure)
                after = step(measure, schema)
                assert show(measure) == before
                measure = after
