"""Hints that work: what is refused, what its hint says to write, and that this is answered."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from recuse.engines.binding import check_plan
from recuse.errors import QueryError
from recuse.sql.compile import compile_query
from support.sql.shop import CATALOGUE, POLICY, the_catalogue, the_engine

GOLDEN = Path(__file__).parent / "golden"
REWRITES = dict(
    text.strip("\n").split("\n  ") for text in (GOLDEN / "rewrites.txt").read_text().split("\n\n")
)
REFUSED = [text.strip("\n").split("\n")[0] for text in (GOLDEN / "refused.txt").read_text().split("\n\n")]


@cache
def refused(text: str) -> QueryError:
    with pytest.raises(QueryError) as caught:
        compile_query(text, POLICY, the_catalogue())
    return caught.value


def answered(text: str) -> None:
    check_plan(compile_query(text, POLICY, the_catalogue()), the_engine())


@pytest.mark.parametrize("text", REWRITES)
def test_a_rewrite_is_answered_where_the_question_is_not(text):
    error = refused(text)
    assert error.hint
    assert error.line is None or text.splitlines()[error.line - 1][error.column - 1 :].startswith(
        (error.found or "").split("\n")[0]
    )
    answered(REWRITES[text])


@pytest.mark.parametrize("text", sorted({*REFUSED, *REWRITES}))
def test_a_hint_that_is_a_whole_query_is_answered_as_it_stands(text):
    hint = refused(text).hint or ""
    if re.match(r"SELECT\b", hint):
        answered(hint)


def test_whoever_lists_individuals_is_told_what_can_be_asked():
    for text in (
        "SELECT * FROM customer",
        "SELECT c_name FROM customer WHERE c_nation = 3 ORDER BY 1 LIMIT 5",
    ):
        error = refused(text)
        assert "would list individuals" in error.problem
        answered(error.hint)
    for text in (
        "SELECT c_id, COUNT(*) FROM customer GROUP BY c_id",
        "SELECT COUNT(*) FROM item GROUP BY i_supplier",
    ):
        assert refused(text).problem == "every group would be an individual"


def test_every_refusal_says_what_to_do():
    assert CATALOGUE.tables
    for text in REFUSED:
        error = refused(text)
        assert error.hint or error.accepted, text
