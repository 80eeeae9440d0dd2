"""What is not understood is refused with the problem, its place and a hint."""

from __future__ import annotations

from pathlib import Path

import pytest

from recuse.errors import QueryError
from support.sql.native import read

LINES = [line.split(" | ") for line in (Path(__file__).parent / "refused.txt").read_text().splitlines()]


@pytest.mark.parametrize(("text", "problem", "hint"), LINES, ids=lambda part: part[:60])
def test_it_is_refused_with_place_and_hint(text: str, problem: str, hint: str):
    with pytest.raises(QueryError) as refused:
        read(text)
    assert problem in str(refused.value)
    assert "line 1, column" in str(refused.value)
    assert hint == "-" or hint in (refused.value.hint or "")
