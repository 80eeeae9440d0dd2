"""The seam to a database: its catalogue, and the rows of a derivation query as Arrow columns."""

from __future__ import annotations

from typing import Protocol

import pyarrow

from recuse.sql.catalogue import Catalogue
from recuse.sql.compile import DerivationQuery


class Engine(Protocol):
    """A database that can answer derivation queries."""

    def catalogue(self) -> Catalogue:
        """Return the tables, columns and keys; no values."""
        ...

    def check(self, query: DerivationQuery) -> None:
        """Refuse a query that the database does not understand or types differently; no data is read."""
        ...

    def run(self, query: DerivationQuery) -> pyarrow.Table:
        """Return the owner columns and the weights of all derivations.

        Guarantee: reads only; no error, nor its text, depends on the data.
        """
        ...
