"""Derivation tables: the rows of a measure with their owners, and the rows that each of them needs one of.

    Table    SQL whose rows are ANDs: owners, one group of each choice below it, and a weight or a key
    Group    an OR: the rows of its tables that share a key

A row of a table points at its groups by key values; a group's tables carry the same key. So a product of
ORs is one table for each OR, and is never multiplied out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from recuse.krelation.relation import Shape


@dataclass(frozen=True, slots=True)
class OwnerColumns:
    """The columns of a derivation table that together name one participant."""

    kind: str
    """which participants these are; names of different kinds are different people"""
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Below:
    """A group that every row of a table needs one of."""

    group: Group
    columns: tuple[str, ...]
    """of the table above: they say which rows of the group"""


class DeferredSql(Protocol):
    """A statement that is written when it is asked for."""

    def sql(self) -> str:
        """Return its text."""
        ...


@dataclass(frozen=True, slots=True)
class DerivationTable:
    """One derivation table: its SQL, and what its columns mean.

    `key` are the columns by which rows belong to a group; at the top, those by which they are grouped.
    `value` is what a row counts for in a threshold above it. `listed` returns the same rows before those of
    equal owners and keys are summed, where they are no more than the rows of one table. `loose` does so where
    rows of joins are no more, either, and have several owners: few are alike, and an engine that keeps them
    need not look for those. `meant` says what `sql` returns with every derivation listed, where that adds
    them up before they are multiplied; it is not run, and written when somebody asks what makes two questions
    the same. `joins` are the joins that an engine goes through for it, each known by the tables that multiply
    its rows.
    """

    sql: str
    key: tuple[str, ...]
    owners: tuple[OwnerColumns, ...]
    below: tuple[Below, ...]
    value: str | None = None
    listed: str | None = field(default=None, compare=False)
    loose: str | None = field(default=None, compare=False)
    meant: DeferredSql | None = field(default=None, compare=False)
    joins: tuple[tuple[str, ...], ...] = field(default=(), compare=False)

    @property
    def is_owned(self) -> bool:
        """Whether a participant owns any row, or any that it needs."""
        return bool(self.owners) or any(
            table.is_owned for below in self.below for table in below.group.tables
        )


@dataclass(frozen=True, slots=True)
class Group:
    """An OR over the rows of its tables that share a key; with `least` above 1 a threshold over them.

    `least` may be the SQL of a number that public tables say.
    """

    tables: tuple[DerivationTable, ...]
    least: int | str = 1

    @property
    def has_threshold(self) -> bool:
        """Whether it, or anything below it, needs more than one row."""
        return (
            isinstance(self.least, str)
            or self.least > 1
            or any(below.group.has_threshold for table in self.tables for below in table.below)
        )


def joins_of(tables: Iterable[DerivationTable]) -> Iterator[tuple[str, ...]]:
    """Yield the joins that tables, and all below them, are made by."""
    for table in tables:
        yield from table.joins
        for below in table.below:
            yield from joins_of(below.group.tables)


def shape_of(tables: Iterable[DerivationTable]) -> Shape:
    """Return the form of the annotations: it follows from the query and the policy only."""
    listed = list(tables)
    if not any(table.below for table in listed):
        return Shape.CONJUNCTIONS
    if any(below.group.has_threshold for table in listed for below in table.below):
        return Shape.THRESHOLDS
    one_level = all(
        len(table.below) <= 1
        and not any(inner.below for below in table.below for inner in below.group.tables)
        for table in listed
    )
    return Shape.CLAUSES if one_level else Shape.TREES
