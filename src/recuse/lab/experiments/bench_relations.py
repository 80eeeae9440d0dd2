"""Relations that the benchmark makes or queries itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from recuse.engines.bare import Bare
from recuse.krelation.build import from_owners
from recuse.krelation.relation import Integers, Tuples

SEED = 20140622


def random_triples(size: int) -> tuple[Tuples, int]:
    """Return `size` triples of size/10 participants with popularities that fall as a power."""
    generator, people = np.random.default_rng(SEED), size // 10
    popularity = 1.0 / np.arange(10, people + 10) ** 0.6
    owners = generator.choice(people, (size, 3), p=popularity / popularity.sum())
    relation = from_owners(np.ones(size, np.int64), owners, participants=people)
    return relation.positive, people


def random_dnf(size: int, clauses: int, seed: int = SEED) -> tuple[Tuples, int]:
    """Return the paper's 3-DNF relation: as many participants as tuples."""
    members = _triples(size, size * clauses, seed)
    levels = (np.arange(size + 1) * clauses, np.arange(size * clauses + 1) * 3)
    return Tuples(np.ones(size, np.int64), levels, members), size


def random_cnf(size: int, clauses: int, seed: int = SEED) -> tuple[Tuples, int]:
    """Return the paper's 3-CNF relation: as many participants as tuples."""
    members = _triples(size, size * clauses, seed)
    parts = size * clauses
    levels = (
        np.arange(size + 1),
        np.arange(size + 1) * clauses,
        np.arange(parts + 1) * 3,
        np.arange(3 * parts + 1),
    )
    return Tuples(np.ones(size, np.int64), levels, members), size


def _triples(people: int, count: int, seed: int) -> Integers:
    """Return triples of distinct participants, each ascending, one after the other."""
    generator = np.random.default_rng(seed)
    drawn = np.sort(generator.integers(0, people, (count, 3)), axis=1)
    while (clash := (np.diff(drawn, axis=1) == 0).any(axis=1)).any():
        drawn[clash] = np.sort(generator.integers(0, people, (int(clash.sum()), 3)), axis=1)
    return drawn.ravel()


def distinct_parts(connection: Bare, folder: Path) -> tuple[Tuples, int]:
    """Return COUNT(DISTINCT l_partkey) of TPC-H, customers protected."""
    query = f"""SELECT DISTINCT l_partkey AS part, o_custkey AS customer
        FROM '{folder}/lineitem.parquet' JOIN '{folder}/orders.parquet' ON l_orderkey = o_orderkey
        ORDER BY ALL"""
    found = connection.execute(query).fetchnumpy()
    names, customers = np.unique(found["customer"], return_inverse=True)
    starts = np.flatnonzero(np.diff(found["part"], prepend=found["part"][0] - 1))
    levels = (np.append(starts, len(customers)).astype(np.int64), np.arange(len(customers) + 1))
    return Tuples(np.ones(len(starts), np.int64), levels, customers.astype(np.int64)), len(names)


def owner_pairs(connection: Bare, folder: Path) -> tuple[Tuples, int]:
    """Return the line items of TPC-H merged by customer and supplier, both protected."""
    query = f"""SELECT o_custkey AS customer, l_suppkey AS supplier, count(*)::BIGINT AS weight
        FROM '{folder}/lineitem.parquet' JOIN '{folder}/orders.parquet' ON l_orderkey = o_orderkey
        GROUP BY ALL"""
    found = connection.execute(query).fetchnumpy()
    buyers, customers = np.unique(found["customer"], return_inverse=True)
    sellers, suppliers = np.unique(found["supplier"], return_inverse=True)
    owners = np.stack((customers, suppliers + len(buyers)), axis=1)
    people = len(buyers) + len(sellers)
    return from_owners(np.asarray(found["weight"]), owners, participants=people).positive, people
