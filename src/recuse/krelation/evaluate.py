"""F(g) and the loads ℓ_p(g) of a relation's tuples at a withdrawal vector g, without Python loops.

`Evaluation` lays out the indices once per relation; each call is a handful of array operations. It
computes what `annotation.kept` and `annotation.usage` define. `kept` and `usages` also take an object
array of `Fraction`s for g, and then return exact ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from recuse.krelation.prices import Prices
from recuse.krelation.relation import Floats, Integers, Tuples, nearest_doubles


def owners_of(level: Integers) -> Integers:
    """Return for every child of a level the segment it lies in."""
    return np.repeat(np.arange(len(level) - 1), np.diff(level))


def segment_sums(values: NDArray[Any], level: Integers) -> NDArray[Any]:
    """Return the sum of each segment; no segment is empty."""
    count, size = len(level) - 1, len(values)
    if count == 0 or count == size:
        return values
    if size == (length := int(level[1])) * count and length <= 8 and (np.diff(level) == length).all():
        return reduce(np.add, (values[i::length] for i in range(length)))  # faster than reduceat
    summed: NDArray[Any] = np.add.reduceat(values, level[:-1])
    return summed


def _ascending(node: Integers, member: Integers) -> bool:
    return bool(((node[1:] != node[:-1]) | (member[1:] > member[:-1])).all())


@dataclass(frozen=True, slots=True, eq=False)
class Gathering:
    """One step of the bottom-up usage: entries (node, participant) combined in their parents."""

    order: Integers
    starts: Integers
    combine: np.ufunc

    def __call__(self, values: Floats) -> Floats:
        gathered: Floats = self.combine.reduceat(values[self.order], self.starts)
        return gathered


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """The tuples with their index structure: F, kept fractions and loads at any g."""

    tuples: Tuples
    owners: tuple[Integers, ...]
    steps: tuple[Gathering, ...]
    entry_tuple: Integers
    entry_member: Integers
    participants: int
    weights: Floats
    prices: Prices

    @classmethod
    def of(cls, tuples: Tuples, participants: int, prices: Prices | None = None) -> Self:
        """Lay out the (tuple, participant) entries: AND adds its children's usages, OR takes the largest."""
        if tuples.quorums:
            raise TypeError("thresholds have no loads: they are evaluated by `krelation.thresholds`")
        owners = tuple(map(owners_of, tuples.levels))
        node, member = np.arange(len(tuples.members)), tuples.members
        steps: list[Gathering] = []
        for depth in range(len(tuples.levels) - 1, -1, -1):
            level = tuples.levels[depth]
            if len(level) - 1 == level[-1]:  # one child each: nothing to combine
                continue
            node = owners[depth][node]
            if depth == len(tuples.levels) - 1 and _ascending(node, member):  # sets: nothing to combine
                continue
            order = np.lexsort((member, node))
            node, member = node[order], member[order]
            first = np.ones(len(node), bool)
            first[1:] = (node[1:] != node[:-1]) | (member[1:] != member[:-1])
            starts = np.flatnonzero(first)
            node, member = node[starts], member[starts]
            steps.append(Gathering(order, starts, np.maximum if depth % 2 == 0 else np.add))
        weights = nearest_doubles(tuples.weights)
        paid = prices or Prices.alike(participants)
        return cls(tuples, owners, tuple(steps), node, member, participants, weights, paid)

    def bounds(self, tau: float) -> Floats:
        """Return what each participant's withdrawal costs at τ, and may be loaded with."""
        return self.prices.bounds(tau)

    def losses(self, g: Floats) -> list[Floats]:
        """Return the losses of the nodes of every level, tuples first, leaves last."""
        levels = self.tuples.levels
        found = [g[self.tuples.members]]
        for depth in range(len(levels) - 1, -1, -1):
            level = levels[depth]
            if len(level) - 1 == level[-1]:
                found.append(found[-1])
            elif depth % 2:
                found.append(np.minimum(1, segment_sums(found[-1], level)))
            else:
                found.append(np.minimum.reduceat(found[-1], level[:-1]))
        return found[::-1]

    def kept(self, g: Floats) -> Floats:
        """Return z_t(g) of every tuple."""
        kept: Floats = 1 - self.losses(g)[0]
        return kept

    def objective(self, g: Floats) -> float:
        """Return F(g) = Σ q_t z_t(g)."""
        return float(self.weights @ self.kept(g))

    def clause_values(self, g: Floats) -> Floats:
        """Return (1 - Σ g - context)⁺ of every lowest AND: what val_o(g) is for all its leaves o."""
        levels = self.tuples.levels
        value: NDArray[Any] = 1 - segment_sums(g[self.tuples.members], levels[-1])
        if len(levels) > 2:
            value = value - self._contexts(self.losses(g))
        values: Floats = np.maximum(0, value)
        return values

    def _contexts(self, losses: list[Floats]) -> Floats:
        """Return what the siblings of the ANDs above have lost, for every lowest AND."""
        context: NDArray[Any] = np.zeros(len(self.tuples), losses[0].dtype)
        for depth, level in enumerate(self.tuples.levels[:-1]):
            context = context[self.owners[depth]]
            if depth % 2:
                below = losses[depth + 1]
                context = context + segment_sums(below, level)[self.owners[depth]] - below
        return context

    def leaf_values(self, g: Floats) -> Floats:
        """Return val_o(g) = (1 - g_p - context)⁺ of every leaf occurrence."""
        return self.clause_values(g)[self.owners[-1]]

    def usages(self, g: Floats) -> Floats:
        """Return u_{t,p}(g) for every entry (entry_tuple, entry_member)."""
        values = self.leaf_values(g)
        for step in self.steps:
            values = step(values) if len(values) else values
        return values

    def loads(self, g: Floats) -> Floats:
        """Return ℓ_p(g) = Σ_t q_t u_{t,p}(g) of every participant."""
        weighted = self.usages(g) * self.weights[self.entry_tuple]
        loads = np.bincount(self.entry_member, weights=weighted, minlength=self.participants)
        return np.asarray(loads, np.float64)
