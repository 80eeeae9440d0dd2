"""The paper's random K-relations: 3-DNF and 3-CNF, error and running time against clauses and size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

import numpy as np

from recuse.krelation.relation import KRelation, Shape, Tuples
from recuse.lab.experiments.bench_relations import random_cnf, random_dnf
from recuse.lab.experiments.contestants import Asked
from recuse.lab.experiments.figure import PAPER_EPSILON, Figure, Setting, errors, seed_of, timed_release
from recuse.lab.experiments.store import StoredCell, StoredRow

KINDS = ("3-DNF", "3-CNF")
WEIGHTS = ("constant", "random")
SIZE, CLAUSES = 1000, 3
ALL_CLAUSES, FEW_CLAUSES = (1, 2, 3, 4, 5, 6, 8, 10), (1, 2, 3, 5, 7, 10)
LARGEST_WEIGHT = 9
MECHANISMS = ("paper", "selective")


def random_relation(kind: str, size: int, clauses: int, weights: str, seed: int) -> KRelation:
    """Return a relation of random expressions, with as many participants as tuples.

    q(t) is 1, or uniform on 1 to 9.
    """
    make = {"3-DNF": random_dnf, "3-CNF": random_cnf}[kind]
    tuples, people = make(size, clauses, seed)
    if weights == "random":
        drawn = np.random.default_rng([seed, size]).integers(1, LARGEST_WEIGHT + 1, size)
        tuples = Tuples(drawn, tuples.levels, tuples.members)
    shape = Shape.CLAUSES if kind == "3-DNF" else Shape.TREES
    return KRelation(shape, tuples, signed=False, names=range(people), participants=people)


def universal_sensitivity(relation: KRelation) -> int:
    """Return US~: the largest weight of tuples that have one participant in common."""
    tuples = relation.positive
    first = tuples.levels[0]
    for level in tuples.levels[1:]:
        first = level[first]
    owner = np.repeat(np.arange(len(tuples)), np.diff(first))
    pairs = np.unique(np.stack((owner, tuples.members), axis=1), axis=0)
    return int(np.bincount(pairs[:, 1], tuples.weights[pairs[:, 0]]).max())


def _cells(setting: Setting, points: Iterable[tuple[str, int, int]]) -> list[StoredCell]:
    return [
        {
            "kind": kind,
            "size": size,
            "clauses": clauses,
            "weights": weights,
            "seed": seed,
            "runs": setting.runs,
        }
        for kind, size, clauses in points
        for seed in range(5 if setting.full else 1)
        for weights in WEIGHTS
    ]


def by_clauses(setting: Setting) -> list[StoredCell]:
    """Return relations of 1,000 tuples with more and more clauses."""
    clauses = ALL_CLAUSES if setting.full else FEW_CLAUSES
    return _cells(setting, ((kind, SIZE, count) for kind in KINDS for count in clauses))


def by_size(setting: Setting) -> list[StoredCell]:
    """Return larger and larger relations with three clauses a tuple."""
    sizes = (200, 500, 1000, 2000, 5000, 10_000) if setting.full else (250, 500, 1000, 2000)
    return _cells(setting, ((kind, size, CLAUSES) for size in sizes for kind in KINDS))


def measure(cell: StoredCell, setting: Setting) -> Iterator[StoredRow]:
    """Yield the error and the time of a release, and what the dotted line of the paper shows."""
    seed = int(cell["seed"])
    relation = random_relation(
        str(cell["kind"]), int(cell["size"]), int(cell["clauses"]), str(cell["weights"]), seed
    )
    dotted = universal_sensitivity(relation) / Fraction(PAPER_EPSILON) / relation.true_answer()
    for row in errors(relation, MECHANISMS, (PAPER_EPSILON,), setting.runs, Asked(), seed_of(cell)):
        spent = timed_release(relation, str(row["mechanism"]))
        yield {**row, "us_over_epsilon": float(dotted), **spent}


FIGURES = (
    Figure("relations-vs-clauses", by_clauses, measure),
    Figure("relations-vs-size", by_size, measure),
)
