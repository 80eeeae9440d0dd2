"""The table of aggregates and window functions → the page that lists them for users."""

from __future__ import annotations

from recuse.sql.native.functions import TABLE, RowsFunction
from recuse.sql.native.windows import WINDOWS


def rows_functions() -> str:
    """Return the aggregates, then the functions that need OVER, as tables in Markdown."""
    aggregates = [row for name, row in TABLE.items() if name not in WINDOWS]
    windows = [row for name, row in TABLE.items() if name in WINDOWS]
    return f"{_part('Aggregates', aggregates)}\n{_part('Window functions', windows)}"


def _part(title: str, rows: list[RowsFunction]) -> str:
    listed = "\n".join(f"| `{row.form}` | {row.about} |" for row in rows)
    return f"## {title}\n\n| form | meaning |\n|---|---|\n{listed}\n"
