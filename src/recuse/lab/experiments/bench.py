"""How fast is the solver? Every relation in a process of its own, beside the full linear program.

    python -m recuse.lab.experiments.bench --graphs FOLDER
        [--tpch-small FOLDER] [--tpch-large FOLDER] [--out DIR]

Prints a table, and writes `bench.json` and (with matplotlib) `bench.png`. The machine is assumed idle.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from recuse.engines.bare import bare
from recuse.graphs.enumerate import TRIANGLES, occurrences, owned_by_edges, owned_by_nodes
from recuse.graphs.read import read_graph
from recuse.krelation.evaluate import Evaluation
from recuse.krelation.relation import Tuples
from recuse.lab.experiments.bench_page import BenchCell, growth, line, page
from recuse.lab.experiments.bench_relations import (
    distinct_parts,
    owner_pairs,
    random_cnf,
    random_dnf,
    random_triples,
)
from recuse.lab.progress import Progress
from recuse.solver.fast import fast_programs
from recuse.solver.lp.extended import FullPrograms
from recuse.solver.lp.program import Method, solve

THETA, BETA, MU = 1.0, 0.1, 0.5
"""ε = 0.5 with the paper's parameters: β = ε/5."""
SLACK = 0.01
GROWTH = (10_000, 30_000, 100_000, 300_000, 1_000_000)
FORMULAS = tuple(f"{tuples},{clauses}" for tuples in (1_000, 10_000) for clauses in (3, 5, 7, 10))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the benchmark, or one cell of it."""
    parser = argparse.ArgumentParser(description="Time the solver.")
    parser.add_argument("--graphs", type=Path, help="a folder of graph files")
    parser.add_argument("--tpch-small", type=Path, help="TPC-H Parquet files for distinct parts (scale 0.1)")
    parser.add_argument("--tpch-large", type=Path, help="TPC-H Parquet files for pairs of owners (scale 1)")
    parser.add_argument(
        "--sizes", type=int, nargs="*", default=GROWTH, help="how many tuples the generated triples have"
    )
    parser.add_argument(
        "--formulas", nargs="*", default=FORMULAS, help="generated 3-DNF and 3-CNF: tuples,clauses"
    )
    parser.add_argument("--out", type=Path, default=Path("build/bench"))
    parser.add_argument(
        "--full-seconds", type=float, default=600.0, help="how long the full program may take"
    )
    parser.add_argument(
        "--full", nargs="*", default=["ca-HepTh nodes", "ca-GrQc nodes"], help="cells to compare with"
    )
    parser.add_argument("--seconds", type=float, default=600.0, help="how long one cell may take")
    parser.add_argument("--cell", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.cell:
        print(json.dumps(CELLS[options.cell[0]](options.cell[1])))
        return
    options.out.mkdir(parents=True, exist_ok=True)
    rows = []
    for row in timed(options, Progress()):
        rows.append(row)
        print(line(row), flush=True)
    slope = growth(rows)
    if slope is not None:
        print(f"growth on random triples: time ~ tuples^{slope:.2f}")
    (options.out / "bench.json").write_text(
        json.dumps({"machine": "2 cores", "rows": rows, "slope": slope}, indent=1)
    )
    (options.out / "bench.md").write_text("\n".join(page(rows)) + "\n")
    if find_spec("matplotlib"):
        subprocess.run(
            [sys.executable, "-m", "recuse.lab.experiments.bench_plot", str(options.out)], check=True
        )


def timed(options: argparse.Namespace, progress: Progress) -> Iterator[BenchCell]:
    """Yield every cell once it is measured; a terminal is told which one is, and how long each took."""
    asked = list(cells(options))
    for place, (kind, argument) in enumerate(asked, start=1):
        with progress.stage(f"{place} of {len(asked)}: {kind} {Path(argument).name}"):
            row = in_own_process(kind, argument, options.seconds)
            if row.get("name") in options.full:
                row |= compared(kind, argument, row, options.full_seconds)
        yield row


def cells(options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """Yield every cell: its kind and its argument."""
    for path in sorted(options.graphs.iterdir(), key=_file_size) if options.graphs else ():
        yield "nodes", str(path)
        yield "edges", str(path)
    for size in options.sizes:
        yield "triples", str(size)
    for kind in ("dnf", "cnf"):
        for formula in options.formulas:
            yield kind, formula
    if options.tpch_small:
        yield "distinct", str(options.tpch_small)
    if options.tpch_large:
        yield "pairs", str(options.tpch_large)


def _file_size(path: Path) -> int:
    return path.stat().st_size


# ------------------------------------------------------------------ one cell


def solved(name: str, tuples: Tuples, participants: int) -> BenchCell:
    """Return the seconds and the work that r and X(θe^{βr+μ}) take."""
    begin = time.perf_counter()
    programs = fast_programs(tuples, participants)
    index = programs.index(THETA, BETA, SLACK)
    middle = time.perf_counter()
    tau = THETA * math.exp(BETA * index.high + MU)
    programs.truncated(tau, SLACK * tau)
    end = time.perf_counter()
    return {
        "name": name,
        "tuples": len(tuples),
        "index": middle - begin,
        "answer": end - middle,
        "masters": programs.tally.masters,
        "cuts": programs.tally.cuts,
    } | memory()


def graph_cell(path: str, kind: str) -> BenchCell:
    """Return the cell of a graph's triangles."""
    begin = time.perf_counter()
    graph = read_graph(Path(path))
    read = time.perf_counter()
    found = occurrences(graph, TRIANGLES)
    listed = time.perf_counter()
    relation = owned_by_nodes(found) if kind == "nodes" else owned_by_edges(found)
    built = time.perf_counter()
    name = f"{Path(path).name.split('.')[0]} {kind}"
    row = solved(name, relation.positive, relation.participants)
    return row | {"load": read - begin, "enumerate": listed - read, "relation": built - listed}


def distinct_cell(folder: str) -> BenchCell:
    """Return the cell of COUNT(DISTINCT l_partkey): X at ten values of τ."""
    start = time.perf_counter()
    tuples, participants = distinct_parts(bare(), Path(folder))
    begin = time.perf_counter()
    programs = fast_programs(tuples, participants)
    for level in range(-10, 0):
        programs.truncated(2.0**level, SLACK * 2.0**level)
    return {
        "name": "distinct parts, 10 τ",
        "tuples": len(tuples),
        "enumerate": begin - start,
        "index": 0.0,
        "answer": time.perf_counter() - begin,
        "masters": programs.tally.masters,
        "cuts": programs.tally.cuts,
    } | memory()


def pairs_cell(folder: str) -> BenchCell:
    """Return the cell of line items merged by their two owners."""
    begin = time.perf_counter()
    relation = owner_pairs(bare(), Path(folder))
    listed = time.perf_counter() - begin
    return solved("owner pairs", *relation) | {"enumerate": listed}


def generated(build: Callable[..., tuple[Tuples, int]], kind: str) -> Callable[[str], BenchCell]:
    """Return the cell of a generated relation, its sizes given as text."""

    def cell(sizes: str) -> BenchCell:
        begin = time.perf_counter()
        relation = build(*map(int, sizes.split(",")))
        made = time.perf_counter() - begin
        return solved(f"{kind} {sizes}", *relation) | {"relation": made}

    return cell


CELLS: dict[str, Callable[[str], BenchCell]] = {
    "nodes": lambda path: graph_cell(path, "nodes"),
    "edges": lambda path: graph_cell(path, "edges"),
    "triples": generated(random_triples, "triples"),
    "dnf": generated(random_dnf, "3-DNF"),
    "cnf": generated(random_cnf, "3-CNF"),
    "distinct": distinct_cell,
    "pairs": pairs_cell,
    "full-simplex": lambda cell: full_cell(cell, Method.SIMPLEX),
    "full-pdlp": lambda cell: full_cell(cell, Method.FIRST_ORDER),
}


# ------------------------------------------------------------------ the full program beside it


def full_cell(argument: str, method: Method) -> BenchCell:
    """Return the seconds of one full linear program, N at the τ where r lies, and how many a bisection takes.

    Both methods are timed, because the full program is far from being as slow as its slowest solver.
    """
    kind, path = argument.split("|")
    found = occurrences(read_graph(Path(path)), TRIANGLES)
    relation = owned_by_nodes(found) if kind == "nodes" else owned_by_edges(found)
    programs = fast_programs(relation.positive, relation.participants)
    tau = THETA * math.exp(BETA * programs.index(THETA, BETA, SLACK).high)
    begin = time.perf_counter()
    evaluation = Evaluation.of(relation.positive, relation.participants)
    solve(FullPrograms(evaluation).withdrawals(tau), method)
    seconds = time.perf_counter() - begin
    return {
        "once": seconds,
        "programs": math.ceil(math.log2(math.log(programs.largest_load()) / BETA / SLACK)),
    }


def compared(kind: str, argument: str, row: BenchCell, seconds: float) -> BenchCell:
    """Return what r costs by bisection over full programs, extrapolated from one, with each method."""
    found: BenchCell = {}
    for method in ("simplex", "pdlp"):
        full = in_own_process(f"full-{method}", f"{kind}|{argument}", seconds)
        if "once" in full:
            total = full["once"] * full["programs"]
            found |= {f"full_{method}": total, f"ratio_{method}": total / row["index"]}
        else:
            found[f"full_{method}"] = full["failed"]
    return found


def in_own_process(kind: str, argument: str, seconds: float | None) -> BenchCell:
    """Return a cell computed in a process of its own, or what became of it."""
    command = [sys.executable, "-m", "recuse.lab.experiments.bench", "--cell", kind, argument]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=True)
    except subprocess.TimeoutExpired:
        return {"name": f"{kind} {Path(argument).name}", "failed": f"more than {seconds:.0f} s"}
    except subprocess.CalledProcessError as error:
        return {"name": f"{kind} {Path(argument).name}", "failed": error.stderr.strip().splitlines()[-1]}
    result: BenchCell = json.loads(done.stdout.splitlines()[-1])
    return result


def memory() -> BenchCell:
    """Return this process's peak memory in megabytes."""
    return {"megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


if __name__ == "__main__":
    main()
