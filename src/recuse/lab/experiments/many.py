"""What many groups of many rows cost: a question over made rows beside the plain query. NOT PRIVATE.

    python -m recuse.lab.experiments.many --rows 10000000 --groups 10000

Processor time, not time on a clock: other programs have little influence on it. The first question of a
session also touches memory for the first time.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from recuse.engines.bare import Bare, bare
from recuse.session.session import connect

POLICY = """
[budget]
epsilon = 1000
[[protect]]
table = "users"
key = ["id"]
[[link]]
table = "buys"
column = ["user_id"]
to = "users"
[[public]]
table = "product"
[[domain]]
table = "buys"
column = "product_id"
query = "SELECT id FROM product"
"""
AGGREGATES = ("COUNT(*)", "SUM(amount)")


def made(rows: int, groups: int) -> Iterator[str]:
    """Yield the statements that make the tables: ten rows a user, groups and amounts scattered."""
    users = max(1, rows // 10)
    for name, count in (("users", users), ("product", groups)):
        yield f"CREATE TABLE {name} AS SELECT range AS id FROM range({count})"
        yield f"ALTER TABLE {name} ADD PRIMARY KEY (id)"
    yield (
        f"CREATE TABLE buys AS SELECT (hash(range * 7 + 1) % {users})::BIGINT AS user_id,"
        f" (hash(range * 13 + 5) % {groups})::BIGINT AS product_id,"
        f" (hash(range * 3 + 2) % 100)::INTEGER AS amount FROM range({rows})"
    )


def timed(work: Callable[[str], Any], sql: str) -> float:
    """Return the processor time of some work, of all its threads."""
    start = time.process_time()
    work(sql)
    return time.process_time() - start


def _plainly(connection: Bare, sql: str) -> list[Any]:
    return connection.execute(sql).fetchall()


def costs(database: str, runs: int) -> Iterator[tuple[str, float, list[float]]]:
    """Yield for every aggregate what the plain query costs at least, and what each question does."""
    for number, aggregate in enumerate(AGGREGATES):
        sql = f"SELECT product_id, {aggregate} FROM buys GROUP BY product_id"
        with bare(Path(database)) as plain:
            least = min(timed(partial(_plainly, plain), sql) for _ in range(3))
        with connect(database, f"{database}.toml", f"{database}.{number}.ledger") as session:
            asked = [timed(partial(session.ask, epsilon=1 + run), sql) for run in range(runs)]
        yield sql, least, asked


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--groups", type=int, default=10_000)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    with TemporaryDirectory() as folder:
        database = str(Path(folder) / "many.duckdb")
        with bare(Path(database)) as connection:
            for statement in made(options.rows, options.groups):
                connection.execute(statement)
        Path(f"{database}.toml").write_text(POLICY)
        print("| question | plain | 3 × plain + 2 s | first | later |")
        print("|---|---:|---:|---:|---:|")
        for sql, plain, (first, *later) in costs(database, options.runs):
            rest = ", ".join(f"{one:.2f} s" for one in later)
            print(f"| `{sql}` | {plain:.2f} s | {3 * plain + 2:.2f} s | {first:.2f} s | {rest} |")


if __name__ == "__main__":
    main()
