"""TPC-H's tables with a few made rows, as Parquet files, which is how the real ones come."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import duckdb

SCHEMA = (Path(__file__).parents[1] / "sql" / "tpch" / "schema.sql").read_text()
FEW = {
    "region": 2,
    "nation": 4,
    "supplier": 5,
    "customer": 6,
    "part": 5,
    "partsupp": 5,
    "orders": 20,
    "lineitem": 60,
}
MORE = FEW | {"supplier": 12, "customer": 40, "part": 12, "partsupp": 12, "orders": 160, "lineitem": 800}


def values(rows: Mapping[str, int]) -> dict[str, str]:
    """Return how columns are made from the number of a row, i; those that are not named are i itself."""
    days = "DATE '1994-06-01' + CAST({} AS INTEGER)"
    return {
        "n_regionkey": "i % 2",
        "s_nationkey": "i % 4",
        "c_nationkey": "i % 4",
        "o_custkey": f"i % {rows['customer']}",
        "l_orderkey": f"i % {rows['orders']}",
        "l_partkey": f"i % {rows['part']}",
        "l_suppkey": f"i % {rows['supplier']}",
        "l_linenumber": f"i // {rows['orders']}",
        "ps_supplycost": "1000 + i",
        "ps_availqty": "5000 + i",
        "o_orderdate": days.format("i * 60"),
        **dict.fromkeys(["l_shipdate", "l_commitdate", "l_receiptdate"], days.format("i * 20")),
        "l_discount": "i % 10 / 100",
    }


def uneven(rows: Mapping[str, int]) -> dict[str, str]:
    """Return the same, but that some customers have many orders and some suppliers most of the items."""
    supplier = f"(i * i // 97 + i % 3) % {rows['supplier']}"
    return values(rows) | {
        "o_custkey": f"(i * i // 700) % {rows['customer']}",
        "l_partkey": supplier,
        "l_suppkey": supplier,
        "o_orderdate": "DATE '1994-06-01' + CAST(i * 7 AS INTEGER)",
        **dict.fromkeys(
            ["l_shipdate", "l_commitdate", "l_receiptdate"], "DATE '1994-06-01' + CAST(i * 2 AS INTEGER)"
        ),
    }


def make_parquet(folder: Path, rows: Mapping[str, int], columns: Mapping[str, str]) -> None:
    """Write a file a table."""
    with duckdb.connect(":memory:") as made:
        made.execute(SCHEMA)
        for table, count in rows.items():
            outputs = [
                f"CAST({columns.get(name, 'i')} AS {kind}) AS {name}"
                for name, kind, *_ in made.sql(f"DESCRIBE {table}").fetchall()
            ]
            made.execute(
                f"COPY (SELECT {', '.join(outputs)} FROM range({count}) AS r(i)) "
                f"TO '{folder / f'{table}.parquet'}' (FORMAT parquet)"
            )
