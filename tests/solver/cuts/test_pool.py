"""Cuts of loads lie below the loads everywhere, one by one and as the multipliers of a master add them up."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from recuse.krelation.evaluate import Evaluation
from recuse.krelation.relation import KRelation, Shape
from recuse.solver.cuts.pool import CutPool
from recuse.solver.cuts.restriction import focus_loads
from support.neighbours import clique, star
from support.strategies import relations

FUZZ = 1e-9


def pool_of(relation: KRelation) -> CutPool:
    """Return the pool of a whole relation: everybody is in focus."""
    evaluation = Evaluation.of(relation.positive, relation.participants)
    return CutPool.of(focus_loads(evaluation, np.ones(relation.participants, bool)))


def drawn(data: st.DataObject, size: int) -> np.ndarray:
    eighths = data.draw(st.lists(st.integers(0, 8), min_size=size, max_size=size))
    return np.array(eighths, float) / 8


@given(relations(Shape.CONJUNCTIONS, largest=20), st.data())
def test_a_kept_cut_is_nowhere_above_its_load(relation, data):
    assume(len(relation.positive))
    pool = pool_of(relation)
    classes = len(pool.classes.sizes)
    at, h = (pool.classes.expanded(drawn(data, classes)) for _ in range(2))
    people = pool.heads_above(pool.evaluation.loads(at), np.zeros(len(at)))
    assume(len(people))
    pool.cut(pool.tangents.slopes(at), people)
    (found,) = pool.rounds
    by_class = h[pool.classes.representatives]
    cuts = found.constants * (1 - found.rows @ by_class)
    assert (cuts <= pool.evaluation.loads(h)[found.people] + FUZZ * found.constants).all()


@given(relations(Shape.CONJUNCTIONS, largest=20), st.data())
def test_what_multipliers_prove_is_nowhere_above_the_weighted_loads(relation, data):
    """Also with members of one class that withdraw differently: classes share a multiplier, not a proof."""
    assume(len(relation.positive))
    pool = pool_of(relation)
    size = relation.participants
    for _ in range(2):
        at = pool.classes.expanded(drawn(data, len(pool.classes.sizes)))
        people = pool.heads_above(pool.evaluation.loads(at), np.zeros(size))
        if len(people):
            pool.cut(pool.tangents.slopes(at), people)
    duals = drawn(data, sum(len(found.people) for found in pool.rounds))
    cut, multipliers = pool.proven(duals)
    h = drawn(data, size)
    loads = pool.evaluation.loads(h)
    assert cut.constant - cut.slope @ h <= multipliers.sum(axis=0) @ loads + FUZZ * (1 + abs(cut.constant))


def test_one_of_a_class_is_cut_once():
    pool = pool_of(star(40))
    assert sorted(pool.classes.sizes.tolist()) == [1, 40]
    assert len(pool.unseen(0.5)) == 2, "the hub, and a leaf for all leaves"
    assert len(pool.unseen(0.5)) == 0
    pool = pool_of(clique(8, weight=3))
    assert len(pool.unseen(21.0)) == 0, "nobody is above their own load"
    assert len(pool.unseen(20.0)) == 1


def test_no_multipliers_prove_nothing():
    pool = pool_of(clique(5))
    pool.cut(pool.tangents.slopes(np.zeros(5)), pool.unseen(1.0))
    cut, multipliers = pool.proven(np.zeros(1))
    assert (cut.constant, cut.slope.any(), multipliers.any()) == (0.0, False, False)
