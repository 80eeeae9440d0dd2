"""Restriction: some may withdraw, the others are taken to stay, which makes a threshold need less.

A tuple with enough children among those who stay is settled: nobody who may withdraw can hurt it. What a
smaller program proves is lifted to the whole one, where a proof must hold for everybody.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from recuse.krelation.relation import Floats, Integers
from recuse.solver.cuts.restriction import Mask
from recuse.solver.thresholds.flat import Flat


@dataclass(frozen=True, slots=True, eq=False)
class Restriction:
    """A smaller `Flat`, and where its parts lie in the whole."""

    whole: Flat
    part: Flat
    people: Integers
    children: Integers
    nodes: Integers
    stays: Mask
    """children nobody of whom may withdraw"""
    settling: Integers
    """the threshold that settles each settled tuple"""
    shares: Floats
    """what each unit of weight counts for there"""

    @classmethod
    def of(cls, whole: Flat, chosen: Mask, asked: Mask) -> Self:
        """Return what the chosen can do, as the thresholds asked for see it."""
        stays = whole.clauses @ chosen.astype(np.float64) == 0
        there = whole.counts @ stays.astype(np.float64)
        spare = there - whole.least + 1
        settling = _largest(np.where(spare > 0, spare / whole.least, 0.0), whole.node_tuple)
        active = np.ones(len(whole.weights), bool)
        active[whole.node_tuple[settling]] = False
        number = np.cumsum(active) - 1
        people = np.flatnonzero(chosen)
        children = np.flatnonzero(~stays & active[whole.child_tuple])
        nodes = np.flatnonzero(asked & active[whole.node_tuple])
        part = Flat(
            whole.weights[active],
            whole.price,
            whole.clauses[children][:, people],
            number[whole.child_tuple[children]],
            number[whole.node_tuple[nodes]],
            whole.least[nodes] - there[nodes],
            whole.counts[nodes][:, children],
        )
        shares = whole.weights[whole.node_tuple[settling]] / spare[settling]
        return cls(whole, part, people, children, nodes, stays, settling, shares)

    def withdrawals(self, g: Floats) -> Floats:
        """Return everybody's withdrawals."""
        found = np.zeros(self.whole.clauses.shape[1])
        found[self.people] = np.clip(g, 0.0, 1.0)
        return found

    def multipliers(self, found: Floats) -> Floats:
        """Return multipliers of the whole program's rows from those of the part's.

        A child that stays is worth to its thresholds all that they ask of it.
        """
        whole, children = self.whole, len(self.children)
        asked = np.zeros(len(whole.least))
        asked[self.nodes] = found[children:] * self.part.node_scale()
        asked[self.settling] = self.shares
        worth = whole.counts.T @ asked
        worth[~self.stays] = 0.0
        worth[self.children] = np.minimum(found[:children], (whole.counts.T @ asked)[self.children])
        return np.concatenate((worth, asked / whole.node_scale()))


def _largest(values: Floats, owner: Integers) -> Integers:
    """Return the place of each owner's largest value, of those that have one above 0."""
    order = np.lexsort((values, owner))
    last = np.ones(len(order), bool)
    last[:-1] = owner[order][1:] != owner[order][:-1]
    best = order[last]
    return best[values[best] > 0]
