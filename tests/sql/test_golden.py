"""Golden files: what each pass makes of a query, which queries are accepted, which refused, in what words.

`RECUSE_GOLDEN=write pytest tests/sql/test_golden.py` writes them anew, for people to read the difference.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from recuse.errors import QueryError
from recuse.sql.compile import PASSES, compile_query, derive
from recuse.sql.ownership import own
from recuse.sql.parse import parse
from recuse.sql.query import Query, Schema, plain, readable
from recuse.sql.read import read
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


def show(query: Query) -> str:
    parts = [readable(plain(query))]
    parts += [f"owner {owner.kind}: {', '.join(map(readable, owner.values))}" for owner in query.owners]
    parts += [f"completed: {line}" for line in query.completed]
    if query.weight is not None:
        parts.append(f"weight: {readable(query.weight)}")
    return "\n  ".join(parts)


def stages(text: str) -> dict[str, str]:
    schema = Schema(CATALOGUE, own(POLICY, CATALOGUE), POLICY.granularity, text)
    query = read(parse(text), schema)
    shown = {"read": show(query)}
    for step in PASSES:
        query = step(query, schema)
        shown[step.__name__] = show(query)
    return {**shown, "derive": derive(query)[0]}


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
    query = compile_query(text, POLICY, engine.catalogue())
    engine.check(query)
    engine.run(query)


def test_passes_do_not_change_their_argument():
    for text in lines("cases.sql"):
        schema = Schema(CATALOGUE, own(POLICY, CATALOGUE), POLICY.granularity, text)
        query = read(parse(text), schema)
        for step in PASSES:
            before = show(query)
            after = step(query, schema)
            assert show(query) == before
            query = after
