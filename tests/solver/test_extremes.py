"""Nothing in the data makes a solver fail: an exception would be an answer. Extreme weights and levels."""

from __future__ import annotations

import random
from functools import cache
from itertools import combinations

import numpy as np
import pytest

from recuse.annotation import Participant, conjunction, disjunction
from recuse.krelation.build import from_expressions, from_owners, without
from recuse.krelation.relation import KRelation, Shape
from recuse.mechanism.mechanisms import NAMES, mechanism_for
from recuse.privacy import Epsilon
from recuse.solver.fast import fast_programs
from recuse.solver.reference import reference
from support.mechanisms import run
from support.noise import Seeded
from support.prepared import prepared
from support.profiles import examples
from support.strategies import LOADED

SOLVERS = [reference, fast_programs]
WEIGHTS = [1, 10**7, 10**9, 10**12, 2**63 - 3, 10**25]


def triples(people: int, weight: int, shape: Shape = Shape.CONJUNCTIONS) -> KRelation:
    """Every three people share a tuple: optima with coordinates of one third."""
    rows = [
        (conjunction(*map(Participant, some)), weight + i)
        for i, some in enumerate(combinations(range(people), 3))
    ]
    return from_expressions(rows, shape, signed=False)


@cache
def heavy(weight: int) -> tuple[KRelation, KRelation]:
    """Return the triples of four, and what is left of them without one: the same for every mechanism."""
    relation = triples(4, weight)
    return relation, without(relation, 3)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("weight", WEIGHTS)
def test_heavy_triples_are_solved(solver, weight):
    for people in (4, 6):
        relation = triples(people, weight)
        programs = solver(relation.positive, relation.participants)
        for tau in (2.0**-20, 0.5, 1.0, 8.0, 2.0**20, float(weight), 3.8e22):
            found = programs.truncated(tau, tau / 100)
            assert found.width <= tau / 100
            assert found.low <= relation.true_answer()
            assert programs.withdrawals(tau, 0.01).width <= 0.01
            assert programs.strict_withdrawals(tau, 0.01).width <= 0.01


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shape", LOADED)
def test_random_relations_of_any_scale_are_solved(solver, shape):
    source = random.Random()
    for _ in range(examples(100)):
        rows = []
        for _ in range(source.randint(1, 8)):
            clauses = [
                conjunction(*(Participant(p) for p in source.sample(range(5), source.randint(1, 3))))
                for _ in range(1 if shape is Shape.CONJUNCTIONS else source.randint(1, 3))
            ]
            k = disjunction(*clauses)
            if shape is Shape.TREES:
                k = conjunction(k, disjunction(Participant(5), Participant(source.randrange(5))))
            rows.append((k, source.choice(WEIGHTS)))
        relation = from_expressions(rows, shape, signed=False)
        programs = solver(relation.positive, relation.participants)
        for tau in (2.0 ** source.randint(-20, 80), 2.0 ** source.randint(-20, 10)):
            assert programs.truncated(tau, tau / 100).width <= tau / 100
            assert programs.withdrawals(max(0.5, tau), 0.01).width <= 0.01


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("weight", WEIGHTS)
def test_neighbours_are_both_answered(name, weight):
    for some in heavy(weight):
        for epsilon in ("0.1", "1", "1000"):
            parameters = mechanism_for(name, Epsilon.of(epsilon), some.shape)
            assert run(prepared(some), parameters, Seeded(1)).epsilon == parameters.epsilon


def test_one_very_heavy_tuple_needs_one_withdrawal():
    relation = from_expressions(
        [(conjunction(Participant(2), Participant(4)), 2**63 - 3)], Shape.CONJUNCTIONS
    )
    for solver in SOLVERS:
        found = solver(relation.positive, relation.participants).withdrawals(1.0, 0.01)
        assert found.low <= 1 <= found.high + 1e-9


def test_the_integer_without_a_negative_does_not_vanish():
    """-2⁶³ is counted whether or not somebody else's weight needs more than 64 bits."""
    small = np.iinfo(np.int64).min
    alone = from_owners(np.array([small, 5]), np.array([[0], [1]]), participants=2)
    assert alone.true_answer() == small + 5
    beside = from_owners(np.array([small, 5, 3 * small], object), np.array([[0], [1], [2]]), participants=3)
    assert beside.true_answer() == 4 * small + 5
