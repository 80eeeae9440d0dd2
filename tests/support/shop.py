"""A small made shop in DuckDB, and its policy, for tests of everything above the engine."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb

POLICY = """
[[protect]]
table = "customer"
key = ["id"]

[[link]]
table = "orders"
column = ["customer"]
to = "customer"

[[public]]
table = "nation"

[budget]
epsilon = 2
"""

COUNT = "SELECT COUNT(*) FROM orders"


def make_shop(folder: Path) -> tuple[Path, Path]:
    """Return the paths of a database and of a policy for it."""
    database, policy = folder / "shop.duckdb", folder / "shop.toml"
    policy.write_text(POLICY)
    database.write_bytes(_database())
    return database, policy


@cache
def _database() -> bytes:
    """Return the file of the shop: made once, as making it takes longer than most questions."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "shop.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.execute("CREATE TABLE customer (id INTEGER PRIMARY KEY, name VARCHAR, nation INTEGER)")
            connection.execute(
                "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, price DECIMAL(9, 2))"
            )
            connection.execute("CREATE TABLE nation (id INTEGER PRIMARY KEY, name VARCHAR)")
            connection.execute("CREATE TABLE secret (id INTEGER)")
            connection.execute("INSERT INTO customer SELECT i, 'customer-' || i, i % 5 FROM range(200) t(i)")
            connection.execute("INSERT INTO orders SELECT i, i % 190, i % 7 + 0.25 FROM range(1000) t(i)")
            connection.execute("INSERT INTO orders VALUES (5000, NULL, 1), (5001, 999, 1)")
            connection.execute("INSERT INTO nation SELECT i, 'nation-' || i FROM range(5) t(i)")
        return path.read_bytes()
