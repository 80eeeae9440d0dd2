"""A glance: the same as a solver says, from loads alone, whatever the order; nothing else is solved for."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.krelation.build import from_expressions, from_owners
from recuse.krelation.relation import KRelation, Shape, Tuples
from recuse.solver.fast import fast_programs
from recuse.solver.glance import Glance, glanced
from recuse.solver.programs import Programs
from recuse.solver.reference import reference
from support.neighbours import clique
from support.strategies import relations

taus = st.sampled_from([0.5, 1.0, 2.0, 5.0, 40.0])


def never() -> Programs:
    raise AssertionError("something was solved for")


def look(relation: KRelation, solved=never) -> Programs:
    return glanced(relation.positive, relation.participants, None, solved)


def shuffled(tuples: Tuples, seed: int) -> Tuples:
    """The same conjunctions in another order."""
    order = np.random.default_rng(seed).permutation(len(tuples))
    rows = [tuples.members[tuples.clauses[i] : tuples.clauses[i + 1]] for i in order]
    pointers = np.cumsum([0, *map(len, rows)])
    members = np.concatenate(rows) if rows else tuples.members
    return Tuples(tuples.weights[order], (np.arange(len(rows) + 1), pointers), members)


@given(relations(Shape.CONJUNCTIONS, largest=50), taus, st.sampled_from([0.0, 1.0, 3.0]))
def test_a_glance_agrees_with_the_solver_behind_it(relation, tau, stop_above):
    def judge() -> Programs:
        return reference(relation.positive, relation.participants)

    found = look(relation, judge)
    assert found.largest_load() == judge().largest_load()
    exact = judge().truncated(tau, 1e-6)
    near = found.truncated(tau, 1e-6)
    assert near.low <= exact.high
    assert exact.low <= near.high
    for ask in ("withdrawals", "strict_withdrawals"):
        count = getattr(judge(), ask)(tau, 1e-6)
        near = getattr(found, ask)(tau, 1e-6, stop_above)
        assert near.low <= count.high
        assert count.low <= near.high
        assert near.width <= 1e-6 or near.low > stop_above


@given(relations(Shape.CONJUNCTIONS, largest=2**40), taus, st.integers(0, 9))
def test_what_a_glance_says_does_not_depend_on_the_order_of_tuples(relation, tau, seed):
    asked = [
        glanced(tuples, relation.participants, None, lambda: fast_programs(relation.positive, 0))
        for tuples in (relation.positive, shuffled(relation.positive, seed))
    ]
    loads = [found.loads.loads.tolist() for found in asked if isinstance(found, Glance)]
    assert len(loads) == 2
    assert loads[0] == loads[1]
    assert asked[0].largest_load() == asked[1].largest_load()


def test_levels_that_loads_decide_are_not_solved_for():
    found = look(clique(30))
    assert found.strict_withdrawals(2.0, 0.01, stop_above=3.0).low > 3.0
    assert found.withdrawals(2.0, 0.01, stop_above=3.0).low > 3.0
    whole = found.truncated(found.largest_load(), 0.01)
    assert whole.low == whole.high == clique(30).true_answer()


def test_a_solver_is_made_once_and_only_for_what_is_open():
    made = []

    def solved() -> Programs:
        made.append(1)
        return fast_programs(clique(6).positive, 6)

    found = look(clique(6), solved)
    assert not made
    found.truncated(1.0, 0.01)
    found.strict_withdrawals(1.0, 0.01)
    found.index(1.0, 0.5, 0.1)
    assert found.integer_index(Fraction(1), Fraction(1, 2), 1) == 3
    assert len(made) == 1


@pytest.mark.parametrize(
    "tuples",
    [
        from_expressions([], Shape.TREES).positive,
        from_owners(np.array([2**54]), np.array([[0, 1]]), participants=2).positive,
        from_owners(np.array([2**52] * 3), np.array([[0, 1], [0, 2], [0, 3]]), participants=4).positive,
        Tuples(np.array([1]), (np.array([0, 1]), np.array([0, 2])), np.array([1, 1])),
        Tuples(np.array([1]), (np.array([0, 2]), np.array([0, 1, 2])), np.array([0, 1])),
    ],
    ids=["empty", "a heavy tuple", "a heavy person", "somebody twice", "an OR"],
)
def test_where_loads_are_not_exact_or_not_all_the_solver_is_asked(tuples):
    behind = fast_programs(tuples, 4)
    found = glanced(tuples, 4, None, lambda: behind)
    assert found is behind or len(tuples) == 0


def test_the_twin_that_looks_at_rounded_loads_depends_on_the_order(monkeypatch):
    """Why loads from 2⁵³ on are left to tuples in canonical order."""
    weights, owners = np.array([2**53, 1, 1]), np.array([[0, 1], [0, 2], [0, 3]])
    order = [0, 1, 2], [2, 1, 0]
    tuples = [
        Tuples(weights[one], (np.arange(4), np.arange(0, 7, 2)), owners[one].reshape(-1)) for one in order
    ]
    with pytest.raises(AssertionError, match="solved for"):
        glanced(tuples[0], 4, None, never)
    monkeypatch.setattr("recuse.solver.glance.EXACT", math.inf)
    one, other = (glanced(found, 4, None, never).largest_load() for found in tuples)
    assert one != other


def test_the_twin_that_forgets_an_owner_proves_too_much(monkeypatch):
    """Lemma D holds for as many owners as a tuple has at most; for one fewer it does not."""
    pair = from_owners(np.array([10]), np.array([[0, 1]]), participants=2, signed=False)
    count = reference(pair.positive, 2).strict_withdrawals(1.0, 1e-6)
    found = look(pair)
    assert isinstance(found, Glance)
    careless = replace(found, loads=replace(found.loads, most=found.loads.most - 1))
    assert careless.strict_withdrawals(1.0, 1e-6, stop_above=0.0).low > count.high
