"""What own subqueries cost: our statements beside the question as it is written. NOT PRIVATE, made data.

    python -m recuse.lab.experiments.own_cost tpch.duckdb [--runs 5]

Both are run by the same engine, one after the other; the least processor time of some runs counts.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

from recuse.engines.bare import Bare, bare
from recuse.engines.duckdb import DuckDB
from recuse.lab.experiments.tpch_written import policy_with
from recuse.policy import Policy
from recuse.sql.compile import compile_query

QUESTIONS = {
    "orders per customer": "SELECT COUNT(*) FROM (SELECT o_custkey FROM orders GROUP BY o_custkey "
    "HAVING COUNT(*) > 3) t",
    "first orders": "SELECT SUM(o_totalprice) FROM (SELECT * FROM orders QUALIFY ROW_NUMBER() OVER "
    "(PARTITION BY o_custkey ORDER BY o_orderdate, o_orderkey) = 1) t",
    "above the own average": "SELECT COUNT(*) FROM orders o WHERE o_totalprice > (SELECT AVG(o_totalprice) "
    "FROM orders p WHERE p.o_custkey = o.o_custkey)",
    "customers without orders": "SELECT COUNT(*) FROM customer WHERE NOT EXISTS (SELECT 1 FROM orders WHERE "
    "o_custkey = c_custkey)",
    "last order is large": "SELECT COUNT(*) FROM customer WHERE (SELECT o_totalprice FROM orders WHERE "
    "o_custkey = c_custkey ORDER BY o_orderdate DESC, o_orderkey LIMIT 1) > 100000",
    "days between orders": "SELECT SUM(d) FROM (SELECT o_orderdate - LAG(o_orderdate) OVER (PARTITION BY "
    "o_custkey ORDER BY o_orderdate, o_orderkey) AS d FROM orders) t",
    "histogram of orders": "SELECT n, COUNT(*) FROM (SELECT c_custkey, COUNT(o_orderkey) AS n FROM customer "
    "LEFT JOIN orders ON o_custkey = c_custkey GROUP BY c_custkey) t WHERE n IN (0, 5, 10, 20) GROUP BY n",
}


def least(run: Callable[[], object], runs: int) -> float:
    """Return the least processor time of some runs."""
    found = []
    for _ in range(runs):
        began = time.process_time()
        run()
        found.append(time.process_time() - began)
    return min(found)


def _run_plainly(connection: Bare, sql: str) -> None:
    connection.execute(sql).fetchall()


def costs(database: Path, policy: Policy, runs: int) -> Iterator[tuple[str, float, float]]:
    """Yield of every question the seconds of processor time of plain SQL, and of our statements."""
    with closing(bare(database, read_only=True)) as connection, closing(DuckDB.open(connection)) as engine:
        for name, sql in QUESTIONS.items():
            statements = list(compile_query(sql, policy, engine.catalogue()).statements)
            plain = least(partial(_run_plainly, connection, sql), runs)
            ours = least(partial(engine.run, statements), runs)
            yield name, plain, ours


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("database", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    policy = policy_with(options.database, ["customer"], "")
    print("| question | plain SQL | own | own / plain |", "|---|---:|---:|---:|", sep="\n")
    for name, plain, ours in costs(options.database, policy, options.runs):
        print(f"| {name} | {plain:.2f} s | {ours:.2f} s | {ours / plain:.1f} |", flush=True)


if __name__ == "__main__":
    main()
