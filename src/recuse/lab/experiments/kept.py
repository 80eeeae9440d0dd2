"""TPC-H questions whose relation stays in DuckDB, within a memory limit, beside plain SQL: NOT PRIVATE.

    python -m recuse.lab.experiments.kept PARQUET_FOLDER --like small.duckdb [--memory 4GB] [Q3 Q5 …]

Policies are drafted from the keys of a small database of the same schema. A question is asked in a process of
its own; what is printed is processor time, the largest memory of the process, and the bytes that left the
engine or were lent to it.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path

import pyarrow

from recuse.engines.binding import check_plan
from recuse.engines.collect import Collected
from recuse.engines.open import open_engine
from recuse.krelation.relation import Integers
from recuse.lab.experiments.tpch import KEYS, QUESTIONS, TpchQuery, plain_sql, policy_of
from recuse.mechanism.mechanisms import DEFAULT, mechanism_for
from recuse.mechanism.prepared import Prepared, prepare, prepare_kept
from recuse.noise import SecureNoise
from recuse.policy import EngineLimits
from recuse.policy.engine import size
from recuse.privacy import Epsilon
from recuse.solver.fast import fast_programs
from recuse.solver.kept.warehouse import Warehouse
from recuse.sql.compile import compile_query
from recuse.sql.plan import DerivationQuery

DECLARED = "".join(
    f'\n[[key]]\ntable = "{table}"\ncolumn = [{", ".join(repr(column) for column in columns)}]'
    for table, columns in KEYS.items()
)
"""files enforce no keys: the policy declares them"""


@dataclass(slots=True)
class CountingWarehouse:
    """A warehouse that counts the bytes and the queries that pass."""

    warehouse: Warehouse
    moved: int = 0
    queries: int = 0

    def keep(self, sql: str) -> str:
        self.queries += 1
        return self.warehouse.keep(sql)

    def lend(self, columns: Mapping[str, Integers]) -> str:
        self.moved += sum(column.nbytes for column in columns.values())
        return self.warehouse.lend(columns)

    def read(self, sql: str) -> pyarrow.Table:
        found = self.warehouse.read(sql)
        self.queries += 1
        self.moved += found.nbytes
        return found


def measure(folder: Path, like: Path, question: TpchQuery, limits: EngineLimits, epsilon: str) -> str:
    """Return a line of figures of one question."""
    with closing(open_engine(like)) as small:
        policy = replace(policy_of(question, small, DECLARED), engine=limits)
    with closing(open_engine(folder, policy)) as engine:
        began = time.process_time()
        plan = compile_query(question.sql, policy, engine.catalogue())
        check_plan(plan, engine)
        rows = Collected.of(engine, plan)
        kept, counting = rows.kept, None
        if kept is not None:
            counting = CountingWarehouse(kept.warehouse)
            rows = replace(rows, kept=replace(kept, warehouse=counting))
        prepared = _prepared(rows, plan.single)
        answer = mechanism_for(DEFAULT, Epsilon.of(epsilon), prepared.relation.shape).release(
            prepared, SecureNoise()
        )
        private = time.process_time() - began
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        began = time.process_time()
        engine.run([plain_sql(plan, policy, engine)])
        plain = time.process_time() - began
    truth, moved = prepared.relation.true_answer(), "–" if counting is None else f"{counting.moved:,}"
    queries = 0 if counting is None else counting.queries
    error = abs(float(answer.value) - truth) / max(1, truth)
    return (
        f"{question.name:5}{plain:8.1f}s{private:8.1f}s{private / plain:6.1f}{peak:8.2f} GB{moved:>12} B"
        f"{queries:5}   error {error:.1e}"
    )


def _prepared(rows: Collected, measure: DerivationQuery) -> Prepared:
    if (kept := rows.staying(measure)) is not None:
        return prepare_kept(kept)
    (relation,) = rows.relations(measure)
    return prepare(relation, fast_programs)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line a question."""
    parser = argparse.ArgumentParser(description="TPC-H questions whose relation stays in DuckDB.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--like", type=Path, required=True)
    parser.add_argument("--memory", default="4GB")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--epsilon", default="1")
    given = parser.parse_intermixed_args(arguments)
    limits = EngineLimits(memory=size(given.memory, "memory", None), threads=given.threads)
    print(f"{'':5}{'plain':>9}{'private':>9}{'ratio':>6}{'peak':>11}{'moved':>14}{'queries':>8}")
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as alone:
        for question in (q for q in QUESTIONS if not given.names or q.name in given.names):
            line = alone.submit(measure, given.folder, given.like, question, limits, given.epsilon)
            print(line.result(), flush=True)


if __name__ == "__main__":
    main()
