"""What the engine's precautions cost: `python -m recuse.lab.experiments.engine [--rows N]`, on data made up.

Processor time, the best of several rounds in which all variants take turns; each ratio is to the first
variant of its list, which runs twice: its second time is the control.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

from recuse.engines.bare import bare
from recuse.engines.duckdb import DuckDB
from recuse.engines.files import csv_format, typed_columns
from recuse.engines.literals import text_literal
from recuse.engines.settings import WITHOUT
from recuse.policy import Policy

ROUNDS = 5
MADE = """
CREATE TABLE customer AS SELECT i AS c_custkey, i % 25 AS c_nationkey,
    ['BUILDING', 'MACHINERY', 'FURNITURE'][1 + i % 3] AS c_mktsegment FROM range({rows} // 40) r(i);
CREATE TABLE orders AS SELECT i AS o_orderkey, (i * 7919) % ({rows} // 40) AS o_custkey,
    DATE '1992-01-01' + CAST(i % 2400 AS INTEGER) AS o_orderdate FROM range({rows} // 4) r(i);
CREATE TABLE lineitem AS SELECT i // 4 AS l_orderkey, (i * 7919) % 200000 AS l_partkey,
    CAST(i % 50 AS DECIMAL(15, 2)) AS l_quantity,
    CAST((i * 37) % 100000 / 100 AS DECIMAL(15, 2)) AS l_extendedprice,
    CAST(i % 11 / 100 AS DECIMAL(15, 2)) AS l_discount, CAST(i % 9 / 100 AS DECIMAL(15, 2)) AS l_tax,
    ['R', 'A', 'N'][1 + i % 3] AS l_returnflag, ['O', 'F'][1 + i % 2] AS l_linestatus,
    DATE '1992-01-01' + CAST(i % 2500 AS INTEGER) AS l_shipdate,
    ['TRUCK', 'MAIL', 'SHIP', 'AIR'][1 + i % 4] AS l_shipmode,
    md5(CAST(i AS VARCHAR)) || ' furiously, "quoted"' AS l_comment FROM range({rows}) r(i);
"""
QUERIES = (
    "SELECT l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice * (1 - l_discount)), "
    "sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)), count(*) FROM lineitem "
    "WHERE l_shipdate <= DATE '1998-09-02' GROUP BY ALL",
    "SELECT sum(l_extendedprice * (1 - l_discount)) FROM customer JOIN orders ON c_custkey = o_custkey "
    "JOIN lineitem ON l_orderkey = o_orderkey "
    "WHERE c_mktsegment = 'BUILDING' AND o_orderdate < DATE '1995-03-15'",
    "SELECT sum(l_extendedprice * l_discount) FROM lineitem WHERE l_shipdate >= DATE '1994-01-01' "
    "AND l_shipdate < DATE '1995-01-01' AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24",
    "SELECT l_shipmode, count(*) FROM orders JOIN lineitem ON o_orderkey = l_orderkey "
    "WHERE l_shipmode IN ('MAIL', 'SHIP') GROUP BY l_shipmode",
    "SELECT count(*) FROM lineitem WHERE l_comment LIKE '%abc%'",
    "SELECT count(*) FROM (SELECT DISTINCT l_orderkey, l_partkey FROM lineitem)",
)
FILE_QUERIES = (
    "SELECT sum(l_extendedprice), max(l_shipdate) FROM {0}",
    "SELECT count(*) FROM {0} WHERE l_comment LIKE '%abc%'",
    "SELECT count(*) FROM {0} a JOIN {0} b ON a.l_orderkey = b.l_orderkey WHERE a.l_shipmode = 'AIR'",
)
TYPES = {"l_orderkey": "BIGINT", "l_quantity": "DECIMAL(15, 2)", "l_extendedprice": "DECIMAL(15, 2)"}
POLICY = Policy.parse(
    '[[protect]]\ntable = "customer"\nkey = ["c_custkey"]\n'
    + "".join(
        f"[columns.{table}]\n" + "".join(f'{name} = "{kind}"\n' for name, kind in TYPES.items())
        for table in ("plain", "quoted")
    )
)
OLD = (
    "auto_detect = false, header = true, quote = '\"', escape = '\"', "
    "ignore_errors = true, null_padding = true, strict_mode = false, parallel = false"
)
"""How CSV files were read before: an unclosed quote swallowed all later lines."""

Run = Callable[[], object]


def timed(variants: dict[str, Run]) -> dict[str, float]:
    """Return the least processor time of each variant, all of them taking turns."""
    best = dict.fromkeys(variants, float("inf"))
    names = list(variants)
    for turn in range(ROUNDS):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            start = time.process_time()
            variants[name]()
            best[name] = min(best[name], time.process_time() - start)
    return best


def optimisers(rows: int) -> Iterator[str]:
    """Yield how much longer queries take without some optimisers: the geometric mean of the ratios."""
    choices = {"all": "", "all again": "", **{name: name for name in WITHOUT}, "both": ",".join(WITHOUT)}
    with closing(bare(threads=1)) as connection:
        connection.execute(MADE.format(rows=rows))

        def run(without: str, sql: str) -> None:
            connection.execute(f"SET disabled_optimizers = '{without}'")
            connection.execute(sql).fetchall()

        product = dict.fromkeys(choices, 1.0)
        for sql in QUERIES:
            found = timed({name: partial(run, off, sql) for name, off in choices.items()})
            for name, seconds in found.items():
                product[name] *= (seconds / found["all"]) ** (1 / len(QUERIES))
        for name, ratio in product.items():
            yield f"{'without ' + name if name in WITHOUT or name == 'both' else name:<32}{ratio:.2f}"


def files(rows: int, folder: Path) -> Iterator[str]:
    """Yield how much longer it takes to read files so that no line or cell has an influence on others."""
    with closing(bare()) as made:
        made.execute(MADE.format(rows=rows))
        made.execute(f"COPY lineitem TO {text_literal(str(folder / 'plain.csv'))} (HEADER)")
        made.execute(f"COPY lineitem TO {text_literal(str(folder / 'quoted.csv'))} (HEADER, FORCE_QUOTE *)")
        made.execute(f"COPY lineitem TO {text_literal(str(folder / 'columns.parquet'))}")
    for table in ("plain", "quoted", "columns"):
        for sql in FILE_QUERIES:
            found = timed(_readers(folder, table, sql))
            first = found["before"]
            yield (
                f"{table:<8} {sql[:48]:<50} before {first:.2f} s, again {found['again'] / first:.2f}, "
                f"first question {found['now'] / first:.2f}, later ones {found['later'] / first:.2f}"
            )


def _readers(folder: Path, table: str, sql: str) -> dict[str, Run]:
    old = bare()
    if table == "columns":
        old.execute(
            f"CREATE VIEW columns AS FROM read_parquet({text_literal(str(folder / 'columns.parquet'))})"
        )
    else:
        path = folder / f"{table}.csv"
        names = csv_format(path).names
        columns = ", ".join(f"{text_literal(name)}: 'VARCHAR'" for name in names)
        old.execute(
            f"CREATE VIEW {table} AS SELECT {typed_columns(table, names, POLICY)} FROM "
            f"read_csv({text_literal(str(path))}, delim = ',', columns = {{{columns}}}, {OLD})"
        )
    statement = sql.format(f"memory.main.{table}")
    opened = DuckDB.open(folder, POLICY)

    def now() -> None:
        with DuckDB.open(folder, POLICY) as engine:
            engine.run([statement])

    def before() -> None:
        old.execute(statement).fetchall()

    return {"before": before, "again": before, "now": now, "later": lambda: opened.run([statement])}


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    rows = parser.parse_args().rows
    print("ratios of processor time, optimisers disabled, geometric mean of", len(QUERIES), "queries")
    for line in optimisers(rows):
        print(line)
    with tempfile.TemporaryDirectory() as folder:
        for line in files(rows, Path(folder)):
            print(line)


if __name__ == "__main__":
    main()
