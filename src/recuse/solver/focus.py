"""Focus: what withdrawals of some participants can do, as a small relation of its own.

A participant whose load is at most τ stays at most τ whoever withdraws, so that only the overloaded ones and
what touches them matter to N(τ), N_s(τ) and X(τ) (docs/proofs.md, withdrawal form). The others are taken to
stay; for lower ends, `Outside` remembers where they stand.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recuse.krelation.evaluate import segment_sums
from recuse.krelation.relation import Floats, Integers, Tuples, exact_sum

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Outside:
    """The leaves left out of the clauses in focus: whose they are, in which clause, with which weight."""

    people: Integers
    clauses: Integers
    weights: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Focus:
    """A relation over the participants in `people` (everybody else stays)."""

    tuples: Tuples
    people: Integers
    rest: int
    """the weight of the tuples left out"""
    outside: Outside


NOBODY = Outside(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))


def focus_loads(tuples: Tuples, chosen: Mask) -> Focus:
    """Return what the loads of the chosen depend on: the clauses that touch one of them."""
    if len(tuples.levels) > 2:
        return _touching(tuples, chosen)
    sizes = _sizes(tuples, chosen)
    return _projected(tuples, chosen, sizes, sizes > 0)


def focus_answer(tuples: Tuples, chosen: Mask) -> Focus:
    """Return what of the answer the chosen can move: a tuple with a clause of others stays whole."""
    if len(tuples.levels) > 2:
        return _touching(tuples, chosen)
    sizes = _sizes(tuples, chosen)
    movable = np.logical_and.reduceat(sizes > 0, tuples.levels[0][:-1])
    return _projected(tuples, chosen, sizes, np.repeat(movable, np.diff(tuples.levels[0])))


def _sizes(tuples: Tuples, chosen: Mask) -> Integers:
    """Return how many of the chosen each clause has."""
    return segment_sums(chosen[tuples.members].astype(np.int64), tuples.clauses)


def _projected(tuples: Tuples, chosen: Mask, sizes: Integers, kept: Mask) -> Focus:
    """Return the kept clauses of a two-level relation without the members that are not chosen."""
    lengths = np.diff(tuples.clauses)
    leaf_kept = np.repeat(kept, lengths)
    mine = chosen[tuples.members]
    inside = leaf_kept & mine
    number = np.cumsum(kept) - 1  # of a clause among the kept
    of_leaf = np.repeat(number, lengths)
    per_tuple = segment_sums(kept.astype(np.int64), tuples.levels[0])
    there = per_tuple > 0
    weights = tuples.weights[there]
    rest = tuples.total() - exact_sum(weights)
    local = np.cumsum(chosen) - 1
    small = Tuples(
        weights,
        (_pointers(per_tuple[there]), _pointers(sizes[kept])),
        local[tuples.members[inside]],
    )
    left = leaf_kept & ~mine
    heavy = np.repeat(np.repeat(tuples.weights_down(), np.diff(tuples.levels[0])), lengths)[left]
    outside = Outside(tuples.members[left], of_leaf[left], heavy)
    return _merged(Focus(small, np.flatnonzero(chosen), rest, outside))


def _merged(found: Focus) -> Focus:
    """Return conjunctions with equal ones made one, their weights added, where that is cheap to find."""
    tuples, base = found.tuples, len(found.people) + 1
    lengths = np.diff(tuples.clauses)
    conjunctive = len(tuples.levels[0]) == len(tuples.clauses)
    if (
        not conjunctive
        or len(tuples) == 0
        or float(base) ** int(lengths.max()) >= 2.0**62
        or tuples.total() >= 2**62
    ):
        return found
    keys = np.zeros(len(tuples), np.int64)
    for place in range(int(lengths.max())):
        longer = lengths > place
        keys[longer] = keys[longer] * base + tuples.members[tuples.clauses[:-1][longer] + place] + 1
    order = np.argsort(keys)
    ordered = keys[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    first = order[starts]
    number = np.empty(len(keys), np.int64)
    number[order] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(keys))))
    pointers, leaves = _children(tuples.clauses, first)
    weights = np.add.reduceat(tuples.weights[order], starts)
    small = Tuples(weights, (np.arange(len(starts) + 1), pointers), tuples.members[leaves])
    outside = Outside(found.outside.people, number[found.outside.clauses], found.outside.weights)
    return Focus(small, found.people, found.rest, outside)


def _touching(tuples: Tuples, chosen: Mask) -> Focus:
    """Return the tuples that touch one of the chosen, with all their members."""
    spans = tuples.levels[0]
    for level in tuples.levels[1:]:
        spans = level[spans]
    kept = np.flatnonzero(np.logical_or.reduceat(chosen[tuples.members], spans[:-1]))
    levels, nodes = [], kept
    for level in tuples.levels:
        pointers, nodes = _children(level, nodes)
        levels.append(pointers)
    members = tuples.members[nodes]
    seen = np.zeros(len(chosen), bool)
    seen[members] = True
    weights = tuples.weights[kept]
    rest = tuples.total() - exact_sum(weights)
    return Focus(
        Tuples(weights, tuple(levels), (np.cumsum(seen) - 1)[members]), np.flatnonzero(seen), rest, NOBODY
    )


def _pointers(sizes: Integers) -> Integers:
    found = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=found[1:])
    return found


def _children(level: Integers, nodes: Integers) -> tuple[Integers, Integers]:
    """Return the pointers of some nodes, counted afresh, and their children in the old counting."""
    sizes = level[nodes + 1] - level[nodes]
    pointers = _pointers(sizes)
    return pointers, np.repeat(level[nodes] - pointers[:-1], sizes) + np.arange(pointers[-1])
