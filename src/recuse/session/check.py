"""`check`: everything in a source is read once, and what does not stand there as it is declared is named.

For the custodian alone: what it says depends on private rows. At question time cells that cannot be read are
NULL, and a declared key is believed: neither is told.
"""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike, fspath
from pathlib import Path

from recuse.engines.check import Unreadable, check_tables
from recuse.engines.files import TABLE_FILES
from recuse.engines.open import is_address
from recuse.errors import DatabaseError, RecuseError
from recuse.graphs.read import read_graph
from recuse.policy import Policy
from recuse.session.declared import FalseKey, false_keys


def check(
    source: str | PathLike[str], policy: Policy | str | PathLike[str] | None = None
) -> Iterator[Unreadable | FalseKey]:
    """Yield what cannot be read, and which declared keys do not hold, in a database, files or a graph.

    The source is a DuckDB file, a folder of CSV and Parquet files, one of them, a graph, or the address of a
    database on a server, which reads its own cells. The policy gives the columns of CSV files their types,
    and declares keys, which are tried where the whole database is named. NOT PRIVATE: this is for whoever
    keeps the data.
    """
    rules = policy if isinstance(policy, Policy) or policy is None else Policy.read(policy)
    if is_address(source):
        yield from () if rules is None else false_keys(source, rules)
        return
    path = Path(fspath(source))
    if not path.exists():
        raise DatabaseError(f"there is no {path}", hint="name a DuckDB file, a folder, or a graph file")
    found = check_tables(path, rules)
    yield from _graph(path) if found is None else found
    if found is not None and rules is not None and path.suffix.lower() not in TABLE_FILES:
        yield from false_keys(path, rules)


def _graph(path: Path) -> Iterator[Unreadable]:
    try:
        read_graph(path)
    except RecuseError as error:
        yield Unreadable(path.name, None, None, error.problem)
