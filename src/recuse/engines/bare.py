"""A bare DuckDB connection, for data that is made up or public: demonstrations, estimates, experiments.

NOT PRIVATE: it may read and write whatever it can reach. What is private is opened by `engines.open`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import duckdb
import pyarrow

Bare = duckdb.DuckDBPyConnection
BareError = duckdb.Error


def bare(path: Path | None = None, *, read_only: bool = False, threads: int | None = None) -> Bare:
    """Return a connection to a DuckDB file, made if it is not there, or to a database in memory."""
    configuration: dict[str, str | bool | int | float | list[str]] = (
        {} if threads is None else {"threads": threads}
    )
    return duckdb.connect(
        ":memory:" if path is None else str(path), read_only=read_only, config=configuration
    )


def fill(connection: Bare, insert: str, columns: Mapping[str, Any]) -> None:
    """Run a statement that takes rows from the table `made`, which has these columns."""
    connection.register("made", pyarrow.table(dict(columns)))
    connection.execute(insert)
    connection.unregister("made")
