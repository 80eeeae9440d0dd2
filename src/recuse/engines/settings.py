"""DuckDB's settings: what a connection of our own may use and reach, and which optimisers it does without."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import duckdb

from recuse.engines.literals import text_literal
from recuse.errors import DatabaseError
from recuse.policy import EngineLimits

CONFIGURATION: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
}
WITHOUT = ("common_subexpressions", "type_pushdown")
"""Optimisers that evaluate more than is written: a second line of defence (decisions.md has the cost)"""
SYSTEM = "system.main"
"""where DuckDB keeps its own functions"""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Fresh:
    """A new connection in memory, and the private folder into which it spills."""

    connection: duckdb.DuckDBPyConnection
    temp: Path

    def close(self) -> None:
        """Close the connection and remove its temporary files."""
        self.connection.close()
        shutil.rmtree(self.temp, ignore_errors=True)


def fresh(limits: EngineLimits, without: Sequence[str] = WITHOUT) -> Fresh:
    """Return a connection within limits; what does not fit into memory goes to its folder, which is 0700."""
    temp = _private_folder(limits.temp)
    configuration = CONFIGURATION | {"temp_directory": str(temp)}
    if limits.memory is not None:
        configuration["memory_limit"] = f"{limits.memory}B"
    if limits.threads is not None:
        configuration["threads"] = limits.threads
    try:
        connection = duckdb.connect(":memory:", config=configuration)
        if limits.temp_limit is not None:  # in the configuration it would be forgotten
            connection.execute(f"SET max_temp_directory_size = '{limits.temp_limit}B'")
    except duckdb.Error:
        shutil.rmtree(temp, ignore_errors=True)
        raise DatabaseError(
            "DuckDB does not start with the policy's [engine]", hint="leave a field out, one at a time"
        ) from None
    known = {name for (name,) in connection.execute("SELECT name FROM duckdb_optimizers()").fetchall()}
    disabled = ",".join(name for name in without if name in known)
    connection.execute(f"SET disabled_optimizers = '{disabled}'")
    made = Fresh(connection, temp)
    weakref.finalize(made, shutil.rmtree, temp, ignore_errors=True)  # if nobody closes it
    return made


def _private_folder(within: str | None) -> Path:
    """Return a new folder that only its owner can read."""
    try:
        return Path(tempfile.mkdtemp(prefix="recuse-", dir=within)).resolve()
    except OSError:
        raise DatabaseError(
            "there is no place for temporary files",
            found=within or tempfile.gettempdir(),
            hint='name a folder that can be written: [engine], temp = "folder"',
        ) from None


def harden(
    connection: duckdb.DuckDBPyConnection, allowed: Iterable[str] = (), functions: str = SYSTEM
) -> None:
    """Lock the connection in: these files and nothing else, and no setting can be changed back."""
    paths = ", ".join(text_literal(path) for path in allowed)
    if paths:
        connection.execute(f"SET allowed_paths = [{paths}]")
    connection.execute("SET enable_external_access = false")
    settle(connection, functions)
    connection.execute("SET lock_configuration = true")


def settle(connection: duckdb.DuckDBPyConnection, functions: str = SYSTEM) -> None:
    """Look functions up in one schema only, and print no progress: times tell about private rows.

    In a notebook without ipywidgets DuckDB shows no progress, and lets nobody change that.
    """
    connection.execute(f"SET search_path = {text_literal(functions)}")
    ((shown,),) = connection.execute("SELECT current_setting('enable_progress_bar')").fetchall()
    if shown:
        connection.execute("SET enable_progress_bar = false")
