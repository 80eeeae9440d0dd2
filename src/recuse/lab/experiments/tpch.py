"""Ten TPC-H questions: load the tables with their keys, ask, and compare with plain SQL.

    python -m recuse.lab.experiments.tpch load PARQUET_FOLDER tpch.duckdb
    python -m recuse.lab.experiments.tpch bench tpch.duckdb [--epsilon 0.8] [--runs 100] [Q3 Q5 …]

The Parquet files come from `tpchgen-cli parquet -s 1 --output-dir=PARQUET_FOLDER`. `bench` shows errors
against the truth: it is an experiment on made data, not a private answer.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from recuse.engines.bare import bare
from recuse.engines.binding import check_plan
from recuse.engines.collect import collect
from recuse.engines.engine import Engine
from recuse.engines.open import open_engine
from recuse.krelation.relation import KRelation
from recuse.mechanism.mechanisms import DEFAULT, mechanism_for
from recuse.mechanism.prepared import prepare
from recuse.noise import SecureNoise
from recuse.policy import Policy
from recuse.privacy import Epsilon
from recuse.solver.fast import fast_programs
from recuse.sql.compile import compile_query, schema_of
from recuse.sql.draft import draft
from recuse.sql.lower import written_out
from recuse.sql.plan import Plan

KEYS: dict[str, tuple[str, ...]] = {
    "region": ("r_regionkey",),
    "nation": ("n_nationkey",),
    "supplier": ("s_suppkey",),
    "customer": ("c_custkey",),
    "part": ("p_partkey",),
    "partsupp": ("ps_partkey", "ps_suppkey"),
    "orders": ("o_orderkey",),
    "lineitem": ("l_orderkey", "l_linenumber"),
}
REFERENCES: dict[str, tuple[tuple[tuple[str, ...], str], ...]] = {
    "nation": ((("n_regionkey",), "region"),),
    "supplier": ((("s_nationkey",), "nation"),),
    "customer": ((("c_nationkey",), "nation"),),
    "partsupp": ((("ps_partkey",), "part"), (("ps_suppkey",), "supplier")),
    "orders": ((("o_custkey",), "customer"),),
    "lineitem": ((("l_orderkey",), "orders"), (("l_partkey", "l_suppkey"), "partsupp")),
}


@dataclass(frozen=True, slots=True)
class TpchQuery:
    """A question, who is protected, and the unit in which a sum is counted."""

    name: str
    protect: tuple[str, ...]
    sql: str
    granularity: str | None = None


NATIONS = "JOIN nation n1 ON s_nationkey = n1.n_nationkey JOIN nation n2 ON c_nationkey = n2.n_nationkey"
SALES = (
    "FROM supplier JOIN lineitem ON s_suppkey = l_suppkey JOIN orders ON o_orderkey = l_orderkey "
    "JOIN customer ON c_custkey = o_custkey"
)
QUESTIONS = (
    TpchQuery(
        "Q3",
        ("customer",),
        "SELECT COUNT(*) FROM customer JOIN orders ON c_custkey = o_custkey "
        "JOIN lineitem ON l_orderkey = o_orderkey "
        "WHERE o_orderdate < DATE '1997-01-01' AND l_shipdate > DATE '1994-01-01'",
    ),
    TpchQuery("Q12", ("orders",), "SELECT COUNT(*) FROM orders JOIN lineitem ON o_orderkey = l_orderkey"),
    TpchQuery(
        "Q20",
        ("supplier",),
        "SELECT COUNT(*) FROM supplier JOIN nation ON s_nationkey = n_nationkey "
        "JOIN partsupp ON ps_suppkey = s_suppkey "
        "JOIN lineitem ON l_partkey = ps_partkey AND l_suppkey = ps_suppkey",
    ),
    TpchQuery(
        "Q5",
        ("customer", "supplier"),
        f"SELECT COUNT(*) {SALES} AND c_nationkey = s_nationkey JOIN nation ON s_nationkey = n_nationkey "
        "JOIN region ON n_regionkey = r_regionkey",
    ),
    TpchQuery(
        "Q8",
        ("customer", "supplier"),
        f"SELECT COUNT(*) {SALES} {NATIONS} JOIN region ON n2.n_regionkey = r_regionkey "
        "WHERE o_orderdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31'",
    ),
    TpchQuery(
        "Q21",
        ("supplier", "orders"),
        "SELECT COUNT(*) FROM supplier JOIN nation ON s_nationkey = n_nationkey "
        "JOIN lineitem ON s_suppkey = l_suppkey JOIN orders ON o_orderkey = l_orderkey",
    ),
    TpchQuery(
        "Q7",
        ("customer", "supplier"),
        f"SELECT SUM(l_extendedprice * (1 - l_discount) / 1000) {SALES} {NATIONS}",
        "0.001",
    ),
    TpchQuery(
        "Q11",
        ("supplier",),
        "SELECT SUM(ps_supplycost * ps_availqty / 1000000) FROM partsupp "
        "JOIN supplier ON ps_suppkey = s_suppkey JOIN nation ON s_nationkey = n_nationkey",
        "0.001",
    ),
    TpchQuery(
        "Q18",
        ("customer",),
        "SELECT SUM(l_quantity) FROM customer JOIN orders ON c_custkey = o_custkey "
        "JOIN lineitem ON o_orderkey = l_orderkey",
    ),
    TpchQuery(
        "Q10",
        ("customer",),
        "SELECT COUNT(*) FROM orders JOIN customer ON c_custkey = o_custkey "
        "JOIN nation ON c_nationkey = n_nationkey",
    ),
)


def load(folder: Path, path: Path) -> None:
    """Write the tables of a folder of Parquet files into a DuckDB file, keys and references declared."""
    with bare(path) as connection:
        for table, key in KEYS.items():
            source = f"read_parquet('{folder / f'{table}.parquet'}')"
            described = connection.sql(f"DESCRIBE SELECT * FROM {source}").fetchall()
            parts = [f"{name} {kind} NOT NULL" for name, kind, *_ in described]
            parts.append(f"PRIMARY KEY ({', '.join(key)})")
            parts += [
                f"FOREIGN KEY ({', '.join(columns)}) REFERENCES {target} ({', '.join(KEYS[target])})"
                for columns, target in REFERENCES.get(table, ())
            ]
            connection.execute(f"CREATE TABLE {table} ({', '.join(parts)})")
            connection.execute(f"INSERT INTO {table} SELECT * FROM {source}")


def policy_of(question: TpchQuery, engine: Engine, more: str = "") -> Policy:
    """Return the drafted policy, the marks of its undecided tables (region, nation, part) removed."""
    text = "\n".join(draft(engine.catalogue(), question.protect))
    text = text.replace("# [[public]]\n# table", "[[public]]\ntable")
    if question.granularity is not None:
        text += f"\n[sum]\ngranularity = {question.granularity}"
    return Policy.parse(text + more)


def relation_of(path: Path, question: TpchQuery) -> KRelation:
    """Return the relation of a question, for experiments."""
    with closing(open_engine(path)) as engine:
        plan = compile_query(question.sql, policy_of(question, engine), engine.catalogue())
        ((relation,),) = collect(engine, plan)
        return relation


@dataclass(frozen=True, slots=True)
class Timing:
    """What one question took and how far off it was."""

    name: str
    plain: float
    whole: float
    truth: float
    trimmed: float | None
    memory: float


def bench(path: Path, names: Sequence[str], epsilon: str, runs: int) -> None:
    """Print for every question the plain and the private time, and the error of many answers.

    Each is asked in a process of its own, so that the peak memory is its own.
    """
    print(
        f"{'':5}{'plain':>8}{'private':>9}{'ratio':>7}{'answer':>16}{'trimmed error':>15}{'peak memory':>13}"
    )
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as alone:
        for question in (q for q in QUESTIONS if not names or q.name in names):
            found = alone.submit(measure, path, question, epsilon, runs).result()
            error = "–" if found.trimmed is None else f"{found.trimmed:.6%}"
            print(
                f"{found.name:5}{found.plain:7.2f}s{found.whole:8.2f}s{found.whole / found.plain:7.1f}"
                f"{found.truth:16,.0f}{error:>15}{found.memory:11.1f}GB",
                flush=True,
            )


def plain_sql(plan: Plan, policy: Policy, engine: Engine) -> str:
    """Return the only aggregate of a question as ordinary SQL, without owners."""
    schema = schema_of(plan.text, policy, engine.catalogue())
    return plan.dialect.statement(written_out(plan.asked[0], schema))


def measure(path: Path, question: TpchQuery, epsilon: str, runs: int) -> Timing:
    """Return the times of one question, plain and private the better of two, and its trimmed error."""
    loss = Epsilon.of(epsilon)
    with closing(open_engine(path)) as engine:
        policy = policy_of(question, engine)
        plan = compile_query(question.sql, policy, engine.catalogue())
        plain_times, whole_times = [], []
        for _ in range(2):
            start = time.perf_counter()
            engine.run([plain_sql(plan, policy, engine)])
            plain_times.append(time.perf_counter() - start)
        for _ in range(2):
            start = time.perf_counter()
            plan = compile_query(question.sql, policy, engine.catalogue())
            check_plan(plan, engine)
            ((relation,),) = collect(engine, plan)
            prepared = prepare(relation, fast_programs)
            mechanism = mechanism_for(DEFAULT, loss, relation.shape)
            answers = [mechanism.release(prepared, SecureNoise())]
            whole_times.append(time.perf_counter() - start)
        truth = relation.true_answer()
        answers += [mechanism.release(prepared, SecureNoise()) for _ in range(runs - 1)]
        errors = np.sort([abs(float(answer.value) - truth) / truth for answer in answers])
        fifth = len(errors) // 5
        trimmed = float(errors[fifth : len(errors) - fifth].mean()) if runs > 1 else None
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    unit = float(plan.single.granularity)
    return Timing(question.name, min(plain_times), min(whole_times), truth * unit, trimmed, memory)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one of the two commands."""
    parser = argparse.ArgumentParser(description="TPC-H questions, privately and plainly.")
    commands = parser.add_subparsers(dest="command", required=True)
    loading = commands.add_parser("load")
    loading.add_argument("folder", type=Path)
    loading.add_argument("database", type=Path)
    timing = commands.add_parser("bench")
    timing.add_argument("database", type=Path)
    timing.add_argument("names", nargs="*")
    timing.add_argument("--epsilon", default="0.8")
    timing.add_argument("--runs", type=int, default=100)
    given = parser.parse_args(arguments)
    if given.command == "load":
        load(given.folder, given.database)
    else:
        bench(given.database, given.names, given.epsilon, given.runs)


if __name__ == "__main__":
    main()
