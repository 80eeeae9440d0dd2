"""`check`: everything in a source is read once, and what cannot be read as it is declared is named.

For the custodian alone: what it says depends on private rows. At question time the same cells are NULL.
"""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike, fspath
from pathlib import Path

from recuse.engines.check import Unreadable, check_tables
from recuse.errors import DatabaseError, RecuseError
from recuse.graphs.read import read_graph
from recuse.policy import Policy


def check(
    source: str | PathLike[str], policy: Policy | str | PathLike[str] | None = None
) -> Iterator[Unreadable]:
    """Yield what cannot be read in a DuckDB file, a folder of CSV and Parquet files, one of them, or a graph.

    The policy gives the columns of CSV files their types; without one they are text. NOT PRIVATE: this is for
    whoever keeps the data.
    """
    path = Path(fspath(source))
    rules = policy if isinstance(policy, Policy) or policy is None else Policy.read(policy)
    if not path.exists():
        raise DatabaseError(f"there is no {path}", hint="name a DuckDB file, a folder, or a graph file")
    found = check_tables(path, rules)
    yield from _graph(path) if found is None else found


def _graph(path: Path) -> Iterator[Unreadable]:
    try:
        read_graph(path)
    except RecuseError as error:
        yield Unreadable(path.name, None, None, error.problem)
