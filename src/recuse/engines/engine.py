"""The seam to a database. It takes text, not plans: what a question means is settled above it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import pyarrow

from recuse.policy import EngineLimits
from recuse.solver.kept.warehouse import Warehouse
from recuse.sql.catalogue import Catalogue
from recuse.sql.dialect import Dialect


class Engine(Protocol):
    """A database that can answer derivation queries; `tests/engines/conformance.py` is what it promises."""

    @property
    def dialect(self) -> Dialect:
        """The SQL in which its statements are written."""
        ...

    @property
    def limits(self) -> EngineLimits:
        """What it may use of the machine; None where that is not ours to say."""
        ...

    def catalogue(self) -> Catalogue:
        """Return the tables, columns and keys, types as `scalars.types.stored` reads them; no values."""
        ...

    def bind(self, sql: str) -> str | None:
        """Return why a statement does not bind, in one line; None if it does. No row is read."""
        ...

    def run(self, statements: Sequence[str]) -> list[pyarrow.Table]:
        """Return the rows of the statements, all of one state of the database.

        Guarantee: reads only; no error, nor its text, depends on the data.
        """
        ...

    def close(self) -> None:
        """Close the database; a second time does nothing."""
        ...


@runtime_checkable
class KeepingEngine(Engine, Protocol):
    """An engine in which relations can stay: only what a program needs leaves it."""

    @property
    def keeps(self) -> bool:
        """Whether they do: it follows from what the policy says of the machine."""
        ...

    def keep(self, statements: Sequence[str]) -> tuple[Warehouse, list[str]]:
        """Return tables with the rows of the statements, all of one state of the database; as `run`."""
        ...
