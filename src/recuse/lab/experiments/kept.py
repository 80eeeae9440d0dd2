"""TPC-H questions whose relation stays in DuckDB, within a memory limit, beside plain SQL: NOT PRIVATE.

    python -m recuse.lab.experiments.kept PARQUET_FOLDER --like small.duckdb [--memory 4GB] [--direct]
        [--record passes.json] [Q3 Q5 …]

Policies are drafted from the keys of a small database of the same schema. A question is asked in a process of
its own; what is printed is processor time, what part it is of three times plain and 2 s (with two kinds of
owners four times), the largest memory of the process, and the bytes that left the engine or were lent to it.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path

from recuse.engines.binding import check_plan
from recuse.engines.collect import Collected
from recuse.engines.engine import Engine
from recuse.engines.open import open_engine
from recuse.lab.experiments.passes import WarehousePass, noted, recorded, timed
from recuse.lab.experiments.tpch import KEYS, QUESTIONS, TpchQuery, plain_sql, policy_of
from recuse.mechanism.mechanisms import DEFAULT, mechanism_for
from recuse.mechanism.prepared import Prepared, prepare, prepare_kept
from recuse.noise import SecureNoise
from recuse.policy import EngineLimits, Policy
from recuse.policy.engine import size
from recuse.policy.terms import Link
from recuse.privacy import Epsilon
from recuse.solver.fast import fast_programs
from recuse.sql.compile import compile_query
from recuse.sql.plan import DerivationQuery
from recuse.sql.query import Scan

DECLARED = "".join(
    f'\n[[key]]\ntable = "{table}"\ncolumn = [{", ".join(repr(column) for column in columns)}]'
    for table, columns in KEYS.items()
)
"""files enforce no keys: the policy declares them"""
DIRECT = Link.all("lineitem", "l_suppkey", to="supplier")


@dataclass(frozen=True, slots=True)
class KeptSetting:
    """Where the tables are, whose keys policies are drafted from, and what is asked for."""

    folder: Path
    like: Path
    limits: EngineLimits
    epsilon: str
    direct: bool
    """whether a line names its supplier itself, as TPC-H says it does too, and not through partsupp"""

    def policy(self, question: TpchQuery) -> Policy:
        with closing(open_engine(self.like)) as small:
            drafted = replace(policy_of(question, small, DECLARED), engine=self.limits)
        if not self.direct:
            return drafted
        links = (DIRECT if (one.table, one.to) == ("lineitem", "partsupp") else one for one in drafted.links)
        return replace(drafted, links=tuple(links))


def measure(setting: KeptSetting, question: TpchQuery) -> tuple[str, Sequence[WarehousePass]]:
    """Return a line of figures of one question, and its passes if its rows stayed."""
    policy = setting.policy(question)
    with closing(open_engine(setting.folder, policy)) as engine:
        began = time.process_time()
        plan = compile_query(question.sql, policy, engine.catalogue())
        check_plan(plan, engine)
        rows, deriving = timed(lambda: Collected.of(engine, plan))
        private = time.process_time() - began
        kept, recording = rows.kept, None
        if kept is not None:
            sources = (source for block in plan.asked[0].blocks for source in block.sources)
            scanned = _rows(engine, [one.table.name for one in sources if isinstance(one, Scan)])
            recording = recorded(kept.warehouse, kept.names.values(), scanned, deriving)
            rows = replace(rows, kept=replace(kept, warehouse=recording))
        began = time.process_time()
        prepared = _prepared(rows, plan.single)
        answer = mechanism_for(DEFAULT, Epsilon.of(setting.epsilon), prepared.relation.shape).release(
            prepared, SecureNoise()
        )
        private += time.process_time() - began - (0.0 if recording is None else recording.counting)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        _, plain = timed(lambda: engine.run([plain_sql(plan, policy, engine)]))
    truth, moved = prepared.relation.true_answer(), "–" if recording is None else f"{recording.moved:,}"
    passes = [] if recording is None else recording.passes
    error = abs(float(answer.value) - truth) / max(1, truth)
    bar = (3 if len(question.protect) == 1 else 4) * plain + 2
    return (
        f"{question.name:5}{plain:8.1f}s{private:8.1f}s{private / plain:6.1f}{private / bar:6.2f}"
        f"{peak:8.2f} GB{moved:>12} B{len(passes):5}   error {error:.1e}"
    ), passes


def _rows(engine: Engine, tables: Sequence[str]) -> int:
    """Return how many rows tables of a folder have together."""
    counted = engine.run([f"SELECT COUNT(*) AS n FROM memory.main.{table}" for table in tables])
    return sum(int(found["n"][0].as_py()) for found in counted)


def _prepared(rows: Collected, measure: DerivationQuery) -> Prepared:
    if (kept := rows.staying(measure)) is not None:
        (alone,) = kept
        return prepare_kept(alone)
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
    parser.add_argument("--direct", action="store_true", help="a line names its supplier itself")
    parser.add_argument("--record", type=Path, help="a file for the passes of every question")
    given = parser.parse_intermixed_args(arguments)
    limits = EngineLimits(memory=size(given.memory, "memory", None), threads=given.threads)
    setting = KeptSetting(given.folder, given.like, limits, given.epsilon, given.direct)
    print(f"{'':5}{'plain':>9}{'private':>9}{'ratio':>6}{'/ bar':>6}{'peak':>11}{'moved':>14}{'passes':>7}")
    with (
        ProcessPoolExecutor(1, mp_context=get_context("spawn"), max_tasks_per_child=1) as alone,
        noted(given.record) as passes,
    ):
        for question in (q for q in QUESTIONS if not given.names or q.name in given.names):
            line, passes[question.name] = alone.submit(measure, setting, question).result()
            print(line, flush=True)


if __name__ == "__main__":
    main()
