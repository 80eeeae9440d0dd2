"""Contributions: who brings how much to which group, where every row has one owner at most.

Nothing is annotated: a row goes with its owner. So the groups of a query are three arrays, however many they
are, and what one participant brings to all of them is a vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from recuse.krelation.build import from_owner_sets
from recuse.krelation.codes import integers
from recuse.krelation.encode import Derivations, owner_codes
from recuse.krelation.relation import Integers, KRelation, frozen

SAFE, EXACT_IN_DOUBLES = 2.0**62, 2.0**53
"""sums that stay below these are taken in 64 bits, and in doubles"""


@dataclass(frozen=True, slots=True, eq=False)
class Contributions:
    """What every participant brings to every group, none of it 0, and what nobody owns.

    `weights[i]` is what participant `owners[i]` brings to group `groups[i]`, of one sign for every pair.
    `loads` are the participants' ℓ1 norms. `constants` has a number for every group.
    """

    owners: Integers
    groups: Integers
    weights: NDArray[Any]
    loads: NDArray[Any]
    constants: NDArray[Any]
    signed: bool

    def __post_init__(self) -> None:
        for array in (self.owners, self.groups, self.weights, self.loads, self.constants):
            frozen(array)

    @classmethod
    def of(
        cls,
        owners: Integers,
        groups: Integers,
        weights: NDArray[Any],
        *,
        participants: int,
        constants: NDArray[Any],
        signed: bool,
    ) -> Self:
        """Return the contributions of rows of which several may have the same owner and group.

        Rows of one owner and group are summed first where the owner has rows below nothing: what is taken
        away makes a load smaller, not larger. Others' rows stay as they are, unsorted. So what stands for a
        participant follows from that participant's rows alone, and theorem E0 holds for either.
        """
        below = np.flatnonzero(weights < 0) if signed else weights[:0]
        if len(below):
            mixed = np.zeros(participants, bool)
            mixed[owners[below]] = True
            there = mixed[owners]
            summed = _summed(owners[there], groups[there], weights[there], len(constants))
            others = owners[~there], groups[~there], weights[~there]
            owners, groups, weights = (np.concatenate(pair) for pair in zip(others, summed, strict=True))
        sizes = abs(weights) if len(below) else weights
        return cls(owners, groups, weights, totalled(sizes, owners, participants), constants, signed)

    def true_answers(self) -> NDArray[Any]:
        """Return the answer of every group without noise. Never release it."""
        totals = totalled(self.weights, self.groups, len(self.constants))
        found: NDArray[Any] = totals.astype(object) + self.constants.astype(object)
        return found


def own_loads(loads: NDArray[Any]) -> KRelation:
    """Return the relation without groups in which everybody owns their load."""
    numbers = np.arange(len(loads)).reshape(-1, 1)
    return from_owner_sets(loads, numbers, names=range(len(loads)), signed=False)


def encode_contributions(
    tables: Sequence[Derivations],
    groups: Sequence[Integers],
    count: int,
    *,
    signed: bool,
    weight: str = "weight",
) -> Contributions:
    """Return the contributions to `count` groups; a row of a group that is none of them is left out.

    Every table has one owner or none, and nothing below it: that follows from query and policy.
    """
    if any(found.below or len(found.owners) > 1 for found in tables):
        raise ValueError("a contribution has one owner")
    matrices, participants = owner_codes(list(tables))
    constants = np.zeros(count, object)
    nobody = np.empty(0, np.int64)
    parts: list[tuple[Integers, Integers, NDArray[Any]]] = [(nobody, nobody, nobody)]
    for found, matrix, group in zip(tables, matrices, groups, strict=True):
        weights, inside = weights_of(found, weight), (group >= 0) & (group < count)
        if found.owners and inside.all():
            parts.append((matrix[:, 0], group, weights))
        elif found.owners:
            parts.append((matrix[inside, 0], group[inside], weights[inside]))
        else:
            np.add.at(constants, group[inside], weights[inside].astype(object))
    listed = [part for part in parts if len(part[0])] or parts[:1]
    joined = listed[0] if len(listed) == 1 else map(np.concatenate, zip(*listed, strict=True))
    owners, places, weights = joined
    return Contributions.of(
        owners, places, weights, participants=participants, constants=constants, signed=signed
    )


def weights_of(found: Derivations, name: str = "weight") -> NDArray[Any]:
    """Return what rows weigh: one each where no column says so, in no memory."""
    if name in found.table.column_names:
        return integers(found.table[name])
    return np.broadcast_to(np.int64(1), found.table.num_rows)


def totalled(weights: NDArray[Any], codes: Integers, size: int) -> NDArray[Any]:
    """Return for every code the exact sum of its weights, in 64 bits where it surely fits.

    Sums of whole numbers that stay below 2⁵³ are exact in doubles, and quicker.
    """
    if weights.strides == (0,) and len(weights):  # one number for all
        alike: NDArray[Any] = np.bincount(codes, minlength=size) * weights[0]
        return alike
    if _fits(weights, EXACT_IN_DOUBLES):
        return np.bincount(codes, weights, minlength=size).astype(np.int64)
    wide = not _fits(weights)
    found = np.zeros(size, object if wide else np.int64)
    np.add.at(found, codes, weights.astype(object) if wide else weights)
    return found


def _summed(
    owners: Integers, groups: Integers, weights: NDArray[Any], count: int
) -> tuple[Integers, Integers, NDArray[Any]]:
    """Return one row for every owner and group, without those that come to nothing."""
    pairs = owners * count + groups
    order = np.argsort(pairs, kind="stable")
    starts = np.flatnonzero(np.diff(pairs[order], prepend=-1))
    firsts, totals = order[starts], _segments(weights[order], starts)
    there = totals != 0
    return owners[firsts][there], groups[firsts][there], totals[there]


def _segments(weights: NDArray[Any], starts: Integers) -> NDArray[Any]:
    if len(starts) == len(weights):
        return weights
    summed: NDArray[Any] = np.add.reduceat(weights if _fits(weights) else weights.astype(object), starts)
    return summed


def _fits(weights: NDArray[Any], limit: float = SAFE) -> bool:
    if weights.dtype == object or len(weights) == 0:
        return weights.dtype != object
    largest = max(-int(weights.min()), int(weights.max()))
    return float(largest) * len(weights) < limit
