"""The paper's random graphs: error against size, density and ε, and running time against size."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from recuse.errors import ParameterError
from recuse.graphs.enumerate import Occurrences, occurrences
from recuse.graphs.graph import Graph, simple_graph
from recuse.graphs.names import read_pattern
from recuse.graphs.protect import Protected
from recuse.lab.comparators.subgraphs import Motif, SubgraphCount
from recuse.lab.experiments.figure import (
    AGAINST,
    OF_PAPER,
    OWNED,
    PAPER_EPSILON,
    Figure,
    Setting,
    seed_of,
    subgraph_errors,
    timed_release,
)
from recuse.lab.experiments.store import StoredCell, StoredRow

PATTERNS = ("triangle", "2-star", "2-triangle")
NODES, DEGREE = 200, 10
EPSILONS = ("0.1", "0.2", "0.5", "1", "2")


def random_graph(nodes: int, degree: float, seed: int) -> Graph:
    """Return a graph in which each edge is there independently, with probability degree/(nodes - 1)."""
    first, second = np.triu_indices(nodes, 1)
    taken = np.random.default_rng([nodes, seed]).random(len(first)) < degree / (nodes - 1)
    return simple_graph(list(range(nodes)), np.stack((first[taken], second[taken]), axis=1))


def _cells(
    setting: Setting, nodes: tuple[int, ...], degrees: tuple[int, ...], reduced: int = 1, full: int = 10
) -> list[StoredCell]:
    """Return so many graphs a point."""
    seeds = range(full if setting.full else reduced)
    return [
        {"pattern": pattern, "nodes": size, "degree": degree, "seed": seed, "runs": setting.runs}
        for size in nodes
        for degree in degrees
        for seed in seeds
        for pattern in PATTERNS
    ]


def by_nodes(setting: Setting, reduced: int = 2) -> list[StoredCell]:
    """Return random graphs of several sizes."""
    sizes = (50, 100, 200, 400, 600, 800, 1000) if setting.full else (100, 200, 400, 800)
    return _cells(setting, sizes, (DEGREE,), reduced)


def by_degree(setting: Setting) -> list[StoredCell]:
    """Return random graphs of several average degrees."""
    degrees = (2, 4, 6, 8, 10, 12, 16, 20, 24) if setting.full else (4, 8, 12, 16)
    return _cells(setting, (NODES,), degrees, full=5)


def at_one_size(setting: Setting) -> list[StoredCell]:
    """Return random graphs of 200 nodes and average degree 10."""
    return _cells(setting, (NODES,), (DEGREE,))


def _occurrences(cell: StoredCell) -> Occurrences:
    graph = random_graph(int(cell["nodes"]), float(cell["degree"]), int(cell["seed"]))
    return occurrences(graph, read_pattern(str(cell["pattern"])))


def measure_error(cell: StoredCell, setting: Setting) -> Iterator[StoredRow]:
    """Yield the errors at the paper's ε."""
    motif = Motif.named(str(cell["pattern"]))
    return subgraph_errors(_occurrences(cell), motif, (PAPER_EPSILON,), setting.runs, seed_of(cell))


def measure_epsilons(cell: StoredCell, setting: Setting) -> Iterator[StoredRow]:
    """Yield the errors at several ε."""
    motif = Motif.named(str(cell["pattern"]))
    return subgraph_errors(_occurrences(cell), motif, EPSILONS, setting.runs, seed_of(cell))


def measure_time(cell: StoredCell, _: Setting) -> Iterator[StoredRow]:
    """Yield how long one release of every mechanism takes; subgraphs are listed before."""
    found, motif = _occurrences(cell), Motif.named(str(cell["pattern"]))
    for who in (Protected.EDGE, Protected.NODE):
        relation, subgraphs = OWNED[who](found), SubgraphCount(found.graph, motif, who)
        for mechanism in ("selective", OF_PAPER[who], *AGAINST[who]):
            try:
                spent = timed_release(relation, mechanism, subgraphs)
            except ParameterError:
                continue  # it does not count this pattern
            yield {"protect": who.value, "mechanism": mechanism, "tuples": len(found), **spent}


FIGURES = (
    Figure("error-vs-nodes", by_nodes, measure_error),
    Figure("error-vs-degree", by_degree, measure_error),
    Figure("error-vs-epsilon", at_one_size, measure_epsilons),
    Figure("time-vs-nodes", partial(by_nodes, reduced=1), measure_time),
)
