"""Characters as a reader sees them are those of DuckDB."""

from __future__ import annotations

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.scalars.letters import clusters

WOMAN, JOINER = "\U0001f469", "\u200d"


@pytest.fixture(scope="module")
def connection():
    with duckdb.connect() as opened:
        yield opened


def reversed_by_duckdb(connection, text: str) -> str:
    return connection.execute("SELECT reverse(?)", [text]).fetchone()[0]


@given(st.text(st.sampled_from([WOMAN, JOINER, "a", "\u0301", "\u0903", "\r", "\n", "é"]), max_size=9))
def test_pictures_joiners_and_marks(connection, text):
    assert "".join(reversed(clusters(text))) == reversed_by_duckdb(connection, text)


def test_after_two_joiners_nothing_is_joined():
    assert clusters(WOMAN + 2 * JOINER + WOMAN) == [WOMAN + 2 * JOINER, WOMAN]
    assert clusters(WOMAN + JOINER + WOMAN) == [WOMAN + JOINER + WOMAN]
