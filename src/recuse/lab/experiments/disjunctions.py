"""Made relations whose annotations have an OR: DISTINCT, EXISTS, UNION, and the paper's 3-DNF and 3-CNF.

One seed makes one relation; which are for finding parameters and which judge them is a matter of the seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from recuse.krelation.forest import pointers_of
from recuse.krelation.relation import Integers, KRelation, Shape, Tuples
from recuse.lab.experiments.random_relations import random_relation

RelationMaker = Callable[[], KRelation]


def ranked(random: np.random.Generator, size: int, count: int, exponent: float) -> Integers:
    """Return numbers drawn with probability in proportion to rank^-exponent."""
    chances = (1.0 + np.arange(size)) ** -exponent
    found: Integers = random.permutation(size)[random.choice(size, count, p=chances / chances.sum())]
    return found


def of_clauses(tuples: Integers, clauses: list[Integers], people: int) -> KRelation:
    """Return one tuple a number, the OR of its clauses: columns of owners, each line a clause."""
    matrix = np.sort(np.stack(clauses, axis=1), axis=1)
    lines = np.unique(np.column_stack((tuples, matrix)), axis=0)
    members = [np.unique(line) for line in lines[:, 1:]]
    sizes = np.bincount(lines[:, 0])
    levels = pointers_of(sizes[sizes > 0]), pointers_of(np.array([len(one) for one in members]))
    weights = np.ones(np.count_nonzero(sizes), np.int64)
    found = Tuples(weights, levels, np.concatenate(members))
    return KRelation(Shape.CLAUSES, found, signed=False, names=range(people), participants=people)


def distinct(people: int, items: int, each: int, exponent: float, seed: int) -> KRelation:
    """Return COUNT(DISTINCT item) of purchases: an item is there while one of its buyers is."""
    random = np.random.default_rng([seed, people, items])
    bought = ranked(random, items, people * each, exponent)
    return of_clauses(bought, [random.integers(0, people, len(bought))], people)


def exists(people: int, posts: int, comments: int, exponent: float, seed: int) -> KRelation:
    """Return posts with a comment: the author and one of those who commented."""
    random = np.random.default_rng([seed, people, posts])
    authors = ranked(random, people, posts, exponent)
    posted = ranked(random, posts, comments, exponent)
    return of_clauses(posted, [authors[posted], ranked(random, people, comments, exponent)], people)


def union(people: int, items: int, each: int, exponent: float, seed: int) -> KRelation:
    """Return different items that somebody bought, or that one gave to another."""
    random = np.random.default_rng([seed, people, items, 1])
    bought = ranked(random, items, people * each, exponent)
    given = ranked(random, items, people * each // 2, exponent)
    buyers, givers, takers = (
        ranked(random, people, size, exponent / 2) for size in map(len, (bought, given, given))
    )
    first, second = np.concatenate((buyers, givers)), np.concatenate((buyers, takers))
    return of_clauses(np.concatenate((bought, given)), [first, second], people)


def disjunctions(seed: int) -> Iterator[tuple[str, RelationMaker]]:
    """Yield 36 relations by name."""
    for exponent in (0.3, 0.8, 1.1):
        for people, items, each in ((300, 150, 4), (300, 1500, 6), (1500, 400, 3), (1500, 4000, 3)):
            name = f"DISTINCT {people} people {items} items rank^-{exponent}"
            yield name, partial(distinct, people, items, each, exponent, seed)
        for people, posts, comments in ((400, 800, 1600), (1200, 1200, 6000)):
            name = f"EXISTS {people} people {posts} posts rank^-{exponent}"
            yield name, partial(exists, people, posts, comments, exponent, seed)
        for people, items, each in ((400, 300, 3), (1200, 2000, 2)):
            name = f"UNION {people} people {items} items rank^-{exponent}"
            yield name, partial(union, people, items, each, exponent, seed)
    for kind in ("3-DNF", "3-CNF"):
        for size, clauses in ((300, 3), (800, 3), (800, 6)):
            for weights in ("constant", "random"):
                yield (
                    f"{kind} {size} tuples {clauses} clauses {weights}",
                    partial(random_relation, kind, size, clauses, weights, seed),
                )
