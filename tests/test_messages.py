"""The catalogue of messages is what the sources say; its examples are refused so, their rewrites accepted."""

from __future__ import annotations

import json
import re
import runpy

import pytest

from recuse.engines.binding import check_plan
from recuse.errors import QueryError
from recuse.messages import FILE, GAP, finding, message_for, messages
from recuse.sql.compile import compile_query
from support.brought import CHANCE, World, needs_server, snippets
from support.documents import ROOT
from support.profiles import some
from support.sql.bazaar import POLICY, catalogue, engine

UPDATE = "run PYTHONPATH=tests python docs/generate_messages.py"
MADE = runpy.run_path(str(ROOT / "docs" / "generate_messages.py"))
REFUSED = [message for message in messages() if message.instead is not None]
SHOWN = {message.example: message for message in messages() if message.example is not None}


def test_the_catalogue_holds_what_the_sources_say():
    said = {message.code: message.says for message in MADE["templates"]()}
    assert {message.code: message.says for message in messages()} == said, UPDATE
    assert len(said) > 550


def test_the_page_and_the_file_are_one():
    found = list(messages())
    assert MADE["PAGE"].read_text() == MADE["page"](found), UPDATE
    assert FILE.read_text() == MADE["written"](found), UPDATE
    assert len(json.loads(FILE.read_text())) == len({message.code for message in found})


def test_every_message_has_an_example_or_says_why_there_is_none():
    assert [one.code for one in messages() if (one.example is None) == (one.why is None)] == []
    assert len(SHOWN) > 0.92 * len(messages())
    assert len(REFUSED) > 100


def test_a_reason_that_names_tests_is_so():
    for message in messages():
        for place in re.findall(r"(tests/\w+) brings it about", message.why or ""):
            told = max(message.says.split(GAP), key=len).strip()
            texts = (path.read_text() for path in (ROOT / place).rglob("*.py"))
            assert any(told in text for text in texts), message.code


@pytest.mark.parametrize("message", some(REFUSED, 0.1), ids=lambda message: message.code)
def test_an_example_is_refused_so_and_its_rewrite_is_accepted(message):
    with pytest.raises(QueryError) as caught:
        check_plan(compile_query(message.example, POLICY, catalogue()), engine())
    assert message_for(caught.value.code, caught.value.problem).code == message.code
    assert str(caught.value) == message.shown
    check_plan(compile_query(message.instead, POLICY, catalogue()), engine())


@pytest.fixture(scope="module")
def world():
    with World() as made:
        yield made


@pytest.mark.parametrize("snippet", some([one for one in snippets() if not needs_server(one)], 0.1))
def test_a_snippet_brings_its_message_about(world, snippet):
    told = world.told(snippet)
    assert told is not None
    message = message_for(told.kind, told.words)
    assert message is not None, UPDATE
    if snippet in SHOWN:
        assert message.code == SHOWN[snippet].code, UPDATE
        assert CHANCE in snippet or message.shown == told.whole, UPDATE


def test_a_snippet_that_nobody_minds_is_told_nothing(world):
    assert world.told('db.explain("SELECT COUNT(*) FROM orders")') is None


def test_a_message_is_found_by_code_by_words_and_by_a_whole_line():
    one = next(message for message in REFUSED if GAP not in message.says and len(message.says) > 12)
    assert finding(one.code) == (one,)
    assert one in finding(one.says)
    assert one in finding(f"recuse: line 1, column 8: {one.says}; hint: something")
    assert finding("qwertz") == ()
