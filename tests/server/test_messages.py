"""Examples of the catalogue that are said to a server bring their messages about."""

from __future__ import annotations

import pytest

from recuse.messages import message_for, messages
from support.brought import World, needs_server, snippets

SHOWN = {message.example: message for message in messages()}


@pytest.fixture(scope="module")
def world():
    with World() as made:
        yield made


@pytest.mark.parametrize("snippet", [one for one in snippets() if needs_server(one)])
def test_a_snippet_that_is_said_to_a_server_brings_its_message_about(world, snippet):
    told = world.told(snippet)
    assert told is not None
    message = message_for(told.kind, told.words)
    assert message is not None
    if snippet in SHOWN:
        assert (message.code, message.shown) == (SHOWN[snippet].code, told.whole)
