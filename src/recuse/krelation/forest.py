"""Forests of annotations as arrays: ORs of ANDs of ORs … of participants, without Python loops over rows.

A forest stores its trees in the levels of `Tuples`, OR first and AND last. Constants are folded while it is
built: x∧T → x, x∧F → F, x∨F → x, x∨T → T. Nothing else is simplified, so that withdrawing a participant
from the rows and from the forest gives the same trees (proofs.md, theorem A, syntactic form).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from recuse.annotation import threshold_levels
from recuse.krelation.relation import Integers, Quorums

FALSE, TRUE = -1, -2


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """Trees of one depth: pointers from level to level, the last into `members`."""

    levels: tuple[Integers, ...]
    members: Integers
    quorums: tuple[Quorums | None, ...] = ()
    """of every level, None where its nodes are ANDs or plain ORs; nothing: no level has any"""

    def __len__(self) -> int:
        return len(self.levels[0]) - 1

    def quorum(self, depth: int) -> Quorums | None:
        """Return the thresholds of a level, if it has any."""
        return self.quorums[depth] if self.quorums else None

    def take(self, chosen: Integers) -> Self:
        """Return the chosen trees, in that order."""
        levels: list[Integers] = []
        quorums: list[Quorums | None] = []
        for depth, level in enumerate(self.levels):
            starts, sizes = level[chosen], level[chosen + 1] - level[chosen]
            pointers = pointers_of(sizes)
            below = np.arange(pointers[-1]) + np.repeat(starts - pointers[:-1], sizes)
            quorum = self.quorum(depth)
            quorums.append(quorum and Quorums(quorum.least[chosen], quorum.weights[below]))
            levels.append(pointers)
            chosen = below
        return type(self)(tuple(levels), self.members[chosen], tuple(quorums) if self.quorums else ())

    def deepened(self, depth: int) -> Self:
        """Return the same trees with that many levels: nodes with one child on top."""
        single, more = np.arange(len(self) + 1), depth - len(self.levels)
        quorums = (None,) * more + self.quorums if self.quorums else ()
        return type(self)((single,) * more + self.levels, self.members, quorums)

    def below(self, *levels: Integers, quorum: Quorums | None = None) -> Self:
        """Return these trees below more levels, the last of which has the quorum."""
        quorums: tuple[Quorums | None, ...] = ()
        if quorum is not None or self.quorums:
            here = self.quorums or (None,) * len(self.levels)
            quorums = (None,) * (len(levels) - 1) + (quorum, *here)
        return type(self)((*levels, *self.levels), self.members, quorums)


@dataclass(frozen=True, slots=True, eq=False)
class RowGroups:
    """ANDs: a row holds if all its owners and one group of each OR below it do."""

    owners: Integers
    below: tuple[tuple[OrGroups, Integers], ...] = ()
    values: NDArray[Any] | None = None
    """what each row counts for in a threshold above; nothing: 1"""

    def __len__(self) -> int:
        return len(self.owners)

    def withdrawals(self) -> NDArray[Any]:
        """Return for every row how many withdrawals surely take it: of an owner, or of all that an OR has.

        Rows that nobody owns count as one. Whole numbers as floats, which do not wrap around.
        """
        if self.owners.shape[1] or not self.below:
            return np.ones(len(self))
        taken: NDArray[Any] = np.min([inner.withdrawals()[group] for inner, group in self.below], axis=0)
        return taken


@dataclass(frozen=True, slots=True, eq=False)
class OrGroups:
    """ORs: a group holds if any of its rows does; every table of rows says which group each is in.

    With `least` above 1 a group holds if the values of those of its rows that do add up to so much.
    """

    count: int
    tables: tuple[tuple[RowGroups, Integers], ...]
    least: int = 1

    def withdrawals(self) -> NDArray[Any]:
        """Return for every group how many withdrawals surely take all its rows."""
        parts = [np.bincount(group, rows.withdrawals(), self.count) for rows, group in self.tables]
        taken: NDArray[Any] = np.sum(parts, axis=0)
        return taken


def pointers_of(sizes: Integers) -> Integers:
    """Return where segments of these sizes begin, and where the last ends."""
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)


def joined(forests: Sequence[Forest]) -> Forest:
    """Return the trees of all forests, one after the other; they have one depth."""
    levels = []
    for parts in zip(*(forest.levels for forest in forests), strict=True):
        levels.append(pointers_of(np.concatenate([np.diff(part) for part in parts])))
    quorums: tuple[Quorums | None, ...] = ()
    if any(forest.quorums for forest in forests):
        quorums = tuple(_joined_quorums(forests, depth) for depth in range(len(levels)))
    return Forest(tuple(levels), np.concatenate([forest.members for forest in forests]), quorums)


def _joined_quorums(forests: Sequence[Forest], depth: int) -> Quorums | None:
    """Return the thresholds of one level of all forests; plain ORs are thresholds of 1."""
    if not any(forest.quorum(depth) for forest in forests):
        return None
    found = [forest.quorum(depth) or Quorums.of_ors(forest.levels[depth]) for forest in forests]
    return Quorums(np.concatenate([q.least for q in found]), np.concatenate([q.weights for q in found]))


def plant(groups: OrGroups) -> tuple[Integers, Forest]:
    """Return for every group its tree in the forest, or TRUE or FALSE, and the forest."""
    below = [[plant(inner) for inner, _ in rows.below] for rows, _ in groups.tables]
    inner_depth = max((len(forest.levels) for table in below for _, forest in table), default=0)
    planted = [
        _planted(rows, group, parts) for (rows, group), parts in zip(groups.tables, below, strict=True)
    ]
    known = _known_sums(planted, groups)
    sure = known >= groups.least
    found = [table.ands(~sure, inner_depth) for table in planted]
    ands, group = joined([forest for forest, _, _ in found]), np.concatenate([group for _, group, _ in found])
    order = np.argsort(group, kind="stable")
    if groups.least <= 1:  # all of nothing is there
        sizes = np.bincount(group, minlength=groups.count)
        state = np.where(sure, TRUE, FALSE)
        state[sizes > 0] = np.arange(np.count_nonzero(sizes))
        return state, ands.take(order).below(pointers_of(sizes[sizes > 0]))
    values = np.concatenate([values for _, _, values in found])[order]
    counted = any(rows.values is not None for rows, _ in groups.tables)
    tree, forest = _thresholds(ands.take(order), group[order], values, known, groups, counted=counted)
    return np.where(sure, TRUE, tree), forest


@dataclass(frozen=True, slots=True, eq=False)
class _Planted:
    """A table whose ORs below are planted: which rows are TRUE, which are neither that nor FALSE."""

    rows: RowGroups
    group: Integers
    parts: Sequence[tuple[Forest, Integers]]
    true: NDArray[np.bool_]
    alive: NDArray[np.bool_]

    @property
    def values(self) -> NDArray[Any]:
        """What each row counts for."""
        return np.ones(len(self.rows), np.int64) if self.rows.values is None else self.rows.values

    def ands(self, wanted: NDArray[np.bool_], depth: int) -> tuple[Forest, Integers, NDArray[Any]]:
        """Return the rows of wanted groups that are neither TRUE nor FALSE, their groups and values."""
        chosen = np.flatnonzero(self.alive & wanted[self.group])
        parts = [(forest, tree[chosen]) for forest, tree in self.parts]
        return _ands(self.rows.owners[chosen], parts, depth), self.group[chosen], self.values[chosen]


def _known_sums(planted: Sequence[_Planted], groups: OrGroups) -> Integers:
    """Return what the rows that nobody can withdraw count for in every group, cut at `least`."""
    found = [(table.group[table.true], table.values[table.true]) for table in planted]
    group, values = (np.concatenate([pair[place] for pair in found]) for place in (0, 1))
    known = _totals(group, np.minimum(values, groups.least), groups.count)
    cut: Integers = np.minimum(known, groups.least).astype(np.int64)
    return cut


def _totals(group: Integers, values: NDArray[Any], count: int) -> NDArray[Any]:
    """Return what the values of every group add up to, exactly."""
    fits = float(values.max(initial=0)) * len(values) < 2.0**62
    found = np.zeros(count, np.int64 if fits else object)
    np.add.at(found, group, values.astype(found.dtype))
    return found


def _thresholds(
    ands: Forest, group: Integers, values: NDArray[Any], known: Integers, groups: OrGroups, *, counted: bool
) -> tuple[Integers, Forest]:
    """Return the tree of every group that needs `least` of the values of its rows, and the forest.

    `ands` are the rows in the order of their groups. Rows that count for several make an OR of thresholds,
    coarse ones first (proofs.md, theorem Q2): of j = 1, 2, 4, …, `least`, each row ⌊j·value/least⌋.
    """
    least = groups.least
    cut = np.minimum(values, least).astype(np.int64 if least < 2**31 else object)
    parts, nodes = [], []
    for j in threshold_levels(least) if counted else [least]:
        weights = (cut * j // least).astype(np.int64)
        needed = j - (known.astype(object) * j // least).astype(np.int64)
        total = _totals(group, weights, groups.count)
        chosen = np.flatnonzero((weights > 0) & ((total >= needed) & (needed > 0))[group])
        here, sizes = np.unique(group[chosen], return_counts=True)
        quorum = Quorums(needed[here], weights[chosen])
        parts.append(ands.take(chosen).below(pointers_of(sizes), quorum=quorum))
        nodes.append(here)
    forest, node = joined(parts), np.concatenate(nodes)
    if counted:
        order = np.argsort(node, kind="stable")
        sizes = np.bincount(node, minlength=groups.count)
        node = np.flatnonzero(sizes)
        forest = forest.take(order).below(pointers_of(sizes[node]), np.arange(len(order) + 1))
    tree = np.full(groups.count, FALSE)
    tree[node] = np.arange(len(node))
    return tree, forest


def _planted(rows: RowGroups, group: Integers, below: Sequence[tuple[Integers, Forest]]) -> _Planted:
    states = [found[which] for (_, which), (found, _) in zip(rows.below, below, strict=True)]
    false = np.zeros(len(rows), bool)
    true = np.full(len(rows), rows.owners.shape[1] == 0)
    for found in states:
        false |= found == FALSE
        true &= found == TRUE
    parts = [(forest, found) for found, (_, forest) in zip(states, below, strict=True)]
    return _Planted(rows, group, parts, true & ~false, ~false & ~true)


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
    return ordered.below(pointers_of(np.bincount(row, minlength=count)))
