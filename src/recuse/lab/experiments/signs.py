"""Made sums with signs: balances, friends and foes, votes for and against, pairs that are taken off again.

One seed makes one relation. Weights are whole; what is positive and what is negative have owners alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from recuse.krelation.build import from_owners
from recuse.krelation.relation import KRelation
from recuse.lab.experiments.disjunctions import RelationMaker, ranked


def balances(people: int, spread: float, seed: int) -> KRelation:
    """Return payments of one owner each, lognormal, every fifth of them out."""
    random = np.random.default_rng([seed, people, int(10 * spread)])
    owners = random.integers(0, people, 6 * people)
    amounts = np.ceil(random.lognormal(2.0, spread, len(owners))).astype(np.int64)
    signs = np.where(random.random(len(owners)) < 0.2, -1, 1)
    return from_owners(amounts * signs, owners[:, None], participants=people)


def friends_and_foes(people: int, degree: int, foes: float, seed: int) -> KRelation:
    """Return the ties of a random graph, less for foes: two owners each."""
    random = np.random.default_rng([seed, people, degree])
    ends = np.unique(np.sort(random.integers(0, people, (people * degree // 2, 2)), axis=1), axis=0)
    ties = ends[ends[:, 0] != ends[:, 1]]
    signs = np.where(random.random(len(ties)) < foes, -1, 1).astype(np.int64)
    return from_owners(signs, ties, participants=people)


def votes(people: int, count: int, exponent: float, seed: int) -> KRelation:
    """Return votes for less votes against, of whoever posts and whoever votes, by rank."""
    random = np.random.default_rng([seed, people, count])
    pairs = np.stack([ranked(random, people, count, exponent) for _ in range(2)], axis=1)
    signs = np.where(random.random(count) < 0.25, -1, 1).astype(np.int64)
    return from_owners(signs, pairs, participants=people)


def without_partner(people: int, each: int, exponent: float, seed: int) -> KRelation:
    """Return rows of one owner, and again, taken off, those that another owner answers: absence (N1)."""
    random = np.random.default_rng([seed, people, each, 1])
    owners = ranked(random, people, people * each, exponent)
    answered = random.random(len(owners)) < 0.3
    partners = ranked(random, people, int(answered.sum()), exponent)
    both = np.stack((owners[answered], partners), axis=1)
    rows = np.concatenate((np.stack((owners, owners), axis=1), both))
    weights = np.concatenate((np.ones(len(owners), np.int64), np.full(len(both), -1, np.int64)))
    return from_owners(weights, rows, participants=people)


def signed_sums(seed: int) -> Iterator[tuple[str, RelationMaker]]:
    """Yield 16 relations by name."""
    for people in (500, 5000):
        for spread in (0.5, 1.0, 1.5):
            yield f"balances {people} people spread {spread}", partial(balances, people, spread, seed)
        for foes in (0.1, 0.3):
            name = f"friends less foes {people} people, {foes} foes"
            yield name, partial(friends_and_foes, people, 8, foes, seed)
        yield f"rows without a partner {people} people", partial(without_partner, people, 4, 0.6, seed)
    for exponent in (0.3, 0.6, 0.9, 1.2):
        yield f"votes for less against rank^-{exponent}", partial(votes, 2000, 8000, exponent, seed)
