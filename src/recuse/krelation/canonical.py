"""Tuples in the one order that follows from which they are: a solver's answer may depend on how they lie.

Nodes are ranked from the bottom up, by their size and then by the ranks of their children, which are sorted
first. So two relations that hold the same annotations and weights of the same participants are stored alike.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recuse.krelation.forest import pointers_of
from recuse.krelation.relation import Integers, Quorums, Tuples


def canonical(tuples: Tuples) -> Tuples:
    """Return the same tuples in their canonical order: of nodes, of children, and of members.

    Guarantee: a function of the tuples as a multiset and of the participants' numbers (proofs.md, lemma P).
    """
    if len(tuples) == 0:
        return tuples
    ranks = _ranks(tuples)
    _, weights = np.unique(tuples.weights, return_inverse=True)
    chosen = np.lexsort((weights, ranks[0]))
    kept = tuples.weights[chosen]
    levels: list[Integers] = []
    quorums: list[Quorums] = []
    for depth, level in enumerate(tuples.levels):
        sizes = np.diff(level)[chosen]
        pointers = pointers_of(sizes)
        places = np.repeat(np.arange(len(chosen)), sizes)
        below = np.arange(pointers[-1]) + (level[chosen] - pointers[:-1])[places]
        keys = [ranks[depth + 1][below], places]
        quorum = tuples.quorums[depth // 2] if tuples.quorums and depth % 2 == 0 else None
        if quorum is not None:
            keys.insert(0, quorum.weights[below])
        below = below if _sorted(keys[::-1]) else below[np.lexsort(keys)]
        if quorum is not None:
            quorums.append(Quorums(quorum.least[chosen], quorum.weights[below]))
        levels.append(pointers)
        chosen = below
    return Tuples(kept, tuple(levels), tuples.members[chosen], tuple(quorums))


def _ranks(tuples: Tuples) -> list[Integers]:
    """Return the ranks of the nodes of every level, tuples first and members last; equal nodes tie."""
    found = [tuples.members]
    for depth in range(len(tuples.levels) - 1, -1, -1):
        quorum = tuples.quorums[depth // 2] if tuples.quorums and depth % 2 == 0 else None
        children, least = found[-1], None
        if quorum is not None:
            children = _places([quorum.weights, children])
            least = quorum.least
        found.append(_segment_ranks(tuples.levels[depth], children, least))
    return found[::-1]


def _segment_ranks(level: Integers, children: Integers, least: Integers | None) -> Integers:
    """Return the rank of every segment: by its size, by what it needs, then by its sorted children."""
    sizes = np.diff(level)
    places = np.repeat(np.arange(len(sizes)), sizes)
    if not _sorted([places, children]):
        children = children[np.lexsort((children, places))]
    found = np.empty(len(sizes), np.int64)
    below = 0
    for size in np.unique(sizes):
        mine = np.flatnonzero(sizes == size)
        columns = [children[level[mine] + place] for place in range(size - 1, -1, -1)]
        found[mine] = below + _places(columns if least is None else [*columns, least[mine]])
        below += len(mine)
    return found


def _places(columns: Sequence[Integers]) -> Integers:
    """Return the place of every line among the different lines, the last column first in order."""
    order = np.arange(len(columns[0])) if _sorted(columns[::-1]) else np.lexsort(columns)
    fresh = np.zeros(len(order), bool)
    for column in columns:
        fresh[1:] |= column[order][1:] != column[order][:-1]
    found = np.empty(len(order), np.int64)
    found[order] = np.cumsum(fresh)
    return found


def _sorted(columns: Sequence[Integers]) -> bool:
    """Return whether lines do not fall, the first column first: then nothing need be sorted."""
    tied = np.ones(max(0, len(columns[0]) - 1), bool)
    for column in columns:
        before, after = column[:-1], column[1:]
        if (tied & (after < before)).any():
            return False
        tied &= after == before
    return True
