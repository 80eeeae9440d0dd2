"""Arrow tables → K-relation: participants numbered by dictionary codes, without Python loops over rows."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np
import pyarrow

from recuse.krelation.annotated import Annotated, Chosen
from recuse.krelation.build import from_owner_sets, from_owners
from recuse.krelation.codes import (
    arrow_array,
    codes_of,
    in_order,
    integers,
    loosely_numbered,
    numbered,
    stacked,
)
from recuse.krelation.forest import OrGroups, RowGroups
from recuse.krelation.names import KindNames, OwnerNames
from recuse.krelation.relation import Integers, KRelation, Shape

Owners = Sequence[tuple[str, Sequence[str]]]
"""for every owner its kind and the columns that name it"""


@dataclass(frozen=True, slots=True, eq=False)
class Derivations:
    """A table whose rows are ANDs: of their owners, and of one group of each OR below.

    A row belongs to a group of the OR above it by its `key` columns; the columns of a `Below` say which group
    of it a row needs. Equal key values, NULL among them, are the same group. A row of which an owner is NULL
    is contributed by nobody: it is left out of `table`.
    """

    table: pyarrow.Table
    owners: Owners
    key: Sequence[str] = ()
    below: Sequence[BelowTables] = ()
    value: str | None = None
    """the column that says what a row counts for in a threshold above; without one 1"""

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", _contributed(self.table, self.owners))


@dataclass(frozen=True, slots=True, eq=False)
class BelowTables:
    """An OR: the tables of its rows, and the columns of the table above that point into it.

    With `least` above 1 it is a threshold: what the rows of a group that are there count for adds up to it.
    """

    tables: Sequence[Derivations]
    columns: Sequence[str]
    least: int = 1


def encode(
    table: pyarrow.Table, owners: Owners, *, shape: Shape, signed: bool, weight: str = "weight"
) -> KRelation:
    """Return the relation of a result table whose rows have owners and a weight in granules.

    Each kind of participant is a name space of its own: customer 1 and supplier 1 are two.
    """
    if shape is not Shape.CONJUNCTIONS:
        raise ValueError("a table of owner sets holds conjunctions")
    derivations = Derivations(table, owners)
    (matrix,), names = owner_numbers([derivations])
    weights = integers(derivations.table[weight])
    return from_owners(weights, matrix, names=names, participants=len(names), signed=signed)


def encode_merged(
    table: pyarrow.Table, owners: Owners, *, shape: Shape, signed: bool, weight: str = "weight"
) -> KRelation:
    """Return the same relation of a table in which no two rows of one sign have equal owner columns."""
    kinds = [kind for kind, _ in owners]
    if not kinds or len(set(kinds)) < len(kinds):  # two owners of one kind may be one, in either order
        return encode(table, owners, shape=shape, signed=signed, weight=weight)
    derivations = Derivations(table, owners)
    (matrix,), names = owner_numbers([derivations])
    return from_owner_sets(integers(derivations.table[weight]), matrix, names=names, signed=signed)


def encode_groups(
    tables: Sequence[Derivations],
    groups: Sequence[Integers],
    count: int,
    *,
    shape: Shape,
    signed: bool,
    weight: str = "weight",
) -> list[KRelation]:
    """Return the relations of `count` groups; `groups` says of every row of every table which it is in.

    Guarantee: a group's relation, its tuples in canonical order, is a function of the group's own rows
    (proofs.md, lemma P).
    """
    annotated, people = annotate(tables, groups, shape=shape, weight=weight)
    return [annotated.relation(group, shape, people, signed=signed) for group in range(count)]


def annotate(
    tables: Sequence[Derivations],
    groups: Sequence[Integers],
    *,
    shape: Shape,
    weight: str = "weight",
) -> tuple[Annotated, Sequence[Hashable]]:
    """Return the tuples of all groups, and everybody's names.

    Participants are numbered by their names, so that a group's tuples, in canonical order, are a function of
    its own rows (proofs.md, lemma P).
    """
    every = list(_all(tables))
    owners, names = owner_numbers(every)
    matrices = {id(found): matrix for found, matrix in zip(every, owners, strict=True)}
    rows = [_rows(found, matrices) for found in tables]
    weights = [integers(found.table[weight]) for found in tables]
    return Annotated.of(rows, weights, groups, shape, len(names)), names


def _contributed(table: pyarrow.Table, owners: Owners) -> pyarrow.Table:
    """Return the rows of which every owner is named."""
    unnamed = [table[name] for _, names in owners for name in names if table[name].null_count]
    if not unnamed:
        return table
    named = np.ones(table.num_rows, bool)
    for column in unnamed:
        named &= column.is_valid().to_numpy()
    return table.take(arrow_array(np.flatnonzero(named)))


def _all(tables: Sequence[Derivations]) -> Iterator[Derivations]:
    for found in tables:
        yield found
        for below in found.below:
            yield from _all(below.tables)


def row_groups(tables: Sequence[Derivations]) -> list[RowGroups]:
    """Return tables as rows of ANDs, everybody numbered."""
    every = list(_all(tables))
    owners, _ = owner_numbers(every)
    matrices = {id(found): matrix for found, matrix in zip(every, owners, strict=True)}
    return [_rows(found, matrices) for found in tables]


def _rows(found: Derivations, matrices: dict[int, Integers]) -> RowGroups:
    """Return a table as rows of ANDs, with the groups that they point at."""
    below = []
    for choice in found.below:
        keys = [[inner.table[name] for name in inner.key] for inner in choice.tables]
        pointing, *members = codes_of(
            [[found.table[name] for name in choice.columns], *keys],
            [found.table.num_rows, *(inner.table.num_rows for inner in choice.tables)],
        )
        count = max((int(codes.max()) + 1 for codes in (pointing, *members) if len(codes)), default=0)
        inner_rows = [_rows(inner, matrices) for inner in choice.tables]
        groups = OrGroups(count, tuple(zip(inner_rows, members, strict=True)), choice.least)
        below.append((groups, pointing))
    values = None if found.value is None else integers(found.table[found.value])
    return RowGroups(matrices[id(found)], tuple(below), values)


def owner_numbers(tables: Sequence[Derivations]) -> tuple[list[Integers], OwnerNames]:
    """Return for every table the matrix of its owners' numbers, and everybody's names.

    Those of one kind are numbered in the order of their names: of two, who is first depends on no row.
    """
    matrices = _matrices(tables)
    names: list[KindNames] = []
    offset = 0
    for kind, owned in _owned(tables):
        codes, values = in_order(*numbered(owned.columns))
        owned.number(matrices, codes, offset)
        known = KindNames(kind, values)
        names.append(known)
        offset += len(known)
    return matrices, OwnerNames(tuple(names))


def owner_codes(tables: Sequence[Derivations]) -> tuple[list[Integers], int]:
    """Return for every table the matrix of its owners' codes, and a number above all codes.

    Where nobody's name matters, nor who is first: some codes are nobody's.
    """
    matrices = _matrices(tables)
    offset = 0
    for _, owned in _owned(tables):
        codes, size = loosely_numbered(owned.columns)
        owned.number(matrices, codes, offset)
        offset += size
    return matrices, offset


def _matrices(tables: Sequence[Derivations]) -> list[Integers]:
    return [np.empty((found.table.num_rows, len(found.owners)), np.int64) for found in tables]


@dataclass(frozen=True, slots=True, eq=False)
class _Owned:
    """Where owners of one kind stand, and the columns that name them, table below table."""

    places: Sequence[tuple[int, int]]
    """of each the table, and which of its owners it is"""
    columns: list[pyarrow.ChunkedArray]

    def number(self, matrices: list[Integers], codes: Integers, offset: int) -> None:
        """Write the codes to their places."""
        if offset == 0 and len(self.places) == 1 and matrices[self.places[0][0]].shape[1] == 1:
            matrices[self.places[0][0]] = codes.reshape(-1, 1)
            return
        ends = accumulate((len(matrices[number]) for number, _ in self.places), initial=0)
        for (number, place), (start, end) in zip(self.places, pairwise(ends), strict=True):
            np.add(codes[start:end], offset, out=matrices[number][:, place])


def _owned(tables: Sequence[Derivations]) -> Iterator[tuple[str, _Owned]]:
    """Yield every kind of owners with where it stands."""
    for kind in dict.fromkeys(kind for found in tables for kind, _ in found.owners):
        places = [
            (number, place)
            for number, found in enumerate(tables)
            for place, (other, _) in enumerate(found.owners)
            if other == kind
        ]
        columns = [[tables[n].table[name] for name in tables[n].owners[place][1]] for n, place in places]
        yield kind, _Owned(places, [stacked(list(group)) for group in zip(*columns, strict=True)])


# ------------------------------------------------------------------ participants


def kinds_of(names: Sequence[Hashable], kinds: Sequence[str]) -> Integers:
    """Return for every participant, by name, the place of its kind among `kinds`."""
    return _kinds_at(names, np.arange(len(names)), kinds)


def _kinds_at(names: Sequence[Hashable], places: Integers, kinds: Sequence[str]) -> Integers:
    if isinstance(names, Chosen):
        return _kinds_at(names.names, names.indices[places], kinds)
    if not isinstance(names, OwnerNames):
        listed = [names[place] for place in places.tolist()]
        return np.array([kinds.index(name[0]) for name in listed if isinstance(name, tuple)], np.int64)
    ends = np.cumsum([len(known) for known in names.kinds])
    table = np.array([kinds.index(known.kind) for known in names.kinds], np.int64)
    return table[np.searchsorted(ends, places, side="right")] if len(places) else places
