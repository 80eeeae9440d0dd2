"""Counts of distinct values with many owners are almost free: the made shop of THEORY's example."""

from __future__ import annotations

import numpy as np
import pytest

from recuse.annotation import Participant, disjunction
from recuse.krelation.build import from_expressions
from recuse.krelation.relation import KRelation, Shape
from recuse.mechanism import presets
from recuse.mechanism.prepared import prepare
from recuse.privacy import Epsilon
from recuse.solver.fast import fast_programs
from recuse.solver.memo import memoising
from support.mechanisms import run
from support.noise import Seeded
from support.profiles import some

CUSTOMERS, PRODUCTS = 2_000, 200


def shop(seed: int) -> KRelation:
    """Each customer buys 1 + Poisson(10) of 200 products, without replacement, by Zipf popularity."""
    random = np.random.default_rng(seed)
    popularity = 1 / np.arange(1, PRODUCTS + 1)
    buyers: dict[int, list[int]] = {}
    for customer in range(CUSTOMERS):
        size = min(PRODUCTS, 1 + random.poisson(10))
        for product in random.choice(PRODUCTS, size, replace=False, p=popularity / popularity.sum()):
            buyers.setdefault(int(product), []).append(customer)
    rows = [(disjunction(*map(Participant, owners)), 1) for owners in buyers.values()]
    return from_expressions(rows, Shape.CLAUSES, signed=False)


@pytest.mark.parametrize("seed", some([1, 2], 0.5))
def test_the_median_error_is_half_a_product(seed):
    relation = shop(seed)
    work, source = prepare(relation, memoising(fast_programs)), Seeded(seed)
    parameters = presets.selective(Epsilon.of(1), relation.shape)
    errors = [abs(run(work, parameters, source).value - relation.true_answer()) for _ in range(400)]
    assert np.median([float(error) for error in errors]) <= 0.5


def test_a_load_based_bound_is_far_worse():
    relation = shop(1)
    work, source = prepare(relation, memoising(fast_programs)), Seeded(1)
    errors = [
        abs(run(work, presets.by_withdrawals(Epsilon.of(1)), source).value - relation.true_answer())
        for _ in range(60)
    ]
    assert np.median([float(error) for error in errors]) > 5
