"""What an engine can do for a solver: keep a table, lend a small one, read rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import pyarrow

from recuse.krelation.relation import Integers


class Warehouse(Protocol):
    """An engine in which tables can be kept; they are gone when nobody holds it any more.

    Guarantee: nothing that is asked here can fail on a row: sums of whole numbers of 128 bits, of which all
    that are asked for stay below 2¹²⁷.
    """

    def keep(self, sql: str) -> str:
        """Return the name of a new table with the rows of a query."""

    def lend(self, columns: Mapping[str, Integers]) -> str:
        """Return the name of a new table of whole numbers that we hand over."""

    def read(self, sql: str) -> pyarrow.Table:
        """Return the rows of a query."""
