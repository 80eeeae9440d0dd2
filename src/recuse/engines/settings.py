"""DuckDB's settings: what a connection of our own may use and reach, and which optimisers it does without."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import duckdb

from recuse.engines.literals import text_literal
from recuse.engines.spill import SpillFolder, spill_folder
from recuse.errors import DatabaseError
from recuse.policy import EngineLimits

CONFIGURATION: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
}
WITHOUT = ("common_subexpressions", "type_pushdown")
"""Optimisers that evaluate more than is written: a second line of defence (decisions.md has the cost)"""
STATISTICS = "statistics_propagation"
"""The optimiser that looks at the least and greatest values of columns before a row is read"""
OPTIMISERS = "disabled_optimizers"
ALLOWED = "allowed_configs"
"""what may be set though all is locked; older versions of DuckDB know no such exception"""
_ALONE = threading.Lock()
"""the setting is one for all connections to a database"""
_NAMES: dict[str, frozenset[str]] = {}
"""the settings and optimisers of this version of DuckDB, asked once, of a connection that is open anyway"""
SYSTEM = "system.main"
"""where DuckDB keeps its own functions"""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Fresh:
    """A new connection in memory, and the private folder into which it spills."""

    connection: duckdb.DuckDBPyConnection
    spilled: SpillFolder

    def close(self) -> None:
        """Close the connection and remove its temporary files."""
        self.connection.close()
        self.spilled.remove()


def fresh(limits: EngineLimits, without: Sequence[str] = WITHOUT) -> Fresh:
    """Return a connection within limits; what does not fit into memory goes to its folder, which is 0700."""
    spilled = spill_folder(limits.temp)
    configuration = CONFIGURATION | {"temp_directory": str(spilled.path)}
    if limits.memory is not None:
        configuration["memory_limit"] = f"{limits.memory}B"
    if limits.threads is not None:
        configuration["threads"] = limits.threads
    try:
        connection = duckdb.connect(":memory:", config=configuration)
        if limits.temp_limit is not None:  # in the configuration it would be forgotten
            connection.execute(f"SET max_temp_directory_size = '{limits.temp_limit}B'")
    except duckdb.Error:
        spilled.remove()
        raise DatabaseError(
            "DuckDB does not start with the policy's [engine]", hint="leave a field out, one at a time"
        ) from None
    _learn(connection)
    _switch_off(connection, without if ALLOWED in _known("duckdb_settings") else (*without, STATISTICS))
    made = Fresh(connection, spilled)
    weakref.finalize(made, spilled.remove)  # if nobody closes it
    return made


def switched_off(connection: duckdb.DuckDBPyConnection) -> tuple[str, ...]:
    """Return the optimisers that a database does without."""
    ((names,),) = connection.execute(f"SELECT current_setting('{OPTIMISERS}')").fetchall()
    return tuple(name for name in str(names).split(",") if name)


def switchable(connection: duckdb.DuckDBPyConnection) -> bool:
    """Return whether a database does without statistics, or can be told to."""
    if STATISTICS in switched_off(connection):
        return True
    ((locked,),) = connection.execute("SELECT current_setting('lock_configuration')").fetchall()
    if not locked:
        return True
    if ALLOWED not in _known("duckdb_settings"):
        return False
    ((allowed,),) = connection.execute(f"SELECT current_setting('{ALLOWED}')").fetchall()
    return OPTIMISERS in allowed


@contextmanager
def plainly(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Let statements be planned from their text alone, and nothing be evaluated that is not written.

    The plan of a statement follows from statistics of private columns too, and DuckDB can fail over one.
    """
    with _ALONE:
        before = switched_off(connection)
        _switch_off(connection, dict.fromkeys((*before, *WITHOUT, STATISTICS)))
        try:
            yield
        finally:
            _switch_off(connection, before)


def _switch_off(connection: duckdb.DuckDBPyConnection, names: Iterable[str]) -> None:
    wanted = tuple(name for name in names if name in _known("duckdb_optimizers"))
    if set(wanted) != set(switched_off(connection)):
        connection.execute(f"SET {OPTIMISERS} = '{','.join(wanted)}'")


def _known(table: str) -> frozenset[str]:
    """Return the names that this version of DuckDB has for its settings, or for its optimisers."""
    if table not in _NAMES:
        with duckdb.connect(":memory:", config={"threads": 1}) as connection:
            _learn(connection)
    return _NAMES[table]


def _learn(connection: duckdb.DuckDBPyConnection) -> None:
    """Keep the names that a connection of our own says; another's might say what it likes."""
    for table in ("duckdb_settings", "duckdb_optimizers"):
        if table not in _NAMES:
            found = connection.execute(f"SELECT name FROM {table}()").fetchall()
            _NAMES[table] = frozenset(name for (name,) in found)


def harden(
    connection: duckdb.DuckDBPyConnection, allowed: Iterable[str] = (), functions: str = SYSTEM
) -> None:
    """Lock the connection in: these files and nothing else, and no setting can be changed back."""
    paths = ", ".join(text_literal(path) for path in allowed)
    if paths:
        connection.execute(f"SET allowed_paths = [{paths}]")
    connection.execute("SET enable_external_access = false")
    settle(connection, functions)
    if ALLOWED in _known("duckdb_settings"):
        connection.execute(f"SET {ALLOWED} = ['{OPTIMISERS}']")
    connection.execute("SET lock_configuration = true")


def settle(connection: duckdb.DuckDBPyConnection, functions: str = SYSTEM) -> None:
    """Look functions up in one schema only, and print no progress: times tell about private rows.

    In a notebook without ipywidgets DuckDB shows no progress, and lets nobody change that.
    """
    connection.execute(f"SET search_path = {text_literal(functions)}")
    ((shown,),) = connection.execute("SELECT current_setting('enable_progress_bar')").fetchall()
    if shown:
        connection.execute("SET enable_progress_bar = false")
