"""Colours: participants that no linear program over the relation can tell apart.

Colour refinement: a tuple's colour is that of its weight and of its members' colours, a participant's that
of its tuples' colours, again and again until nothing splits. Some optimum is constant on every class
(Grohe, Kersting, Mladenov, Selman, 2014), so a clique of a hundred edges is a handful of variables.
Colours are hashes; a collision would only make a worse suggestion, for certificates never use them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from recuse.deferred import sparse
from recuse.krelation.evaluate import Evaluation, owners_of
from recuse.krelation.relation import Floats, Integers, Tuples
from recuse.solver import limits
from recuse.solver.lp.program import Matrix


@dataclass(frozen=True, slots=True, eq=False)
class Classes:
    """The class of every participant, with their sizes and one representative each."""

    of_people: Integers
    sizes: Integers
    representatives: Integers

    @classmethod
    def of(cls, evaluation: Evaluation) -> Self:
        """Return the coarsest classes that refinement cannot split; one class pays one price."""
        tuples, participants, prices = evaluation.tuples, evaluation.participants, evaluation.prices
        everybody = np.arange(participants)
        alone = cls(everybody, np.ones(participants, np.int64), everybody)
        if len(np.unique(np.bincount(tuples.members))) > limits.MOSTLY_ALONE * participants:
            return alone
        colour, count = prices.kinds.astype(np.uint64) + np.uint64(1), len(np.unique(prices.kinds))
        spread = _Spread.of(tuples)
        while True:
            colour = mixed(colour * np.uint64(7) + spread.gathered(colour))
            _, first, inverse, sizes = np.unique(
                colour, return_index=True, return_inverse=True, return_counts=True
            )
            if len(sizes) > limits.MOSTLY_ALONE * participants:
                return alone
            if len(sizes) == count:
                return cls(inverse, sizes, first)
            count = len(sizes)

    def collapsed(self, rows: Matrix) -> Matrix:
        """Return rows over participants as rows over classes: columns of one class added."""
        count = len(self.of_people)
        if count == len(self.sizes):
            return rows
        shape = (count, len(self.sizes))
        return rows @ sparse.csr_array((np.ones(count), self.of_people, np.arange(count + 1)), shape=shape)

    def expanded(self, values: Floats) -> Floats:
        """Return one value per participant."""
        return values[self.of_people]


@dataclass(frozen=True, slots=True, eq=False)
class _Spread:
    """Carries colours up the annotations and down again."""

    tuples: Tuples
    owners: tuple[Integers, ...]
    weights: Hashes
    order: Integers
    starts: Integers

    @classmethod
    def of(cls, tuples: Tuples) -> Self:
        weights = (
            np.array([hash(int(q)) for q in tuples.weights], np.int64)
            if tuples.weights.dtype == object
            else tuples.weights
        )
        order = np.argsort(tuples.members, kind="stable")
        ascending = tuples.members[order]
        starts = np.flatnonzero(np.concatenate(([True], ascending[1:] != ascending[:-1])))
        return cls(
            tuples, tuple(map(owners_of, tuples.levels)), mixed(weights.astype(np.uint64)), order, starts
        )

    def gathered(self, colour: Hashes) -> Hashes:
        """Return, for every participant, a hash of where it stands in which tuples."""
        up = [mixed(colour[self.tuples.members])]
        for level in reversed(self.tuples.levels):
            up.append(mixed(np.add.reduceat(up[-1], level[:-1]) + np.uint64(len(up))))
        down = up.pop() ^ self.weights
        for owners in self.owners:
            down = mixed(down[owners] * np.uint64(3) + up.pop())
        found = np.zeros_like(colour)
        found[self.tuples.members[self.order[self.starts]]] = np.add.reduceat(down[self.order], self.starts)
        return found


Hashes = NDArray[np.uint64]


def mixed(value: Hashes) -> Hashes:
    """Return the finaliser of splitmix64: well-spread bits."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))
