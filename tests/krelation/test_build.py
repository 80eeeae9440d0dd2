"""K-relations say the same as the expressions they were built from."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.annotation import FALSE, TRUE, Participant, conjunction, withdraw
from recuse.krelation.build import canonical_rows, expressions, from_expressions, from_owners, without
from recuse.krelation.relation import NO_TUPLES, KRelation, Shape, Tuples
from recuse.primes import primes
from support.strategies import BY_SHAPE, people, relations

rows_of_trees = st.lists(st.tuples(BY_SHAPE[Shape.TREES], st.integers(-3, 3)), max_size=5)


def by_sign(rows, form):
    found = Counter()
    for k, weight in rows:
        if weight and k != FALSE:
            found[form(k), weight > 0] += weight
    return found


@given(rows_of_trees)
def test_trees_are_kept_as_they_are_and_merged_by_sign(rows):
    assert by_sign(expressions(from_expressions(rows, Shape.TREES)), lambda k: k) == by_sign(
        rows, lambda k: k
    )


@given(rows_of_trees)
def test_clause_sets_keep_the_primes(rows):
    assert canonical_rows(from_expressions(rows, Shape.CLAUSES)) == {
        (k, 1 if positive else -1): weight for (k, positive), weight in by_sign(rows, primes).items()
    }


@given(relations(signed=True), people)
def test_the_neighbour_is_built_like_the_relation(relation, leaver):
    """Withdrawing from the stored form and building from withdrawn expressions agree."""
    rows = [(withdraw(k, leaver), weight) for k, weight in expressions(relation)]
    neighbour = without(relation, leaver)
    assert leaver not in neighbour.names
    assert canonical_rows(neighbour) == canonical_rows(from_expressions(rows, relation.shape))


def test_true_tuples_are_a_constant_and_false_ones_vanish():
    a = Participant("a")
    relation = from_expressions([(TRUE, 5), (FALSE, 7), (a, 2), (a, 3), (a, -1)], Shape.CONJUNCTIONS)
    assert (relation.constant, relation.true_answer()) == (5, 9)
    assert (relation.positive.weights.tolist(), relation.negative.weights.tolist()) == ([5], [1])


matrices = st.integers(1, 4).flatmap(
    lambda width: st.lists(
        st.tuples(st.lists(st.integers(0, 4), min_size=width, max_size=width), st.integers(-5, 5)),
        min_size=1,
        max_size=12,
    )
)


@given(matrices)
def test_owner_matrices_mean_conjunctions_of_sets(rows):
    weights = np.array([weight for _, weight in rows])
    owners = np.array([row for row, _ in rows])
    relation = from_owners(weights, owners, names=list("abcde"))
    by_hand = from_expressions(
        [(conjunction(*(Participant("abcde"[i]) for i in sorted(set(row)))), weight) for row, weight in rows],
        Shape.CONJUNCTIONS,
    )
    assert canonical_rows(relation) == canonical_rows(by_hand)
    for part in relation.signs:  # equal annotations are merged
        starts = part.clauses.tolist()
        sets = [tuple(part.members[i:j]) for i, j in pairwise(starts)]
        assert len(set(sets)) == len(sets)


def test_rows_without_owners_are_public():
    relation = from_owners(np.array([2, -5]), np.empty((2, 0), np.int64))
    assert (relation.constant, len(relation.positive), len(relation.negative)) == (-3, 0, 0)


def test_sums_beyond_64_bits_are_exact():
    relation = from_owners(np.array([2**62, 2**62, 2**62]), np.array([[0], [0], [1]]), participants=2)
    assert sorted(relation.positive.weights.tolist()) == [2**62, 2**63]
    assert relation.true_answer() == 3 * 2**62


@given(st.lists(st.integers(1, 2**90), min_size=1, max_size=4))
def test_weights_round_outward(weights):
    pointers = np.arange(len(weights) + 1)
    part = Tuples(np.array(weights, object), (pointers, pointers.copy()), np.zeros(len(weights), np.int64))
    for exact, low, high in zip(weights, part.weights_down(), part.weights_up(), strict=True):
        assert int(low) <= exact <= int(high)
        assert high - low <= exact * 2.0**-51


def test_arrays_are_read_only():
    part = from_expressions([(Participant("a"), 1)], Shape.CONJUNCTIONS).positive
    with pytest.raises(ValueError, match="read-only"):
        part.members[0] = 3


one = np.array([0, 1])


@pytest.mark.parametrize(
    ("weights", "levels", "members", "problem"),
    [
        ([1], (one,), [0], "alternate"),
        ([1], (one, np.array([0, 2])), [0], "pointers"),
        ([1, 1], (np.array([0, 1, 2]), np.array([0, 0, 1])), [0], "empty segment"),
        ([0], (one, one), [0], "positive"),
        ([-1], (one, one), [0], "positive"),
    ],
)
def test_invalid_tuples_cannot_be_built(weights, levels, members, problem):
    with pytest.raises(ValueError, match=problem):
        Tuples(np.array(weights), tuple(level.copy() for level in levels), np.array(members))


def test_invalid_relations_cannot_be_built():
    part = from_expressions([(Participant("a"), 1)], Shape.CONJUNCTIONS).positive
    with pytest.raises(ValueError, match="not a participant"):
        KRelation(Shape.CONJUNCTIONS, part, participants=0)
    with pytest.raises(ValueError, match="without a sign"):
        KRelation(Shape.CONJUNCTIONS, NO_TUPLES, part, signed=False, participants=1)
