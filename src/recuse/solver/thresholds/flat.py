"""Flat thresholds: tuples that are ORs of thresholds over clauses, with every clause of a tuple named once.

The loss of an OR of thresholds is the largest w that all of them allow (proofs.md, theorem Q1 a), and what a
child adds to each is its weight times e = (w - its loss)⁺, whichever threshold asks. So the levels of a sum
share one w a tuple and one e a clause:

    min Σ q z + τ|g|     e + z + (its members' g) ≥ 1     Σ u e ≤ (least - 1)(1 - z)     z, e, g in [0, 1]

Counts, distinct counts and sums over rows with known owners are flat; a threshold inside an AND is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from recuse.deferred import sparse
from recuse.krelation.evaluate import owners_of
from recuse.krelation.relation import Floats, Integers, Quorums, Tuples
from recuse.solver.cuts.tangents import incidence
from recuse.solver.lp.extended import light_weights, power_of_two_near
from recuse.solver.lp.program import LinearProgram, Matrix

EXACT = 2.0**52
"""Up to here sums of weights are exact in doubles, with a bit to spare."""


@dataclass(frozen=True, slots=True, eq=False)
class Flat:
    """Thresholds over clauses: which tuple each belongs to, what they need, what the clauses count for."""

    weights: Floats
    """of the tuples, in the unit of the price"""
    price: float
    """of a withdrawal"""
    clauses: Matrix
    """children × participants"""
    child_tuple: Integers
    node_tuple: Integers
    least: Floats
    counts: Matrix
    """nodes × children: what each weighs there"""

    @classmethod
    def of(cls, tuples: Tuples, participants: int, tau: float) -> Self | None:
        """Return the thresholds of tuples in a unit near τ; nothing if they are not flat."""
        depth = _node_depth(tuples)
        if depth is None:
            return None
        level, quorums = tuples.levels[depth], tuples.quorums[depth // 2]
        node = np.arange(len(tuples))
        for above in tuples.levels[:depth]:
            node = node[owners_of(above)]
        of_node = owners_of(level)
        child = _same(node[of_node], tuples)
        count = int(child.max(initial=-1)) + 1
        first = np.zeros(count, np.int64)
        first[child[::-1]] = np.arange(len(child))[::-1]
        counts = sparse.csr_array(
            (quorums.weights.astype(np.float64), (of_node, child)), shape=(len(node), count)
        )
        counts.sum_duplicates()
        return cls(
            light_weights(tuples, tau, tau),
            tau / power_of_two_near(tau),
            incidence(tuples.clauses, tuples.members, participants)[first],
            node[of_node][first],
            node,
            quorums.least.astype(np.float64),
            counts,
        )

    def node_scale(self) -> Floats:
        """Return the powers of two by which the rows of nodes are made small; nothing is rounded by them."""
        scale: Floats = 2.0 ** -np.floor(np.log2(np.maximum(1.0, self.least)))
        return scale

    def scaled_counts(self) -> Matrix:
        """Return what children count for, in the scale of their nodes."""
        return (sparse.diags_array(self.node_scale()) @ self.counts).tocsr()

    def program(self) -> LinearProgram:
        """Return X(τ) as a linear program over g, z and e.

        Guarantee: for every g it has a point of cost F(g) + τ|g| at most (proofs.md, theorem Q1 a).
        """
        people, tuples, children = self.clauses.shape[1], len(self.weights), len(self.child_tuple)
        nodes = np.arange(len(self.least))
        needed = self.node_scale() * (self.least - 1)
        kept = incidence(np.arange(children + 1), self.child_tuple, tuples)
        spare = sparse.csr_array((-needed, (nodes, self.node_tuple)), shape=(len(nodes), tuples))
        rows = sparse.block_array(
            [[self.clauses, kept, sparse.eye_array(children)], [None, spare, -self.scaled_counts()]],
            format="csr",
        )
        size = people + tuples + children
        return LinearProgram(
            cost=np.concatenate((np.full(people, self.price), self.weights, np.zeros(children))),
            rows=rows,
            right=np.concatenate((np.ones(children), -needed)),
            lower=np.zeros(size),
            upper=np.ones(size),
        )


def _node_depth(tuples: Tuples) -> int | None:
    """Return the level of the thresholds, if above it are plain ORs and below it nothing but clauses."""
    levels, quorums = tuples.levels, tuples.quorums
    if len(tuples) == 0 or not quorums:
        return None
    ors = range(len(levels) - 2, -1, -2)
    depth = next((d for d in ors if not (_single(levels[d]) and (quorums[d // 2].least == 1).all())), 0)
    plain = all(_plain(quorums[d // 2]) for d in range(0, depth, 2))
    single = all(_single(level) for d, level in enumerate(levels[:-1]) if d % 2)
    exact = float(quorums[depth // 2].totals(levels[depth]).max()) < EXACT
    return depth if plain and single and exact else None


def _single(level: Integers) -> bool:
    """Return whether every node has one child."""
    return len(level) - 1 == int(level[-1])


def _plain(quorums: Quorums) -> bool:
    return bool((quorums.least == 1).all())


def _same(owner: Integers, tuples: Tuples) -> Integers:
    """Return a number for every clause, the same for equal clauses of one tuple."""
    sizes = np.diff(tuples.clauses)
    found, next_free = np.empty(len(sizes), np.int64), 0
    for size in np.unique(sizes):
        mine = np.flatnonzero(sizes == size)
        members = tuples.members[tuples.clauses[mine][:, None] + np.arange(size)]
        keys: NDArray[np.int64] = np.column_stack((owner[mine], np.sort(members, axis=1)))
        order = np.lexsort(keys.T[::-1])
        new = np.ones(len(mine), np.int64)
        new[1:] = (keys[order][1:] != keys[order][:-1]).any(axis=1)
        found[mine[order]] = next_free + np.cumsum(new) - 1
        next_free += int(new.sum())
    return found
