"""The part of an aggregate that withdrawals can touch when only some participants may withdraw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from recuse.krelation.choices import Choices, total_choices
from recuse.krelation.relation import Floats, Integers

NOBODY = -1


def totals(into: Integers, weights: Floats, count: int) -> Floats:
    """Return the sums of the weights that go into each of `count` places; NOBODY is none of them."""
    sums = np.bincount(into + 1, weights=weights, minlength=count + 1)[1:]
    return np.asarray(sums, np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class ChoiceFocus:
    """An aggregate narrowed to the movable participants; the others never withdraw.

    Owners are positions in `people`, or NOBODY. A unit as its group sees it is a *petal*: its owners are
    those that the group does not have. A petal that nobody movable owns goes with its group and is merely
    counted, in `fixed`; `rest` is what the groups count that nobody movable touches.
    """

    people: Integers
    group_owners: Integers
    fixed: Integers
    petal_group: Integers
    petal_owners: Integers
    rest: int

    @classmethod
    def of(cls, choices: Choices, movable: NDArray[np.bool_]) -> Self:
        people = np.flatnonzero(movable)
        position = np.full(choices.participants, NOBODY)
        position[people] = np.arange(len(people))
        loosened = np.any(movable[choices.unit_owners], axis=1)
        group, unit = choices.places[loosened[choices.places[:, 1]]].T
        owners, heads = choices.unit_owners[unit], choices.group_owners[group]
        petals = np.where((owners[:, :, None] == heads[:, None, :]).any(axis=2), NOBODY, position[owners])
        loose = (petals >= 0).any(axis=1)
        sizes = choices.sizes()
        touched = np.any(movable[choices.group_owners], axis=1)
        touched[group] = True
        groups = np.flatnonzero(touched)
        within = np.searchsorted(groups, group[loose])
        fixed = sizes[groups] - np.bincount(within, minlength=len(groups))
        rest = total_choices(sizes[~touched], choices.k)
        return cls(people, position[choices.group_owners[groups]], fixed, within, petals[loose], rest)

    @property
    def sizes(self) -> Integers:
        """How many units each group has."""
        return self.fixed + np.bincount(self.petal_group, minlength=len(self.fixed))
