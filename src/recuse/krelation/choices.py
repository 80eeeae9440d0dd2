"""Choices: how many ways there are to choose k units of one group, Σ over groups of C(size, k), never listed.

A unit is there while all its owners are, and a group's owners own its units too. Stars and books of a graph
are such counts (`graphs.choices`); the query holds as many rows as there are units, whatever k.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from math import comb
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from recuse.krelation.relation import Growth, Integers, frozen


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """The number of ways to choose k units of one group, k ≥ 2.

    `places` has a row (group, unit) for each unit of each group, in order; the owners are one row a unit
    and one row a group. Nobody but its owners can take a unit away.
    """

    k: int
    unit_owners: Integers = field(repr=False)
    group_owners: Integers = field(repr=False)
    places: Integers = field(repr=False)
    participants: int
    names: Sequence[Hashable] = field(default=(), repr=False)

    signed: ClassVar[bool] = False
    constant: ClassVar[int] = 0

    def __post_init__(self) -> None:
        if self.k < 2:
            raise ValueError("a choice of one is a plain count")
        for array in (self.unit_owners, self.group_owners, self.places):
            frozen(array)

    @property
    def shape(self) -> Growth:
        """How its loads grow: a group's owner is in C(m, k) of its choices.

        Where groups have no owners (edges of stars) participants are many, and fine levels affordable.
        """
        return Growth(max(1, self.k // 2) if self.group_owners.shape[1] else 1)

    def sizes(self) -> Integers:
        """Return how many units each group has."""
        return np.bincount(self.places[:, 0], minlength=len(self.group_owners))

    def without(self, leavers: NDArray[np.bool_]) -> Choices:
        """Return what is left when some participants leave: their units are gone."""
        gone = np.any(leavers[self.unit_owners], axis=1)
        return replace(self, places=self.places[~gone[self.places[:, 1]]])

    def true_answer(self) -> int:
        """Return the answer without noise. Never release it; tests and demonstrations only."""
        return total_choices(self.sizes(), self.k)


def total_choices(sizes: Integers, k: int) -> int:
    """Return Σ C(size, k), exactly.

    >>> total_choices(np.array([3, 4, 0]), 2)
    9
    """
    values, counts = np.unique(sizes, return_counts=True)
    return sum(comb(m, k) * times for m, times in zip(values.tolist(), counts.tolist(), strict=True))
