"""Figure: one figure or table of a paper as cells to measure, and what all figures share."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from recuse.errors import ParameterError
from recuse.graphs.enumerate import Occurrences, owned_by_edges, owned_by_nodes
from recuse.graphs.protect import Protected
from recuse.krelation.relation import KRelation
from recuse.lab.comparators.subgraphs import Motif, SubgraphCount
from recuse.lab.experiments.contestants import ON_GRAPHS, Asked, answering
from recuse.lab.experiments.error import ErrorSummary
from recuse.lab.experiments.simulated import SimulatedNoise
from recuse.lab.experiments.store import StoredCell, StoredRow, StoredValue
from recuse.lab.experiments.tabulated import tabulating
from recuse.mechanism.prepared import prepare
from recuse.noise import SecureNoise
from recuse.privacy import Epsilon
from recuse.solver.fast import fast_programs

PAPER_EPSILON = "0.5"
OWNED = {Protected.NODE: owned_by_nodes, Protected.EDGE: owned_by_edges}
OF_PAPER = {Protected.NODE: "paper-node", Protected.EDGE: "paper"}
"""the paper's settings: θ = 1, β = ε/5, μ = 1 for node and 1/2 for edge privacy"""
AGAINST: Mapping[Protected, tuple[str, ...]] = {
    Protected.EDGE: ("smooth", "smooth-tight", "k-triangle", "ladder", "rhms"),
    Protected.NODE: ("r2t", "opt2", "lp", "naive"),
}
"""all others: δ = γ = 0.1; guesses: GS = 10⁶, τ = 64, D = 32"""

TIMES, LONG = 3, 5.0
OFTEN = 10
"""Mechanisms that solve no program are asked ten times as often: it costs nothing."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Where results go, where data is, and whether the experiment has the paper's size."""

    out: Path
    graphs: Path | None = None
    tpch: Path | None = None
    full: bool = False

    @property
    def runs(self) -> int:
        """How many answers are drawn of every mechanism."""
        return 400 if self.full else 100

    def graph_folder(self) -> Path:
        """Return the folder of graph files."""
        hint = "add --graphs FOLDER; docs/results/reproduction.md lists the files"
        return _there(self.graphs, "this needs the paper's graph files", hint)

    def database(self) -> Path:
        """Return the TPC-H database."""
        hint = "make it with python -m recuse.lab.experiments.tpch load, and add --tpch DATABASE"
        return _there(self.tpch, "this needs TPC-H data", hint)


def _there(path: Path | None, problem: str, hint: str) -> Path:
    if path is None or not path.exists():
        raise ParameterError(problem, found=str(path) if path else "none", hint=hint)
    return path


@dataclass(frozen=True, slots=True)
class Figure:
    """What is measured: cells, and the rows of a cell. `plots` draws it under its name."""

    name: str
    cells: Callable[[Setting], Sequence[StoredCell]]
    measure: Callable[[StoredCell, Setting], Iterator[StoredRow]]


def seed_of(cell: StoredCell) -> int:
    """Return a seed for the noise of a cell: cells must not share their noise, or their errors err alike."""
    return zlib.crc32(repr(sorted(cell.items())).encode())


def errors(
    relation: KRelation,
    mechanisms: Sequence[str],
    epsilons: Sequence[str],
    runs: int,
    asked: Asked,
    seed: int,
) -> Iterator[dict[str, StoredValue]]:
    """Yield the error of every mechanism that applies, at every ε.

    Answers are taken as they come, neither rounded nor clamped, as the paper does.
    """
    prepared, noise = prepare(relation, tabulating(fast_programs)), SimulatedNoise(seed)
    truth = float(relation.true_answer())
    for epsilon in epsilons:
        for mechanism in mechanisms:
            try:
                release = answering(mechanism, Epsilon.of(epsilon), relation, asked)
                count = runs * OFTEN if mechanism.partition("=")[0] in ON_GRAPHS else runs
                answers = np.array([float(release(prepared, noise).value) for _ in range(count)])
            except ParameterError:
                continue  # it does not count this pattern
            found = ErrorSummary.of(truth, answers, 0.0)
            yield {
                "mechanism": mechanism,
                "epsilon": float(epsilon),
                "true_value": truth,
                "median_relative_error": found.median_relative_error,
                "p90_relative_error": found.p90_relative_error,
                "trimmed_relative_error": found.trimmed_relative_error,
                "runs": count,
            }


def timed_release(
    relation: KRelation, mechanism: str, subgraphs: SubgraphCount | None = None
) -> dict[str, StoredValue]:
    """Return how long one release takes, all programs solved anew, by the clock and on the processor.

    It depends on what is drawn: the median of three, or of as many as fit into a few seconds.
    """
    spent: list[tuple[float, float]] = []
    while len(spent) < TIMES and sum(processor for _, processor in spent) < LONG:
        # what is known of a graph is kept with it, so each release gets one that nobody has looked at
        asked = Asked(subgraphs and replace(subgraphs, graph=replace(subgraphs.graph)))
        release = answering(mechanism, Epsilon.of(PAPER_EPSILON), relation, asked)
        clock, processor = time.perf_counter(), time.process_time()
        release(prepare(relation, fast_programs), SecureNoise())
        spent.append((time.perf_counter() - clock, time.process_time() - processor))
    seconds, on_processor = np.median(spent, axis=0)
    return {"seconds": float(seconds), "cpu_seconds": float(on_processor)}


def subgraph_errors(
    found: Occurrences, motif: Motif, epsilons: Sequence[str], runs: int, seed: int
) -> Iterator[StoredRow]:
    """Yield the errors of all mechanisms on a subgraph count, for edge and for node privacy."""
    for who in (Protected.EDGE, Protected.NODE):
        asked = Asked(SubgraphCount(found.graph, motif, who))
        mechanisms = ("selective", OF_PAPER[who], *AGAINST[who])
        for row in errors(OWNED[who](found), mechanisms, epsilons, runs, asked, seed):
            yield {"protect": who.value, **row}
