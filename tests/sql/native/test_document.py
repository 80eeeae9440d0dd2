"""docs/reference/aggregates.md is what the table says."""

from __future__ import annotations

from pathlib import Path

from recuse.sql.native.document import rows_functions
from recuse.sql.native.functions import TABLE

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "aggregates.md"


def test_the_page_is_generated_from_the_table():
    text = PAGE.read_text(encoding="utf-8")
    assert text.endswith(rows_functions())
    assert all(row.about in text for row in TABLE.values())
