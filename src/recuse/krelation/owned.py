"""Rows with a value and one owner at most: who owns how much of a group, and how much of all of them.

Nothing is annotated: a row goes with its owner. What one participant has is scaled by what that participant
has in all groups, which depends on nobody else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.krelation.codes import integers
from recuse.krelation.contributions import totalled, weights_of
from recuse.krelation.encode import Derivations, owner_codes
from recuse.krelation.relation import Integers, frozen

NOBODY = -1


@dataclass(frozen=True, slots=True, eq=False)
class OwnedRows:
    """The rows of one group: their values, how many each stands for, and whose they are (`NOBODY`).

    `loads` has for every row how much its owner has in all groups, `touched` in how many groups: 0 for
    nobody's.
    """

    values: Integers
    weights: NDArray[Any]
    owners: Integers
    loads: NDArray[Any]
    touched: Integers

    def __post_init__(self) -> None:
        for array in (self.values, self.weights, self.owners, self.loads, self.touched):
            frozen(array)

    def public(self) -> tuple[Integers, NDArray[Any]]:
        """Return the values that nobody owns, and how often each occurs."""
        free = self.owners == NOBODY
        return self.values[free], self.weights[free]


def everybody(groups: Sequence[OwnedRows]) -> NDArray[Any]:
    """Return what each person who owns rows of some groups has in all groups."""
    owners = np.concatenate([group.owners for group in groups] or [np.empty(0, np.int64)])
    loads = np.concatenate([group.loads for group in groups] or [np.empty(0, np.int64)])
    _, first = np.unique(owners, return_index=True)
    found: NDArray[Any] = loads[first[owners[first] != NOBODY]]
    return found


def encode_owned(
    tables: Sequence[Derivations], groups: Sequence[Integers], count: int, *, value: str
) -> list[OwnedRows]:
    """Return the rows of `count` groups; a row of a group that is none of them is left out.

    Every table has one owner or none, and nothing below it: that follows from query and policy.
    """
    if any(found.below or len(found.owners) > 1 for found in tables):
        raise ValueError("a row has one owner")
    matrices, participants = owner_codes(list(tables))
    owners = np.concatenate(
        [
            matrix[:, 0] if found.owners else np.full(found.table.num_rows, NOBODY)
            for found, matrix in zip(tables, matrices, strict=True)
        ]
    )
    values = np.concatenate([integers(found.table[value]).astype(np.int64) for found in tables])
    weights = np.concatenate([weights_of(found) for found in tables])
    places = np.concatenate(groups)
    inside = (places >= 0) & (places < count)
    return owned_rows(values[inside], weights[inside], owners[inside], places[inside], participants, count)


def owned_rows(
    values: Integers, weights: NDArray[Any], owners: Integers, places: Integers, participants: int, count: int
) -> list[OwnedRows]:
    """Return the rows of every group, with what their owners have in all of them."""
    mine = owners != NOBODY
    loads, touched = np.zeros(len(values), weights.dtype), np.zeros(len(values), np.int64)
    loads[mine] = totalled(weights[mine], owners[mine], participants)[owners[mine]]
    pairs = np.unique(owners[mine] * count + places[mine])
    touched[mine] = np.bincount(pairs // max(count, 1), minlength=participants)[owners[mine]]
    order = np.argsort(places, kind="stable")
    ends = np.searchsorted(places[order], np.arange(count + 1))
    parts = (order[ends[group] : ends[group + 1]] for group in range(count))
    return [OwnedRows(*(a[part] for a in (values, weights, owners, loads, touched))) for part in parts]
