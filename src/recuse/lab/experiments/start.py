"""How much processor time a process takes from its start to its first answer.

    python -m recuse.lab.experiments.start [--times 9]

A made database of 500 customers and 5,000 orders is asked for their number, in a process of its own each
time. The first of them, which may have to compile modules, is not counted.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from recuse.engines.bare import bare

POLICY = """
[[protect]]
table = "customer"
key = ["id"]
[[link]]
table = "orders"
column = ["customer"]
to = "customer"
[budget]
epsilon = 1
"""
ASKED = """
import recuse
with recuse.connect("shop.duckdb", policy="shop.toml") as db:
    db.ask("SELECT COUNT(*) FROM orders JOIN customer ON orders.customer = customer.id", epsilon=0.5)
"""


def first_answer() -> float:
    """Return the seconds of processor time that a process of its own took, user and system."""
    with tempfile.TemporaryDirectory() as folder:
        with bare(Path(folder) / "shop.duckdb") as connection:
            connection.execute("CREATE TABLE customer (id INTEGER PRIMARY KEY)")
            connection.execute("INSERT INTO customer SELECT i FROM range(500) AS made(i)")
            connection.execute("CREATE TABLE orders (customer INTEGER REFERENCES customer (id))")
            connection.execute("INSERT INTO orders SELECT i % 500 FROM range(5000) AS made(i)")
        (Path(folder) / "shop.toml").write_text(POLICY)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", ASKED], cwd=folder, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the least, the median and the largest."""
    parser = argparse.ArgumentParser(description="Processor time from the start to the first answer.")
    parser.add_argument("--times", type=int, default=9)
    times = parser.parse_args(arguments).times
    first_answer()
    taken = sorted(first_answer() for _ in range(times))
    print(f"least {taken[0]:.2f} s   median {median(taken):.2f} s   largest {taken[-1]:.2f} s")


if __name__ == "__main__":
    main()
