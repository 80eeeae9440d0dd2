"""Placed rows: tuples that have a value each, so that those on either side of a number can be taken."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.krelation.annotated import Annotated, owner_sets
from recuse.krelation.codes import integers
from recuse.krelation.encode import Derivations, annotate
from recuse.krelation.forest import TRUE
from recuse.krelation.relation import Integers, KRelation, Shape


@dataclass(frozen=True, slots=True, eq=False)
class PlacedRows:
    """The tuples of one group: how many rows each stands for, the value of each, and their annotations."""

    tuples: Annotated
    values: Integers
    shape: Shape
    names: Sequence[Hashable]

    def part(self, some: NDArray[np.bool_]) -> KRelation:
        """Return the relation of some of the rows."""
        return self.tuples.part(some, self.shape, self.names, signed=False)

    def owners(self) -> Integers:
        """Return a number for every row, the same of the same owners; -1 if nobody owns it.

        It is for conjunctions.
        """
        owned = np.flatnonzero(self.tuples.trees >= 0)
        found = np.full(len(self.values), -1)
        _, found[owned] = owner_sets(self.tuples.forest.take(self.tuples.trees[owned]))
        return found

    def alike(self, weight: int) -> PlacedRows:
        """Return the same rows, each of which weighs the same."""
        weights = np.full(len(self.values), weight, np.int64)
        return replace(self, tuples=replace(self.tuples, weights=weights))

    def public(self) -> tuple[Integers, NDArray[Any]]:
        """Return the values that nobody owns, and how often each occurs."""
        free = self.tuples.trees == TRUE
        return self.values[free], self.tuples.weights[free]


def encode_placed(
    tables: Sequence[Derivations], groups: Sequence[Integers], count: int, *, shape: Shape, value: str
) -> list[PlacedRows]:
    """Return the placed rows of `count` groups; every table has a column of values besides its weights.

    Guarantee: a group's rows, in canonical order, are a function of its own rows (proofs.md, lemma P).
    """
    sizes = [len(group) for group in groups]
    ends = np.cumsum([0, *sizes])
    numbers = [np.arange(start, start + size) for start, size in zip(ends, sizes, strict=False)]
    # rows are told apart by their number while they are annotated: their group and value are looked up after
    tuples, names = annotate(tables, numbers, shape=shape)
    values = np.concatenate([integers(found.table[value]).astype(np.int64) for found in tables])
    places = np.concatenate(groups)
    mine, placed = places[tuples.groups], values[tuples.groups]
    return [
        PlacedRows(_chosen(tuples, np.flatnonzero(mine == group)), placed[mine == group], shape, names)
        for group in range(count)
    ]


def _chosen(tuples: Annotated, chosen: Integers) -> Annotated:
    return Annotated(tuples.weights[chosen], tuples.groups[chosen], tuples.trees[chosen], tuples.forest)
