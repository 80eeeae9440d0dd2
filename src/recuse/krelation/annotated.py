"""Annotated tuples before they are a relation: the form that the shape asks for, groups and signs apart."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from recuse.krelation.forest import TRUE, Forest, OrGroups, RowGroups, joined, plant, pointers_of
from recuse.krelation.relation import (
    NO_TUPLES,
    SYNTACTIC,
    Integers,
    KRelation,
    Quorums,
    Shape,
    Tuples,
    exact_sum,
    narrowed,
)


@dataclass(frozen=True, slots=True, eq=False)
class Annotated:
    """Tuples with signed weights, their groups and their trees (or TRUE); FALSE ones are left out."""

    weights: NDArray[Any]
    groups: Integers
    trees: Integers
    forest: Forest

    @classmethod
    def of(
        cls,
        tables: Sequence[RowGroups],
        weights: Sequence[NDArray[Any]],
        groups: Sequence[Integers],
        shape: Shape,
        people: int,
    ) -> Self:
        """Return the tuples of tables whose rows are one tuple each."""
        grow = _trees if shape in SYNTACTIC else lambda rows: _clauses(rows, people)
        grown = [grow(rows) for rows in tables]
        depth = max(len(forest.levels) for _, forest in grown)
        offsets = np.cumsum([0, *(len(forest) for _, forest in grown)])
        trees = [np.where(t >= 0, t + offset, t) for (t, _), offset in zip(grown, offsets, strict=False)]
        forest = joined([forest.deepened(depth) for _, forest in grown])
        tree, weight, group = np.concatenate(trees), _concatenated(weights), np.concatenate(groups)
        there = np.flatnonzero((tree == TRUE) | (tree >= 0))
        return cls(weight[there], group[there], tree[there], forest)

    def relation(self, group: int, shape: Shape, names: Sequence[Hashable], *, signed: bool) -> KRelation:
        """Return the relation of one group, over the participants that occur in it."""
        return self.part(self.groups == group, shape, names, signed=signed)

    def part(
        self, mine: NDArray[np.bool_], shape: Shape, names: Sequence[Hashable], *, signed: bool
    ) -> KRelation:
        """Return the relation of some of the tuples, over the participants that occur in them.

        Where there is no OR, what is added and what is taken away for the same owners is one tuple.
        """
        constant = exact_sum(self.weights[mine & (self.trees == TRUE)])
        chosen = np.flatnonzero(mine & (self.trees >= 0))
        weights = self.weights[chosen]
        if shape is Shape.CONJUNCTIONS and (weights < 0).any():
            chosen, weights = _netted(self.forest, self.trees, chosen, weights)
        signs = [weights > 0, weights < 0]
        forests = [self.forest.take(self.trees[chosen[part]]) for part in signs]
        people = np.unique(np.concatenate([forest.members for forest in forests]))
        positive, negative = (
            Tuples(
                narrowed(abs(weights[part])),
                forest.levels,
                np.searchsorted(people, forest.members),
                _quorums(forest) if shape is Shape.THRESHOLDS else (),
            )
            if part.any()
            else NO_TUPLES
            for part, forest in zip(signs, forests, strict=True)
        )
        return KRelation(
            shape,
            positive,
            negative,
            constant=constant,
            signed=signed,
            names=Chosen(names, people),
            participants=len(people),
        )


def _netted(
    forest: Forest, trees: Integers, chosen: Integers, weights: NDArray[Any]
) -> tuple[Integers, NDArray[Any]]:
    """Return one conjunction of each owner set, with what all of them weigh together.

    Guarantee: natural: tuples with one owner set come and go together (proofs.md, theorem N5).
    """
    first, code = owner_sets(forest.take(trees[chosen]))
    totals = np.zeros(len(first), object)
    np.add.at(totals, code, weights.astype(object))
    kept = np.flatnonzero(totals != 0)
    return chosen[first[kept]], totals[kept]


def owner_sets(conjunctions: Forest) -> tuple[Integers, Integers]:
    """Return the first tree of every owner set that there is, and which of them each tree has."""
    sizes = np.diff(conjunctions.levels[-1])
    places = np.repeat(np.arange(len(sizes)), sizes)
    matrix = np.full((len(sizes), int(sizes.max(initial=0))), -1)
    matrix[places, np.arange(len(places)) - conjunctions.levels[-1][:-1][places]] = conjunctions.members
    _, first, code = np.unique(matrix, axis=0, return_index=True, return_inverse=True)
    return first, code.reshape(-1)


@dataclass(frozen=True, slots=True, eq=False)
class Chosen(Sequence[Hashable]):
    """Some of the names, looked up lazily."""

    names: Sequence[Hashable]
    indices: Integers

    def __len__(self) -> int:
        return len(self.indices)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return Chosen(self.names, self.indices[index])
        return self.names[int(self.indices[index])]

    def __iter__(self) -> Iterator[Hashable]:
        return (self.names[index] for index in self.indices.tolist())


def _concatenated(weights: Sequence[NDArray[Any]]) -> NDArray[Any]:
    if any(part.dtype == object for part in weights):
        return np.concatenate([part.astype(object) for part in weights])
    return np.concatenate(weights)


def _quorums(forest: Forest) -> tuple[Quorums, ...]:
    """Return what every OR level needs."""
    depths = range(0, len(forest.levels), 2)
    return tuple(forest.quorum(depth) or Quorums.of_ors(forest.levels[depth]) for depth in depths)


def _trees(rows: RowGroups) -> tuple[Integers, Forest]:
    """Return every row's tree: itself, as the only row of its group."""
    return plant(OrGroups(len(rows), ((rows, np.arange(len(rows))),)))


def _clauses(rows: RowGroups, people: int) -> tuple[Integers, Forest]:
    """Return every row's clause set: its owners with those of each row of the OR below, if there is one."""
    if not rows.below:
        tuples, matrix = np.arange(len(rows)), rows.owners
    else:
        ((groups, pointing),) = rows.below
        parts = [
            _expanded(rows.owners, pointing, inner, group, groups.count) for inner, group in groups.tables
        ]
        width = max(matrix.shape[1] for _, matrix in parts)
        tuples = np.concatenate([found for found, _ in parts])
        matrix = np.concatenate(
            [
                np.pad(matrix, ((0, 0), (0, width - matrix.shape[1])), constant_values=people)
                for _, matrix in parts
            ]
        )
    return _clause_sets(tuples, matrix, len(rows), people)


def _expanded(
    owners: Integers, pointing: Integers, inner: RowGroups, group: Integers, count: int
) -> tuple[Integers, Integers]:
    """Return one line for every row and every inner row of its group: whose it is, and all their owners."""
    order = np.argsort(group, kind="stable")
    spans = Forest((pointers_of(np.bincount(group, minlength=count)),), order)
    found = spans.take(pointing)
    outer = np.repeat(np.arange(len(owners)), np.diff(found.levels[0]))
    return outer, np.hstack((owners[outer], inner.owners[found.members]))


def _clause_sets(tuples: Integers, matrix: Integers, count: int, people: int) -> tuple[Integers, Forest]:
    """Return the clause set of every tuple: owners as sets, equal clauses once, TRUE where one is empty.

    `people`, a number that nobody has, fills up short clauses.
    """
    rows = np.sort(matrix, axis=1)
    if rows.shape[1] > 1:
        repeated = rows[:, 1:] == rows[:, :-1]
        rows[:, 1:][repeated] = people
        rows = np.sort(rows, axis=1)
    order = np.lexsort((*rows.T[::-1], tuples))
    rows, tuples = rows[order], tuples[order]
    fresh = np.ones(len(rows), bool)
    fresh[1:] = (tuples[1:] != tuples[:-1]) | (rows[1:] != rows[:-1]).any(axis=1)
    rows, tuples = rows[fresh], tuples[fresh]
    sizes = np.count_nonzero(rows < people, axis=1)
    true = np.zeros(count, bool)
    true[tuples[sizes == 0]] = True
    kept = ~true[tuples]
    rows, tuples, sizes = rows[kept], tuples[kept], sizes[kept]
    per_tuple = np.bincount(tuples, minlength=count)
    state = np.where(true, TRUE, -1)
    state[per_tuple > 0] = np.arange(np.count_nonzero(per_tuple))
    levels = (pointers_of(per_tuple[per_tuple > 0]), pointers_of(sizes))
    return state, Forest(levels, rows[rows < people])
