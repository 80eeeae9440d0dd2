"""Tables: what the reader of queries needs to know of the tables and aliases of a whole question."""

from __future__ import annotations

from typing import Protocol

from sqlglot import exp

from recuse.sql.catalogue import Table
from recuse.sql.query import Scan


class Tables(Protocol):
    """The tables of a question, and the aliases that are taken in it."""

    def known_table(self, item: exp.Table, /) -> Table:
        """Return the table that an item names, or refuse it."""
        ...

    def met(self, scan: Scan, item: exp.Expr, /) -> None:
        """Take note of a table that is read."""
        ...

    def fresh(self, wish: str, /) -> str:
        """Return an alias that nothing has yet."""
        ...

    def alias(self, wish: str, /) -> str:
        """Return an alias that nothing has yet, and nothing else will have."""
        ...
