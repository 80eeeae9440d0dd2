"""Focus: the tuples that touch some participants, as a relation of their own.

A participant whose load is at most τ stays at most τ whoever withdraws, so that only the overloaded ones
and the tuples that touch them matter to N(τ), N_s(τ) and X(τ) (docs/proofs.md, withdrawal form).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recuse.krelation.relation import Floats, Integers, Tuples, exact_sum


@dataclass(frozen=True, slots=True, eq=False)
class Focus:
    """Some of the tuples; `people` says which participant a local index stands for."""

    tuples: Tuples
    people: Integers
    rest: int
    """the weight of the tuples left out, which nobody in focus can move"""

    def expand(self, g: Floats, participants: int) -> Floats:
        """Return a local withdrawal as one of all participants."""
        whole = np.zeros(participants)
        whole[self.people] = g
        return whole


def focus(tuples: Tuples, participants: int, chosen: NDArray[np.bool_]) -> Focus:
    """Return the tuples that touch a chosen participant."""
    spans = tuples.levels[0]
    for level in tuples.levels[1:]:
        spans = level[spans]
    kept = np.flatnonzero(np.logical_or.reduceat(chosen[tuples.members], spans[:-1]))
    levels, nodes = [], kept
    for level in tuples.levels:
        pointers, nodes = _children(level, nodes)
        levels.append(pointers)
    members = tuples.members[nodes]
    seen = np.zeros(participants, bool)
    seen[members] = True
    people = np.flatnonzero(seen)
    local = np.cumsum(seen) - 1
    weights = tuples.weights[kept]
    rest = tuples.total() - exact_sum(weights) if len(kept) < len(tuples) else 0
    return Focus(Tuples(weights, tuple(levels), local[members]), people, rest)


def narrow(tuples: Tuples, participants: int, chosen: NDArray[np.bool_]) -> Focus:
    """Return the tuples that withdrawals of the chosen alone can move, without the other members.

    Of trees nobody is dropped: they are only focused on.
    """
    if len(tuples.levels) > 2:
        return focus(tuples, participants, chosen)
    mine = chosen[tuples.members]
    sizes = np.add.reduceat(mine, tuples.clauses[:-1], dtype=np.int64)
    movable = np.logical_and.reduceat(sizes > 0, tuples.levels[0][:-1])  # a clause of others stays whole
    clauses, which = _children(tuples.levels[0], np.flatnonzero(movable))
    _, leaves = _children(tuples.clauses, which)
    members = tuples.members[leaves[mine[leaves]]]
    pointers = np.zeros(len(which) + 1, np.int64)
    np.cumsum(sizes[which], out=pointers[1:])
    people = np.flatnonzero(chosen)
    local = np.cumsum(chosen) - 1
    weights = tuples.weights[movable]
    rest = tuples.total() - exact_sum(weights) if len(weights) < len(tuples) else 0
    return Focus(Tuples(weights, (clauses, pointers), local[members]), people, rest)


def _children(level: Integers, nodes: Integers) -> tuple[Integers, Integers]:
    """Return the pointers of some nodes, counted afresh, and their children in the old counting."""
    sizes = level[nodes + 1] - level[nodes]
    pointers = np.zeros(len(nodes) + 1, np.int64)
    np.cumsum(sizes, out=pointers[1:])
    return pointers, np.repeat(level[nodes] - pointers[:-1], sizes) + np.arange(pointers[-1])
