"""The canonical order of tuples: a function of which they are, not of how they came."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse.annotation import And, Annotation, Or, Participant, Threshold
from recuse.krelation import canonical as module
from recuse.krelation.build import canonical_rows, expressions, from_expressions
from recuse.krelation.canonical import canonical
from recuse.krelation.relation import KRelation, Shape, Tuples
from support.profiles import examples
from support.strategies import relations

ALL = tuple(Shape)


def turned(k: Annotation, chance: random.Random) -> Annotation:
    """Return the same annotation with the children of every node in another order."""
    match k:
        case Participant():
            return k
        case Threshold(children, weights, least):
            pairs = [(turned(child, chance), u) for child, u in zip(children, weights, strict=True)]
            chance.shuffle(pairs)
            return Threshold(tuple(c for c, _ in pairs), tuple(u for _, u in pairs), least)
        case And(children) | Or(children):
            inner = [turned(child, chance) for child in children]
            chance.shuffle(inner)
            return type(k)(tuple(inner))
    raise TypeError(k)


def otherwise(relation: KRelation, seed: int) -> KRelation:
    """Return the relation of the same rows in another order, their annotations turned."""
    chance = random.Random(seed)
    rows = [(k if k == And(()) else turned(k, chance), weight) for k, weight in expressions(relation)]
    chance.shuffle(rows)
    return from_expressions(rows, relation.shape, signed=relation.signed)


def stored(tuples: Tuples) -> tuple[list[int], ...]:
    """Return the arrays of tuples."""
    needs = [array.tolist() for q in tuples.quorums for array in (q.least, q.weights)]
    return (tuples.weights.tolist(), tuples.members.tolist(), *(a.tolist() for a in tuples.levels), *needs)


def alike(relation: KRelation, seed: int) -> bool:
    other = otherwise(relation, seed)
    return [stored(canonical(part)) for part in relation.signs] == [
        stored(canonical(part)) for part in other.signs
    ]


@settings(max_examples=examples(100))
@given(relations(*ALL, signed=True), st.integers(0, 10))
def test_the_order_of_rows_and_of_children_is_not_seen(relation, seed):
    assert alike(relation, seed)


@settings(max_examples=examples(60))
@given(relations(*ALL, signed=True))
def test_the_canonical_order_means_the_same(relation):
    positive, negative = map(canonical, relation.signs)
    again = KRelation(
        relation.shape,
        positive,
        negative,
        relation.constant,
        relation.signed,
        relation.names,
        relation.participants,
    )
    if relation.shape is not Shape.THRESHOLDS:
        assert canonical_rows(again) == canonical_rows(relation)
    assert again.true_answer() == relation.true_answer()
    assert [stored(canonical(part)) for part in again.signs] == [stored(part) for part in again.signs]


def test_a_twin_that_does_not_look_below_a_tuple_is_caught(monkeypatch):
    """Ranks by the number of children alone: tuples of one size stay as they came."""
    monkeypatch.setattr(module, "_places", lambda columns: np.zeros(len(columns[0]), np.int64))
    a, b, c = map(Participant, "abc")
    rows = [(And((a, b)), 1), (And((b, c)), 1), (And((a, c)), 1)]
    one, other = (from_expressions(r, Shape.CONJUNCTIONS).positive for r in (rows, rows[::-1]))
    assert stored(canonical(one)) != stored(canonical(other))


def test_weights_of_any_size_have_an_order():
    rows = [(Participant("a"), 2**90), (Or((Participant("a"), Participant("b"))), 2**70)]
    one, other = (from_expressions(r, Shape.TREES).positive for r in (rows, rows[::-1]))
    assert stored(canonical(one)) == stored(canonical(other))
