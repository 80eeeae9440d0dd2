"""Triangles of a graph in a table of edges that stays in DuckDB: what leaves the engine. NOT PRIVATE.

    python -m recuse.lab.experiments.moved ca-AstroPh.txt.gz --protect node|edge [--runs 9] [--memory 4GB]

What is printed of several answers is the median and the largest of the bytes that left the engine or were
lent to it, of passes and of processor time, and the largest memory of the process. With `--passes` every pass
of the last answer is listed.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from statistics import median

import pyarrow

from recuse.engines.collect import Collected
from recuse.engines.engine import Engine
from recuse.engines.kept import KeptGroups
from recuse.engines.open import open_engine
from recuse.graphs.read import read_graph
from recuse.lab.experiments.passes import RecordingWarehouse, recorded, timed
from recuse.mechanism.mechanisms import DEFAULT, mechanism_for
from recuse.mechanism.prepared import prepare_kept
from recuse.noise import SecureNoise
from recuse.policy import Policy
from recuse.privacy import Epsilon
from recuse.sql.compile import compile_query

TRIANGLES = (
    "SELECT COUNT(*) FROM edge a JOIN edge b ON a.v = b.u JOIN edge c ON c.u = a.u AND c.v = b.v "
    "WHERE a.u < a.v AND b.u < b.v"
)
NO_KEYS = KeptGroups(None, (), 1)
PROTECTED = {
    "node": '[[protect]]\nkind = "person"\n'
    + "".join(f'[[link]]\ntable = "edge"\ncolumn = ["{end}"]\nto = "person"\n' for end in "uv"),
    "edge": '[[protect]]\ntable = "edge"\nkey = ["u", "v"]\n',
}


def answered(engine: Engine, policy: Policy, epsilon: str) -> tuple[RecordingWarehouse, float]:
    """Return the passes of one answer, and the processor time that it took."""
    began = time.process_time()
    plan = compile_query(TRIANGLES, policy, engine.catalogue())
    kept, deriving = timed(lambda: Collected.of(engine, plan).kept)
    if kept is None:
        raise ValueError("the relation was read: the policy states no memory")
    warehouse = recorded(kept.warehouse, kept.names.values(), 0, deriving)
    (relation,) = replace(kept, warehouse=warehouse).relations(plan.single, NO_KEYS)
    prepared = prepare_kept(relation)
    mechanism_for(DEFAULT, Epsilon.of(epsilon), relation.shape).release(prepared, SecureNoise())
    return warehouse, time.process_time() - began - warehouse.counting


def main(arguments: Sequence[str] | None = None) -> None:
    """Print what a few answers moved."""
    parser = argparse.ArgumentParser(description="What leaves DuckDB in answers about triangles.")
    parser.add_argument("graph", type=Path)
    parser.add_argument("--protect", choices=PROTECTED, default="node")
    parser.add_argument("--epsilon", default="1")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--memory", default="4GB")
    parser.add_argument("--passes", action="store_true")
    given = parser.parse_args(arguments)
    edges = read_graph(given.graph).edges
    table = pyarrow.table({"u": edges[:, 0], "v": edges[:, 1]})
    policy = Policy.parse(f'{PROTECTED[given.protect]}[engine]\nmemory = "{given.memory}"\nthreads = 2\n')
    with closing(open_engine({"edge": table}, policy)) as engine:
        found = [answered(engine, policy, given.epsilon) for _ in range(given.runs)]
    moved = sorted(warehouse.moved for warehouse, _ in found)
    counts = [len(warehouse.passes) for warehouse, _ in found]
    print(
        f"bytes {median(moved):,.0f} / {moved[-1]:,}   passes {median(counts):.0f} / {max(counts)}   "
        f"processor time {median(seconds for _, seconds in found):.1f} s   "
        f"memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GB"
    )
    for one in found[-1][0].passes if given.passes else ():
        print(f"{one.kind:7}{one.scanned:>12,} → {one.made:<10,}{one.moved:>9,} B{one.seconds:8.2f} s")


if __name__ == "__main__":
    main()
