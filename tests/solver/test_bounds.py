"""Lower ends from loads alone: never above the count, and exact where everybody is alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.krelation.build import from_owners
from recuse.krelation.relation import KRelation, Shape
from recuse.solver.bounds import loads_low
from recuse.solver.reference import reference
from recuse.solver.source import InMemory
from support.strategies import relations

taus = st.sampled_from([0.5, 1.0, 2.0, 5.0, 40.0])


def proven(relation: KRelation, tau: float, strictness: float, *, fewer: int = 0) -> float:
    memory = InMemory.of(relation.positive, relation.participants)
    bounds = memory.evaluation.bounds(tau)
    most = int(np.diff(relation.positive.clauses).max(initial=0)) - fewer
    return loads_low(memory.loads, bounds, most, strictness)


@given(relations(Shape.CONJUNCTIONS, largest=50), taus)
def test_loads_never_prove_more_than_the_count(relation, tau):
    judge = reference(relation.positive, relation.participants)
    assert proven(relation, tau, 0.0) <= judge.withdrawals(tau, 1e-6).high
    assert proven(relation, tau, 1.0) <= judge.strict_withdrawals(tau, 1e-6).high


def test_the_law_fails_if_a_tuple_has_one_owner_more_than_is_said():
    """Twin: k - 1 in place of k."""
    pair = from_owners(np.array([10]), np.array([[0, 1]]), participants=2, signed=False)
    count = reference(pair.positive, 2).strict_withdrawals(1.0, 1e-6)
    assert proven(pair, 1.0, 1.0) <= count.high < proven(pair, 1.0, 1.0, fewer=1)


@pytest.mark.parametrize("tau", [0.5, 1.5, 7.0])
def test_where_everybody_is_alone_loads_say_all(tau):
    alone = from_owners(np.arange(1, 9), np.arange(8)[:, None], participants=8, signed=False)
    over = sum(load > tau for load in range(1, 9))
    assert proven(alone, tau, 1.0) == pytest.approx(over)
