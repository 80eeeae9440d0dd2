"""Source → the engine that has it. An adapter is one module and one line here, imported when it is needed.

ADAPTERS   which sources an adapter opens, and where it is; the first that accepts a source opens it
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from os import PathLike
from typing import Any, Protocol, cast

import pyarrow

from recuse.engines.addresses import place_at
from recuse.engines.engine import Engine
from recuse.engines.postgres_place import is_postgres, unreadable
from recuse.engines.spark_place import is_spark
from recuse.errors import DatabaseError
from recuse.extras import import_extra
from recuse.policy import Policy


class OpenConnection(Protocol):
    """An open connection to a database, made by the database's own package."""

    def cursor(self) -> Any:
        """Return another connection to the same database."""
        ...

    def close(self) -> None:
        """Close it."""
        ...


Source = str | PathLike[str] | Mapping[str, Any] | OpenConnection


class Adapter(Protocol):
    """The module of an adapter."""

    def open_source(self, source: Any, policy: Policy | None) -> Engine:
        """Return the engine of a source that the adapter accepts."""
        ...


@dataclass(frozen=True, slots=True)
class Registration:
    """An adapter: which sources it accepts, told without importing it, the name of its module, its extra."""

    accepts: Callable[[object], bool]
    module: str
    extra: tuple[str, str] = ("DuckDB", "")
    """what it reads, and what is installed for it"""


def made_by(source: object, *packages: str) -> bool:
    """Return whether an object's type comes from one of the packages, none of which is imported."""
    return any(kind.__module__.partition(".")[0] in packages for kind in type(source).__mro__)


EMBEDDED = "recuse.engines.duckdb"
ADAPTERS: list[Registration] = [
    Registration(is_postgres, "recuse.engines.postgres", ("PostgreSQL", "recuse[postgres]")),
    Registration(
        lambda source: is_spark(source) or made_by(source, "pyspark"),
        "recuse.engines.spark",
        ("Spark", "recuse[spark]"),
    ),
    Registration(
        lambda source: isinstance(source, str | PathLike | Mapping) or made_by(source, "duckdb", "_duckdb"),
        EMBEDDED,
    ),
]


def open_engine(source: Source, policy: Policy | None = None) -> Engine:
    """Return the engine of a database file, a folder of files, frames by name, or an open connection.

    The policy says what the engine may use of the machine, and gives columns of files and frames their types.
    """
    registration = _registered(source)
    reads, extra = registration.extra
    absent = DatabaseError(f"the packages that read {reads} are not installed", hint=f"pip install '{extra}'")
    adapter: Adapter = import_extra(registration.module, absent)
    return adapter.open_source(source, policy)


def open_tables(tables: Mapping[str, pyarrow.Table]) -> Engine:
    """Return the embedded engine with tables of our own, found by their names alone.

    Joins run in the order in which they are written.
    """
    return cast(Engine, import_module(EMBEDDED).DuckDB.of_tables(tables))


def recognised(source: Source) -> Source:
    """Return a source that an adapter accepts, or say how frames are passed."""
    _registered(source)
    return source


def is_address(source: object) -> bool:
    """Return whether a source is the address of something on a server, known or not, and no path."""
    return isinstance(source, str) and re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", source) is not None


def _registered(source: object) -> Registration:
    if is_address(source) and place_at(source) is None:
        raise unreadable()  # nothing of it is shown: there may be a password in it
    for registration in ADAPTERS:
        if registration.accepts(source):
            return registration
    raise DatabaseError(
        "frames are passed by name, so that SQL can name them",
        found=type(source).__name__,
        hint='{"orders": frame} in place of frame',
    )
