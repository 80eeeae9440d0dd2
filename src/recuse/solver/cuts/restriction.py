"""Restriction: what withdrawals of some participants can do, as a small relation of its own.

A participant whose load is at most τ stays at most τ whoever withdraws, so that only the overloaded ones and
what touches them matter to N(τ), N_s(τ) and X(τ) (proofs.md, withdrawal form). The others are taken to
stay; for lower ends, `cuts.outside` remembers where they stand.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recuse.krelation.evaluate import Evaluation, segment_sums
from recuse.krelation.prices import Prices
from recuse.krelation.relation import Floats, Integers, Tuples, exact_sum
from recuse.solver.cuts.outside import NOBODY, Leaves, Outside

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Focus:
    """A relation over the participants in `people` (everybody else stays)."""

    tuples: Tuples
    people: Integers
    rest: int
    """the weight of the tuples left out"""
    outside: Outside
    prices: Prices

    def evaluation(self) -> Evaluation:
        """Return the relation laid out, with what its participants pay."""
        return Evaluation.of(self.tuples, len(self.people), self.prices)

    def per_weight(self, terms: Floats) -> Floats:
        """Return doubles not below what clauses count for in a cut, a unit of their weight."""
        return terms / np.repeat(self.tuples.weights_down(), self.tuples.alternatives())


def focus_loads(evaluation: Evaluation, chosen: Mask) -> Focus:
    """Return what the loads of the chosen depend on: the clauses that touch one of them."""
    tuples = evaluation.tuples
    if len(tuples.levels) > 2:
        return touching(tuples, chosen, evaluation.prices)
    mine = chosen[tuples.members]
    return _projected(evaluation, chosen, mine, _any(mine, tuples.clauses))


def focus_answer(evaluation: Evaluation, chosen: Mask) -> Focus:
    """Return what of the answer the chosen can move: a tuple with a clause of others stays whole."""
    tuples = evaluation.tuples
    if len(tuples.levels) > 2:
        return touching(tuples, chosen, evaluation.prices)
    mine = chosen[tuples.members]
    touched = _any(mine, tuples.clauses)
    if _conjunctive(tuples):
        return _projected(evaluation, chosen, mine, touched)
    movable = np.logical_and.reduceat(touched, tuples.levels[0][:-1])[evaluation.owners[0]]
    return _projected(evaluation, chosen, mine & movable[evaluation.owners[1]], movable)


def _conjunctive(tuples: Tuples) -> bool:
    """Return whether every tuple is one clause."""
    return len(tuples.levels) == 2 and len(tuples) == len(tuples.clauses) - 1


def _any(leaves: Mask, clauses: Integers) -> Mask:
    """Return in which clauses a leaf is marked."""
    return segment_sums(leaves.astype(np.int32), clauses) > 0


def _projected(evaluation: Evaluation, chosen: Mask, inside: Mask, kept: Mask) -> Focus:
    """Return the kept clauses of a two-level relation with the leaves inside, which are the chosen's."""
    tuples, (of_clause, of_leaf) = evaluation.tuples, evaluation.owners
    number = np.cumsum(kept, dtype=np.int64)  # of a clause among the kept
    number -= 1
    leaves = np.flatnonzero(inside)
    left = np.flatnonzero(~inside & kept[of_leaf])
    there = of_clause[kept]
    per_tuple = np.bincount(there, minlength=len(tuples))
    weights = tuples.weights[per_tuple > 0]
    small = Tuples(
        weights,
        (_pointers(per_tuple[per_tuple > 0]), _pointers(np.bincount(number[of_leaf[leaves]]))),
        (np.cumsum(chosen) - 1)[tuples.members[leaves]],
    )
    clauses = number[of_leaf[left]]
    outside = Leaves(tuples.members[left], clauses, tuples.weights_down()[there[clauses]])
    rest = tuples.total() - exact_sum(weights)
    people = np.flatnonzero(chosen)
    return _merged(Focus(small, people, rest, outside, evaluation.prices.of(people)), outside)


def _merged(found: Focus, outside: Leaves) -> Focus:
    """Return conjunctions with equal ones made one, their weights added, where that is cheap to find."""
    tuples, base = found.tuples, len(found.people) + 1
    if not _conjunctive(tuples) or len(tuples) == 0 or tuples.total() >= 2**62:
        return found
    lengths = np.diff(tuples.clauses)
    longest = int(lengths.max())
    if longest * math.log2(base) >= 62:
        return found
    starts = tuples.clauses[:-1]
    keys = tuples.members[starts] + 1
    for place in range(1, longest):
        longer = np.flatnonzero(lengths > place)
        keys[longer] = keys[longer] * base + tuples.members[starts[longer] + place] + 1
    first, number = _distinct(keys, base**longest)
    pointers, leaves = _children(tuples.clauses, first)
    weights = np.zeros(len(first), np.int64)
    np.add.at(weights, number, tuples.weights.astype(np.int64))
    small = Tuples(weights, (np.arange(len(first) + 1), pointers), tuples.members[leaves])
    left = Leaves(outside.people, number[outside.clauses], outside.weights)
    return Focus(small, found.people, found.rest, left, found.prices)


def _distinct(keys: Integers, limit: int) -> tuple[Integers, Integers]:
    """Return where each distinct key occurs, and which of them every key is: by a table where it is small."""
    if limit <= len(keys):
        where = np.full(limit, -1)
        where[keys] = np.arange(len(keys))
        seen = where >= 0
        return where[seen], (np.cumsum(seen) - 1)[keys]
    _, first, number = np.unique(keys, return_index=True, return_inverse=True)
    return first, number


def touching(tuples: Tuples, chosen: Mask, prices: Prices | None = None) -> Focus:
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
    people, small = np.flatnonzero(seen), Tuples(weights, tuple(levels), (np.cumsum(seen) - 1)[members])
    return Focus(small, people, rest, NOBODY, (prices or Prices.alike(len(chosen))).of(people))


def _pointers(sizes: Integers) -> Integers:
    found = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=found[1:])
    return found


def _children(level: Integers, nodes: Integers) -> tuple[Integers, Integers]:
    """Return the pointers of some nodes, counted afresh, and their children in the old counting."""
    sizes = level[nodes + 1] - level[nodes]
    pointers = _pointers(sizes)
    return pointers, np.repeat(level[nodes] - pointers[:-1], sizes) + np.arange(pointers[-1])
