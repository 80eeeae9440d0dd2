"""The seam to a database: its catalogue, and the rows of derivation tables as Arrow columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import pyarrow

from recuse.sql.catalogue import Catalogue
from recuse.sql.compile import Plan


class Engine(Protocol):
    """A database that can answer derivation queries."""

    def catalogue(self) -> Catalogue:
        """Return the tables, columns and keys; no values."""
        ...

    def check(self, plan: Plan) -> None:
        """Refuse a query that the database does not understand or types differently; no data is read."""
        ...

    def run(self, statements: Sequence[str]) -> list[pyarrow.Table]:
        """Return the rows of the statements, all of one state of the database.

        Guarantee: reads only; no error, nor its text, depends on the data.
        """
        ...

    def close(self) -> None:
        """Close the database."""
        ...
