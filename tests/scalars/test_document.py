"""docs/reference/functions.md is what the table says, and the table is all of it."""

from __future__ import annotations

from pathlib import Path

from recuse.scalars import document
from recuse.scalars.table import ROWS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "functions.md"


def test_the_page_is_generated_from_the_table():
    assert PAGE.read_text(encoding="utf-8").endswith(document.functions())


def test_the_page_begins_with_what_holds_for_all():
    prose = PAGE.read_text(encoding="utf-8").split("## ")[0]
    for said in ("NULL", "one type", "4,096", "20,000", "one NaN and one zero"):
        assert said in prose


def test_every_function_is_on_the_page():
    listed = [row for _, _, rows in document.KINDS for row in rows]
    assert set(listed) == set(ROWS)
    assert len(listed) == len(ROWS)
