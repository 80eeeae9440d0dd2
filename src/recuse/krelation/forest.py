"""Forests of annotations as arrays: ORs of ANDs of ORs … of participants, without Python loops over rows.

A forest stores its trees in the levels of `Tuples`, OR first and AND last. Constants are folded while it is
built: x∧T → x, x∧F → F, x∨F → x, x∨T → T. Nothing else is simplified, so that withdrawing a participant
from the rows and from the forest gives the same trees (proofs.md, theorem A, syntactic form).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from recuse.krelation.relation import Integers

FALSE, TRUE = -1, -2


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """Trees of one depth: pointers from level to level, the last into `members`."""

    levels: tuple[Integers, ...]
    members: Integers

    def __len__(self) -> int:
        return len(self.levels[0]) - 1

    def take(self, chosen: Integers) -> Self:
        """Return the chosen trees, in that order."""
        levels = []
        for level in self.levels:
            starts, sizes = level[chosen], level[chosen + 1] - level[chosen]
            pointers = pointers_of(sizes)
            chosen = np.arange(pointers[-1]) + np.repeat(starts - pointers[:-1], sizes)
            levels.append(pointers)
        return type(self)(tuple(levels), self.members[chosen])

    def deepened(self, depth: int) -> Self:
        """Return the same trees with that many levels: nodes with one child on top."""
        single = np.arange(len(self) + 1)
        return type(self)((single,) * (depth - len(self.levels)) + self.levels, self.members)


@dataclass(frozen=True, slots=True, eq=False)
class RowGroups:
    """ANDs: a row holds if all its owners and one group of each OR below it do."""

    owners: Integers
    below: tuple[tuple[OrGroups, Integers], ...] = ()

    def __len__(self) -> int:
        return len(self.owners)


@dataclass(frozen=True, slots=True, eq=False)
class OrGroups:
    """ORs: a group holds if any of its rows does; every table of rows says which group each is in."""

    count: int
    tables: tuple[tuple[RowGroups, Integers], ...]


def pointers_of(sizes: Integers) -> Integers:
    """Return where segments of these sizes begin, and where the last ends."""
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)


def joined(forests: Sequence[Forest]) -> Forest:
    """Return the trees of all forests, one after the other; they have one depth."""
    levels = []
    for parts in zip(*(forest.levels for forest in forests), strict=True):
        levels.append(pointers_of(np.concatenate([np.diff(part) for part in parts])))
    return Forest(tuple(levels), np.concatenate([forest.members for forest in forests]))


def plant(groups: OrGroups) -> tuple[Integers, Forest]:
    """Return for every group its tree in the forest, or TRUE or FALSE, and the forest."""
    below = [[plant(inner) for inner, _ in rows.below] for rows, _ in groups.tables]
    inner_depth = max((len(forest.levels) for table in below for _, forest in table), default=0)
    state = np.full(groups.count, FALSE)
    forests, groups_of_rows = [], []
    live = []
    for (rows, group), planted in zip(groups.tables, below, strict=True):
        states = [found[which] for (_, which), (found, _) in zip(rows.below, planted, strict=True)]
        false = np.zeros(len(rows), bool)
        true = np.full(len(rows), rows.owners.shape[1] == 0)
        for found in states:
            false |= found == FALSE
            true &= found == TRUE
        state[group[true & ~false]] = TRUE
        live.append((~false & ~true, states))
    for (rows, group), planted, (alive, states) in zip(groups.tables, below, live, strict=True):
        chosen = np.flatnonzero(alive & (state[group] != TRUE))
        parts = [(forest, found[chosen]) for found, (_, forest) in zip(states, planted, strict=True)]
        forests.append(_ands(rows.owners[chosen], parts, inner_depth))
        groups_of_rows.append(group[chosen])
    ands = joined(forests)
    group = np.concatenate(groups_of_rows)
    order = np.argsort(group, kind="stable")
    sizes = np.bincount(group, minlength=groups.count)
    state[sizes > 0] = np.arange(np.count_nonzero(sizes))
    sorted_ands = ands.take(order)
    return state, Forest((pointers_of(sizes[sizes > 0]), *sorted_ands.levels), sorted_ands.members)


def _ands(owners: Integers, parts: Sequence[tuple[Forest, Integers]], depth: int) -> Forest:
    """Return one AND a row, over its owners and the trees below it; TRUE trees are left out.

    The forest returned begins with the AND level. Below an AND that has ORs below it, the owners stand
    together as an OR of one AND.
    """
    count, width = owners.shape
    if depth == 0:
        return Forest((np.arange(count + 1) * width,), owners.reshape(-1))
    forests, rows = [], []
    if width:
        leaves = Forest((np.arange(count + 1), np.arange(count + 1) * width), owners.reshape(-1))
        forests.append(leaves.deepened(depth))
        rows.append(np.arange(count))
    for forest, tree in parts:
        there = np.flatnonzero(tree != TRUE)
        forests.append(forest.take(tree[there]).deepened(depth))
        rows.append(there)
    if not forests:
        empty = np.zeros(1, np.int64)
        return Forest((np.zeros(count + 1, np.int64),) + (empty,) * depth, np.empty(0, np.int64))
    ors = joined(forests)
    row = np.concatenate(rows)
    ordered = ors.take(np.argsort(row, kind="stable"))
    return Forest((pointers_of(np.bincount(row, minlength=count)), *ordered.levels), ordered.members)
