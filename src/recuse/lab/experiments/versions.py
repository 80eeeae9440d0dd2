"""Is this version slower than an earlier one? Both in one run, turn by turn, in processor time.

    python -m recuse.lab.experiments.versions OLD_SRC NEW_SRC [--tpch tpch.duckdb] [--graphs FOLDER]
        [--rounds 3] [--mechanism split]

OLD_SRC is the `src` of an earlier version, as a git worktree of it has one. Every cell is measured in
a process of its own, which runs this file with the modules of either version; the least of the rounds counts.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

GRAPHS = ("netscience", "ca-GrQc", "ca-HepTh", "email-Enron")
GENERATED = (("triples", "100000"), ("dnf", "1000,5"), ("cnf", "1000,5"))
QUERIES = ("Q3", "Q12", "Q5", "Q11", "Q18", "Q10")
STAGES = {"compile_query": "compile", "check_plan": "bind", "collect": "rows", "prepare": "prepare"}

PARTS = ("load", "enumerate", "relation", "index", "answer")

Seconds = dict[str, float]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, or measure one cell in this process."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["cell"]:
        print(json.dumps(measured(*given[1:])))
        return
    parser = argparse.ArgumentParser(description="Compare two versions.")
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--tpch", type=Path)
    parser.add_argument("--graphs", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--mechanism", default="selective", help="the new version's; the old has its default")
    options = parser.parse_args(given)
    print("| cell | stage | old s | new s | new / old |\n|---|---|---|---|---|")
    for cell in cells(options):
        old, new = compared(cell, options)
        for stage in new:
            ratio = f"{new[stage] / old[stage]:.2f}" if old.get(stage, 0) >= 0.005 else "–"
            before = f"{old[stage]:.3f}" if stage in old else "–"
            print(
                f"| {cell[0]} {Path(cell[1]).name} | {stage} | {before} | {new[stage]:.3f} | {ratio} |",
                flush=True,
            )


def cells(options: argparse.Namespace) -> Iterator[tuple[str, ...]]:
    """Yield what is measured: its kind and its arguments."""
    yield from GENERATED
    for path in sorted(options.graphs.iterdir()) if options.graphs else ():
        if path.name.split(".")[0] in GRAPHS:
            yield "nodes", str(path)
    for name in QUERIES if options.tpch else ():
        yield "tpch", name, str(options.tpch)


def compared(cell: Sequence[str], options: argparse.Namespace) -> tuple[Seconds, Seconds]:
    """Return what each stage takes in both versions, the least of the rounds."""
    found: list[Seconds] = [{}, {}]
    for turn in range(options.rounds):
        for place in (0, 1) if turn % 2 == 0 else (1, 0):
            source = (options.old, options.new)[place]
            last = [options.mechanism if place else ""] if cell[0] == "tpch" else []
            done = subprocess.run(
                [sys.executable, __file__, "cell", *cell, *last],
                env=os.environ | {"PYTHONPATH": str(source.resolve())},
                capture_output=True,
                text=True,
                check=True,
            )
            for stage, seconds in json.loads(done.stdout.splitlines()[-1]).items():
                found[place][stage] = min(seconds, found[place].get(stage, seconds))
    return found[0], found[1]


# ------------------------------------------------------------------ one cell, in either version


def measured(kind: str, argument: str, *rest: str) -> Seconds:
    """Return the processor time of every stage of a cell."""
    time.perf_counter = time.process_time
    import_module("recuse.engines.duckdb")  # when it is loaded is not what is compared
    if kind == "tpch":
        return _query(argument, *rest)
    bench = _experiment("bench")
    row = bench.CELLS[kind](argument)
    times = {
        stage: row[stage] for stage in ("load", "enumerate", "relation", "index", "answer") if stage in row
    }
    return times | {"whole": sum(times.values())}


def _query(name: str, path: str, mechanism: str) -> Seconds:
    tpch, spent = _experiment("tpch"), dict[str, list[float]]()
    for function, stage in STAGES.items():
        if hasattr(tpch, function):
            setattr(tpch, function, _timed(getattr(tpch, function), spent.setdefault(stage, [])))
    if hasattr(tpch, "DuckDB"):  # 0.1 binds there
        tpch.DuckDB.check = _timed(tpch.DuckDB.check, spent.setdefault("bind", []))
    tpch.DEFAULT = mechanism or tpch.DEFAULT
    question = next(one for one in tpch.QUESTIONS if one.name == name)
    whole = tpch.measure(Path(path), question, "0.8", 1).whole
    stages = {stage: min(times) for stage, times in spent.items() if times}
    return stages | {"release": whole - sum(stages.values()), "whole": whole}


def _experiment(name: str) -> Any:
    try:
        return import_module(f"recuse.lab.experiments.{name}")
    except ModuleNotFoundError:
        return import_module(f"recuse.experiments.{name}")


def _timed(function: Callable[..., Any], spent: list[float]) -> Callable[..., Any]:
    def call(*arguments: Any, **named: Any) -> Any:
        start = time.process_time()
        try:
            return function(*arguments, **named)
        finally:
            spent.append(time.process_time() - start)

    return call


if __name__ == "__main__":
    main()
