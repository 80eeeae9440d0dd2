"""Which mechanism is the most accurate? All of them over graphs, random graphs and one-owner relations.

Every cell (relation, ε, mechanism) is one line of JSON; a stopped run continues where it was. The page is
made by `accuracy_report`. NOT PRIVATE: errors against the truth.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from scipy import sparse

from recuse.graphs.enumerate import (
    EDGES,
    RECTANGLES,
    TRIANGLES,
    TWO_STARS,
    Occurrences,
    occurrences,
    owned_by_edges,
    owned_by_nodes,
)
from recuse.graphs.graph import Graph, simple_graph
from recuse.graphs.read import read_graph
from recuse.krelation.relation import KRelation
from recuse.lab.experiments.error import ErrorSummary, answering
from recuse.lab.experiments.figure import seed_of
from recuse.lab.experiments.oracle import oracle_error
from recuse.lab.experiments.simulated import SimulatedNoise
from recuse.lab.experiments.tabulated import tabulating
from recuse.lab.experiments.tpch import QUESTIONS, relation_of
from recuse.mechanism.prepared import prepare
from recuse.privacy import Epsilon
from recuse.solver.fast import fast_programs
from recuse.solver.memo import memoising

EPSILONS = ("0.1", "0.5", "0.8", "1", "2")
PATTERNS = {"edges": EDGES, "2-stars": TWO_STARS, "triangles": TRIANGLES, "rectangles": RECTANGLES}
OWNERS: dict[str, Callable[..., KRelation]] = {"node": owned_by_nodes, "edge": owned_by_edges}
MOST_TUPLES = 2_000_000
RESULTS = "accuracy.jsonl"
RANDOM_SIZES = (200, 400, 600, 800, 1000)
ONE_OWNER = (("Q12", "orders"), ("Q12", "customer"), ("Q18", "customer"))
TWO_KINDS = ("Q5", "Q8", "Q21")


@dataclass(frozen=True, slots=True)
class AccuracyCell:
    """One measurement."""

    relation: str
    protect: str
    epsilon: str
    mechanism: str
    tuples: int
    true_value: float
    oracle_error: float
    median_relative_error: float
    trimmed_relative_error: float
    runs: int
    largest_load: float = math.nan


def mechanisms(protect: str) -> tuple[str, ...]:
    """Return what is compared; the paper's μ depends on who is protected."""
    return ("selective", "tuned", "paper-node" if protect == "node" else "paper", "r2t", "r2t-5.5")


def random_graph(size: int, seed: int) -> Graph:
    """Return G(n, 10/(n-1))."""
    first, second = np.triu_indices(size, 1)
    taken = np.random.default_rng(seed).random(len(first)) < 10 / (size - 1)
    return simple_graph(list(range(size)), np.stack((first[taken], second[taken]), axis=1))


def graphs(folder: Path) -> Iterator[tuple[str, Callable[[], Graph]]]:
    """Yield the graph files of a folder, smallest first, and the random graphs of the paper."""
    for size in RANDOM_SIZES:
        yield f"G({size})", partial(random_graph, size, size)
    for path in sorted((p for p in folder.iterdir() if p.is_file()), key=lambda p: p.stat().st_size):
        yield path.name.split(".")[0], partial(read_graph, path)


def counted(folder: Path, most: int) -> Iterator[tuple[int, str, Callable[[], Occurrences]]]:
    """Yield the subgraphs of which there are at most `most`: how many, their name, and what lists them."""
    for name, make in graphs(folder):
        graph = make()
        degrees = graph.degrees()
        for pattern, query in PATTERNS.items():
            if _bound(pattern, degrees) <= 20 * most and 0 < (count := copies(graph, pattern)) <= most:
                yield count, f"{name} {pattern}", partial(occurrences, graph, query)


def subgraphs(folder: Path, most: int) -> Iterator[tuple[str, str, KRelation]]:
    """Yield the subgraph relations that have at most `most` tuples, with who is protected in them."""
    for _, name, list_all in counted(folder, most):
        found = list_all()
        for protect, own in OWNERS.items():
            yield name, protect, own(found)


def one_owner(database: Path) -> Iterator[tuple[str, str, KRelation]]:
    """Yield the TPC-H questions in which every row belongs to one participant."""
    for name, protect in ONE_OWNER:
        question = next(q for q in QUESTIONS if q.name == name)
        yield f"TPC-H {name}", protect, relation_of(database, replace(question, protect=(protect,)))


def two_kinds(database: Path) -> Iterator[tuple[str, str, Callable[[], KRelation]]]:
    """Yield the TPC-H counts in which every row has an owner of each of two kinds."""
    for question in (q for q in QUESTIONS if q.name in TWO_KINDS):
        yield (
            f"TPC-H {question.name}",
            " and ".join(question.protect),
            partial(relation_of, database, question),
        )


def copies(graph: Graph, pattern: str) -> int:
    """Return how many copies of a pattern there are, none of them listed."""
    if pattern in ("edges", "2-stars"):
        return len(graph.edges) if pattern == "edges" else _bound(pattern, graph.degrees())
    first, second = graph.edges.T
    both = np.concatenate((first, second)), np.concatenate((second, first))
    adjacent = sparse.csr_array((np.ones(len(both[0]), np.int64), both), shape=(len(graph.nodes),) * 2)
    ways = adjacent @ adjacent
    if pattern == "triangles":
        return int((ways * adjacent).sum()) // 6
    ways.setdiag(0)
    return int((ways.data * (ways.data - 1) // 2).sum()) // 4


def _bound(pattern: str, degrees: np.ndarray) -> int:
    """Return how many rows the enumeration may have to look at."""
    return 0 if pattern == "edges" else int((degrees.astype(np.int64) * (degrees - 1) // 2).sum())


def measure_cells(
    name: str, protect: str, relation: KRelation, runs: int, done: set[tuple[str, str, str, str]]
) -> Iterator[AccuracyCell]:
    """Yield the cells of a relation that are not done yet."""
    knowing = tabulating if protect in OWNERS else memoising  # of one owner a row X is quickly exact
    prepared = prepare(relation, knowing(fast_programs))
    truth = float(relation.true_answer())
    for epsilon in EPSILONS:
        loss = Epsilon.of(epsilon)
        wanted = [m for m in mechanisms(protect) if (name, protect, epsilon, m) not in done]
        oracle = oracle_error(prepared, loss) if wanted else math.nan
        for mechanism in wanted:
            release = answering(mechanism, loss, relation)
            cell = {"relation": name, "protect": protect, "epsilon": epsilon, "mechanism": mechanism}
            noise = SimulatedNoise(seed_of(cell))
            # not below zero, but not rounded either: nor is the oracle
            answers = np.array([max(0.0, float(release(prepared, noise).value)) for _ in range(runs)])
            found = ErrorSummary.of(truth, answers, 0.0)
            yield AccuracyCell(
                name,
                protect,
                epsilon,
                mechanism,
                len(relation.positive),
                truth,
                oracle,
                found.median_relative_error,
                found.trimmed_relative_error,
                runs,
                prepared.positive.largest_load(),
            )


def run_accuracy(found: Iterable[tuple[str, str, KRelation]], out: Path, runs: int = 400) -> Iterator[str]:
    """Yield a line of progress for every relation; results are appended to `out`/accuracy.jsonl."""
    out.mkdir(parents=True, exist_ok=True)
    path = out / RESULTS
    done = {(c.relation, c.protect, c.epsilon, c.mechanism) for c in load_cells(path)}
    for name, protect, relation in found:
        with path.open("a") as file:
            for cell in measure_cells(name, protect, relation, runs, done):
                file.write(json.dumps(asdict(cell)) + "\n")
                file.flush()
        yield f"{name} ({protect}): {len(relation.positive):,} tuples"


def load_cells(path: Path) -> list[AccuracyCell]:
    """Return the cells of an earlier run."""
    if not path.exists():
        return []
    return [AccuracyCell(**json.loads(line)) for line in path.read_text().splitlines()]
