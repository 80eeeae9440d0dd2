"""A DuckDB connection of our own: what it may use of the machine, and which optimisers it does without."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from dataclasses import dataclass
from pathlib import Path

import duckdb

from recuse.errors import DatabaseError
from recuse.policy import EngineLimits

CONFIGURATION: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
}
WITHOUT = ("common_subexpressions", "type_pushdown")
"""Optimisers that evaluate more than is written: a second line of defence (docs/decisions.md has the cost)"""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Fresh:
    """A new connection in memory, and the private folder into which it spills."""

    connection: duckdb.DuckDBPyConnection
    temp: Path

    def close(self) -> None:
        """Close the connection and remove its temporary files."""
        self.connection.close()
        shutil.rmtree(self.temp, ignore_errors=True)


def fresh(limits: EngineLimits) -> Fresh:
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
    without = ",".join(name for name in WITHOUT if name in known)
    connection.execute(f"SET disabled_optimizers = '{without}'")
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
