"""F(g) of tuples with thresholds, and derivations that attain it, without Python loops.

A node of an OR level needs `least` of what its children weigh. Its loss is the least of
Σ_M u_i w_i / (Σ_M u_i - least + 1) over sets M of children, and 1 (proofs.md, theorem Q1); the best M are the
children of the smallest losses. A derivation picks one M a node, so it counts a leaf with the product of
u_i / (Σ_M u_i - least + 1) on the way down to it: fractions, where an OR has 1 and 0.

This is `annotation.loss` in doubles. What is proven of it is in `solver.thresholds.certificate`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from recuse.deferred import sparse
from recuse.krelation.evaluate import owners_of, segment_sums
from recuse.krelation.relation import Floats, Integers, Quorums, Tuples, nearest_doubles


@dataclass(frozen=True, slots=True, eq=False)
class ThresholdEvaluation:
    """The tuples with their index structure: losses, F and derivations at any g."""

    tuples: Tuples
    participants: int
    quorums: tuple[Quorums, ...]
    weights: Floats
    owners: tuple[Integers, ...]
    tuple_of_leaf: Integers

    @classmethod
    def of(cls, tuples: Tuples, participants: int) -> Self:
        owners = tuple(map(owners_of, tuples.levels))
        found = np.arange(len(tuples))
        for owner in owners:
            found = found[owner]
        quorums = tuples.quorums or tuple(Quorums.of_ors(level) for level in tuples.levels[::2])
        return cls(tuples, participants, quorums, nearest_doubles(tuples.weights), owners, found)

    def losses(self, g: Floats) -> list[Floats]:
        """Return the losses of the nodes of every level, tuples first, leaves last."""
        found = [g[self.tuples.members]]
        for depth in range(len(self.tuples.levels) - 1, -1, -1):
            level = self.tuples.levels[depth]
            if depth % 2:
                found.append(np.minimum(1.0, segment_sums(found[-1], level)))
            else:
                found.append(self._chosen(depth, found[-1])[0])
        return found[::-1]

    def objective(self, g: Floats) -> float:
        """Return F(g) = Σ q_t z_t(g), about."""
        return float(self.weights @ (1 - self.losses(g)[0]))

    def derivations(self, losses: Sequence[Floats]) -> sparse.csr_array:
        """Return the derivation of every tuple that attains these losses, about: tuples × participants.

        Whatever the losses are, what it counts is that of a derivation but for rounding.
        """
        return self._down([self._chosen(depth, losses[depth + 1])[1] for depth in self._ors()])

    def threshold_losses(self, depth: int, below: Floats) -> Floats:
        """Return the losses of the nodes of an OR level, about, given their children's."""
        return self._chosen(depth, below)[0]

    def even(self) -> sparse.csr_array:
        """Return a derivation of every tuple that all its children share in, the lighter the more.

        A mixture of derivations is as good as one. Children of an OR are mixed so that none is used more
        than another: in inverse proportion to the largest share of a leaf in it.
        """
        levels, peaks = self.tuples.levels, np.ones(len(self.tuples.members))
        shares: list[Floats] = []
        for depth in range(len(levels) - 1, -1, -1):
            level, owner = levels[depth], self.owners[depth]
            if depth % 2:
                peaks = np.maximum.reduceat(peaks, level[:-1]) if len(peaks) else peaks
                continue
            quorums = self.quorums[depth // 2]
            if len(level) == 1:
                shares.append(np.zeros(0))
                continue
            spare = (quorums.totals(level) - quorums.least + 1).astype(np.float64)
            inverse = 1 / peaks
            mixed = inverse / segment_sums(inverse, level)[owner]
            plain = (quorums.least == 1)[owner]
            shares.append(np.where(plain, mixed, quorums.weights / spare[owner]))
            peaks = np.maximum.reduceat(shares[-1] * peaks, level[:-1]) if len(peaks) else peaks
        return self._down(shares[::-1])

    def _ors(self) -> range:
        return range(0, len(self.tuples.levels), 2)

    def _down(self, shares: Sequence[Floats]) -> sparse.csr_array:
        """Return how often every participant counts in every tuple, given each child's share in its node."""
        counted = np.ones(len(self.tuples))
        for depth, owner in enumerate(self.owners):
            counted = counted[owner]
            if depth % 2 == 0:
                counted = counted * shares[depth // 2]
        used = np.flatnonzero(counted)
        places = (self.tuple_of_leaf[used], self.tuples.members[used])
        return sparse.csr_array((counted[used], places), shape=(len(self.tuples), self.participants))

    def _chosen(self, depth: int, below: Floats) -> tuple[Floats, Floats]:
        """Return the losses of an OR level's nodes, and the share of every child in its best set."""
        level, owner, quorums = self.tuples.levels[depth], self.owners[depth], self.quorums[depth // 2]
        if len(level) == 1:
            return np.zeros(0), np.zeros(0)
        order = np.lexsort((below, owner))
        counts, losses = quorums.exact_weights()[order], below[order]
        starts = level[:-1]
        spare = _running(counts, starts, owner) - quorums.least[owner] + 1
        lost = _running((counts * losses).astype(np.float64), starts, owner)
        enough = spare > 0
        divisor = np.where(enough, spare, 1).astype(np.float64)
        ratios = np.where(enough, np.maximum(0.0, lost) / divisor, np.inf)
        best = np.minimum.reduceat(ratios, starts)
        last = np.minimum.reduceat(np.where(ratios <= best[owner], np.arange(len(order)), len(order)), starts)
        within = np.arange(len(order)) <= last[owner]
        shares = np.empty(len(order))
        shares[order] = np.where(within, counts.astype(np.float64) / divisor[last][owner], 0.0)
        return np.minimum(1.0, best), shares


def _running(values: NDArray[Any], starts: Integers, owner: Integers) -> NDArray[Any]:
    """Return the sums of every segment up to and with each value."""
    total: NDArray[Any] = np.cumsum(values)
    found: NDArray[Any] = total - (total[starts] - values[starts])[owner]
    return found
