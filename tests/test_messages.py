"""The catalogue of messages is what the sources say; its examples are refused so, their rewrites accepted."""

from __future__ import annotations

import json
import runpy

import pytest

from recuse.engines.binding import check_plan
from recuse.errors import ParameterError, QueryError
from recuse.messages import FILE, GAP, find, message_of, messages
from recuse.sql.compile import compile_query
from support.documents import ROOT
from support.profiles import some
from support.sql.bazaar import POLICY, catalogue, engine

UPDATE = "run PYTHONPATH=tests python docs/generate_messages.py"
MADE = runpy.run_path(str(ROOT / "docs" / "generate_messages.py"))
REFUSED = [message for message in messages() if message.instead is not None]


def test_the_catalogue_holds_what_the_sources_say():
    said = {message.code: message.says for message in MADE["templates"]()}
    assert {message.code: message.says for message in messages()} == said, UPDATE
    assert len(said) > 300


def test_the_page_and_the_file_are_one():
    found = list(messages())
    assert MADE["PAGE"].read_text() == MADE["page"](found), UPDATE
    assert FILE.read_text() == MADE["written"](found), UPDATE
    assert len(json.loads(FILE.read_text())) == len({message.code for message in found})


def test_most_messages_of_questions_have_an_example_and_a_rewrite():
    assert len(REFUSED) > 100


@pytest.mark.parametrize("message", some(REFUSED, 0.1), ids=lambda message: message.code)
def test_an_example_is_refused_so_and_its_rewrite_is_accepted(message):
    with pytest.raises(QueryError) as caught:
        check_plan(compile_query(message.example, POLICY, catalogue()), engine())
    assert message_of(caught.value).code == message.code
    assert str(caught.value) == message.shown
    check_plan(compile_query(message.instead, POLICY, catalogue()), engine())


def test_a_message_is_found_by_code_by_words_and_by_a_whole_line():
    one = next(message for message in REFUSED if GAP not in message.says and len(message.says) > 12)
    assert find(one.code) == (one,)
    assert one in find(one.says)
    assert one in find(f"recuse: line 1, column 8: {one.says}; hint: something")
    with pytest.raises(ParameterError, match="no message"):
        find("qwertz")
