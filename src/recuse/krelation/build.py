"""Building K-relations: from owners as arrays (engines, graphs) and from expressions (tests, teaching)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.annotation import (
    FALSE,
    TRUE,
    And,
    Annotation,
    Or,
    Participant,
    Threshold,
    participants,
    threshold,
    withdraw,
)
from recuse.krelation.relation import NO_TUPLES, SYNTACTIC, Integers, KRelation, Quorums, Shape, Tuples
from recuse.primes import primes


def from_owners(
    weights: NDArray[Any],
    owners: Integers,
    *,
    names: Sequence[Hashable] = (),
    participants: int | None = None,
    signed: bool = True,
) -> KRelation:
    """Return the relation of conjunctions whose i-th tuple belongs to everybody in row i of `owners`.

    `owners` is a matrix of participant indices, one column an owner; the same participant may stand in
    several columns of a row and counts once. A row without columns belongs to nobody: a public tuple.
    """
    count = participants if participants is not None else len(names)
    if owners.shape[1] == 0:
        constant = sum(weights.tolist())
        return KRelation(
            Shape.CONJUNCTIONS, NO_TUPLES, constant=constant, signed=signed, names=names, participants=count
        )
    rows = np.sort(owners, axis=1)
    if weights.dtype != object and weights.min(initial=0) == np.iinfo(np.int64).min:
        weights = weights.astype(object)  # the one integer whose negative does not fit

    def of_sign(sign: int) -> Tuples:
        chosen = np.flatnonzero(weights > 0 if sign > 0 else weights < 0)
        return _conjunctions(weights[chosen] * sign, rows[chosen])

    return KRelation(
        Shape.CONJUNCTIONS, of_sign(1), of_sign(-1), signed=signed, names=names, participants=count
    )


def from_owner_sets(
    weights: NDArray[Any], owners: Integers, *, names: Sequence[Hashable], signed: bool = True
) -> KRelation:
    """Return the relation of conjunctions whose rows are sets already: ascending, no participant twice.

    The same as `from_owners`, without looking for equal rows: nothing is sorted.
    """
    width = owners.shape[1]

    def of_sign(sign: int) -> Tuples:
        mine = weights > 0 if sign > 0 else weights < 0
        count = np.count_nonzero(mine)
        if count == 0:
            return NO_TUPLES
        members, own = (owners, weights) if count == len(weights) else (owners[mine], weights[mine])
        levels = np.arange(count + 1), np.arange(0, (count + 1) * width, width)
        return Tuples(own * sign, levels, members.reshape(-1))

    return KRelation(
        Shape.CONJUNCTIONS, of_sign(1), of_sign(-1), signed=signed, names=names, participants=len(names)
    )


def _conjunctions(weights: NDArray[Any], rows: Integers) -> Tuples:
    """Merge equal sorted rows, and drop repeats within a row."""
    if len(weights) == 0:
        return NO_TUPLES
    order = np.lexsort(rows.T[::-1])
    rows, weights = rows[order], weights[order]
    starts = _starts(rows)
    rows, weights = rows[starts], _sums(weights, starts)
    fresh = np.ones(rows.shape, bool)
    fresh[:, 1:] = rows[:, 1:] != rows[:, :-1]
    sizes = fresh.sum(axis=1)
    if rows.shape[1] > 2 and sizes.min() < rows.shape[1]:
        # a,a,b and a,b,b are the same set but different rows: pad, sort and merge once more
        last = rows.max() + 1
        padded = np.sort(np.where(fresh, rows, last), axis=1)
        again = np.lexsort(padded.T[::-1])
        padded, weights = padded[again], weights[again]
        starts = _starts(padded)
        rows, weights = padded[starts], _sums(weights, starts)
        fresh = rows < last
        sizes = fresh.sum(axis=1)
    pointers = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    return Tuples(weights, (np.arange(len(weights) + 1), pointers), rows[fresh].astype(np.int64))


def _starts(rows: Integers) -> Integers:
    """Return where a new row begins in a sorted matrix."""
    return np.flatnonzero(np.concatenate(([True], (rows[1:] != rows[:-1]).any(axis=1))))


def _sums(weights: NDArray[Any], starts: Integers) -> NDArray[Any]:
    """Return the exact sum of each segment, in int64 where it fits and in Python integers otherwise."""
    if len(starts) == len(weights):
        return weights.copy()
    if weights.dtype != object and float(weights.max()) * len(weights) >= 2.0**62:
        weights = weights.astype(object)
    summed: NDArray[Any] = np.add.reduceat(weights, starts)
    return summed


# ------------------------------------------------------------------ from expressions


def from_expressions(
    rows: Iterable[tuple[Annotation, int]], shape: Shape, *, signed: bool = True
) -> KRelation:
    """Return the relation of (annotation, signed integer weight) pairs in the form that `shape` asks for.

    CONJUNCTIONS and CLAUSES take derivations as sets (for CONJUNCTIONS there must be one each); TREES and
    THRESHOLDS keep the expressions as they are.
    """
    listed = [(k, weight) for k, weight in rows if weight and k != FALSE]
    names = sorted({name for k, _ in listed for name in participants(k)}, key=repr)
    index = {name: i for i, name in enumerate(names)}
    constant = sum(weight for k, weight in listed if k == TRUE)
    depth = max((_depth(k) for k, _ in listed if k != TRUE), default=2) if shape in SYNTACTIC else 2

    def of_sign(sign: int) -> Tuples:
        merged: dict[Annotation, int] = {}
        for k, weight in listed:
            if k != TRUE and weight * sign > 0:
                form = k if shape in SYNTACTIC else _clause_set(k)
                merged[form] = merged.get(form, 0) + abs(weight)
        return _stack(merged, depth, index, thresholds=shape is Shape.THRESHOLDS)

    return KRelation(
        shape,
        of_sign(1),
        of_sign(-1),
        constant=constant,
        signed=signed,
        names=tuple(names),
        participants=len(names),
    )


def _clause_set(k: Annotation) -> Annotation:
    clauses = sorted((sorted(c, key=repr) for c in _sets(k)), key=repr)
    return Or(tuple(And(tuple(map(Participant, clause))) for clause in clauses))


def _sets(k: Annotation) -> frozenset[frozenset[Hashable]]:
    """Return the derivations as sets, none absorbed."""
    match k:
        case Participant(name):
            return frozenset([frozenset([name])])
        case Or(children):
            return frozenset().union(*map(_sets, children))
        case And(children):
            found = frozenset([frozenset[Hashable]()])
            for child in children:
                found = frozenset(left | right for left in found for right in _sets(child))
            return found
        case Threshold():
            raise ValueError("a threshold is no set of clauses")


def _depth(k: Annotation) -> int:
    """Return how many levels `k` needs: an even number."""
    match k:
        case Or(children) | Threshold(children):
            return 1 + max(map(_depth_below, children))
        case _:
            return 1 + _depth_below(k)


def _depth_below(k: Annotation) -> int:
    """Return how many levels `k` needs below an OR."""
    match k:
        case And(children) if not all(isinstance(child, Participant) for child in children):
            return 1 + max(map(_depth, children))
        case Or() | Threshold():
            return 1 + _depth(k)
        case _:
            return 1


def _stack(
    merged: Mapping[Annotation, int], depth: int, index: Mapping[Hashable, int], *, thresholds: bool
) -> Tuples:
    """Return the annotations as levels, shallow ones padded with one-child nodes."""
    if not merged:
        return NO_TUPLES
    nodes: list[Annotation] = list(merged)
    levels, quorums = [], []
    for level in range(depth):
        rest = depth - level - 1
        children = [_children(node, (Or, Threshold) if level % 2 == 0 else (And,), rest) for node in nodes]
        if thresholds and level % 2 == 0:
            quorums.append(_quorums(nodes, children))
        levels.append(np.cumsum([0, *map(len, children)]))
        nodes = [child for group in children for child in group]
    members = np.array([index[node.name] for node in nodes if isinstance(node, Participant)], np.int64)
    values = list(merged.values())
    fits = max(values) < 2**62
    return Tuples(np.array(values, np.int64 if fits else object), tuple(levels), members, tuple(quorums))


def _quorums(nodes: Sequence[Annotation], children: Sequence[tuple[Annotation, ...]]) -> Quorums:
    """Return what each node of an OR level needs of its children."""
    least = [node.least if isinstance(node, Threshold) else 1 for node in nodes]
    weights = [
        u
        for node, group in zip(nodes, children, strict=True)
        for u in (node.weights if isinstance(node, Threshold) else [1] * len(group))
    ]
    return Quorums(np.array(least, np.int64), np.array(weights, np.int64))


def _children(
    node: Annotation, kinds: tuple[type[And | Or | Threshold], ...], rest: int
) -> tuple[Annotation, ...]:
    """Return the children of `node` if it is of these kinds; what is not is its own only child.

    `rest` counts the levels below: an AND over mixed children keeps itself together until its
    non-participants still have the levels they need.
    """
    if isinstance(node, Participant) or not isinstance(node, kinds):
        return (node,)
    if isinstance(node, And) and rest > 0 and all(isinstance(child, Participant) for child in node.children):
        return (node,)
    return node.children


# ------------------------------------------------------------------ reading back


def expressions(relation: KRelation) -> list[tuple[Annotation, int]]:
    """Return the (annotation, signed weight) pairs of a relation, the constant as TRUE: for tests."""
    rows: list[tuple[Annotation, int]] = [(TRUE, relation.constant)] if relation.constant else []
    for part, sign in zip(relation.signs, (1, -1), strict=True):
        nodes: list[Annotation] = [Participant(relation.names[m]) for m in part.members.tolist()]
        for depth in range(len(part.levels) - 1, -1, -1):
            level = part.levels[depth].tolist()
            if part.quorums and depth % 2 == 0:
                quorums = part.quorums[depth // 2]
                counts = quorums.weights.tolist()
                nodes = [
                    threshold(nodes[a:b], counts[a:b], least)
                    for (a, b), least in zip(pairwise(level), quorums.least.tolist(), strict=True)
                ]
                continue
            kind = And if depth % 2 else Or
            nodes = [kind(tuple(nodes[a:b])) if b - a > 1 else nodes[a] for a, b in pairwise(level)]
        rows += [(k, sign * weight) for k, weight in zip(nodes, part.weights.tolist(), strict=True)]
    return rows


def canonical_rows(relation: KRelation) -> dict[tuple[Any, int], int]:
    """Return total weight by (prime implicants, sign): equal for relations that mean the same."""
    found: dict[tuple[Any, int], int] = {}
    for k, weight in expressions(relation):
        key = (primes(k), 1 if weight > 0 else -1)
        found[key] = found.get(key, 0) + weight
    return found


def without(relation: KRelation, name: Hashable) -> KRelation:
    """Return the relation after one participant has left: annotations with p→False, same shape."""
    rows = [(withdraw(k, name), weight) for k, weight in expressions(relation)]
    return from_expressions(rows, relation.shape, signed=relation.signed)
