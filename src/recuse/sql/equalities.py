"""Which columns are equal in every row: because the conditions say so, or because two rows are one.

The second is the chase: two scans of one table that agree on a unique key are the same row, so that all
their columns agree. Only keys that the database enforces are used: a key that is merely declared may be
false, and then columns that differ would be taken for equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Self

from sqlglot import exp

from recuse.scalars.types import Date, Number, Text, Type
from recuse.sql.elaborate import Lookup
from recuse.sql.query import Block, Own, Owner, Scalar, Scan, column

Name = tuple[str, str]
"""alias and column"""
UniqueKey = tuple[str, tuple[str, ...]]
"""a table, and columns of it that no two rows share"""


def equal_columns(condition: Scalar) -> Iterator[frozenset[Name]]:
    """Yield the two names of a condition that is one bare equality."""
    if isinstance(condition, exp.EQ):
        left, right = condition.left, condition.right
        if isinstance(left, exp.Column) and isinstance(right, exp.Column):
            yield frozenset({(left.table, left.name), (right.table, right.name)})


def constant_column(condition: Scalar) -> Name | None:
    """Return the column that a condition says is one constant."""
    if isinstance(condition, exp.EQ):
        for one, other in ((condition.left, condition.right), (condition.right, condition.left)):
            if isinstance(one, exp.Column) and isinstance(other.unnest(), exp.Literal):
                return one.table, one.name
    return None


def identical_columns(condition: Scalar, lookup: Lookup) -> Iterator[tuple[Name, Name]]:
    """Yield the two names of a bare equality between columns whose equality is identity."""
    for pair in equal_columns(condition):
        kinds = [lookup(column(*name)).type for name in pair]
        if len(kinds) == 2 and type(kinds[0]) is type(kinds[1]) and all(map(is_identity, kinds)):
            one, other = pair
            yield one, other


Identity = tuple[str, tuple[str, ...]]
"""a participant by kind and values, each column by the leader of its class"""


@dataclass(frozen=True, slots=True)
class Equalities:
    """Classes of columns that are equal in every row, each known by its leader.

    Equal means the same value, or NULL in both. No conclusion needs more: columns of different rows come
    together by an equality only, and there neither is NULL.
    """

    leaders: dict[Name, Name]
    ones: list[UniqueKey] = field(default_factory=list)
    """the enforced keys by which scans have become one"""

    @classmethod
    def of(cls, conditions: Iterable[Scalar], lookup: Lookup) -> Self:
        """Return the classes that bare equalities make, between columns whose equality is identity."""
        found = cls({})
        for condition in conditions:
            for pair in identical_columns(condition, lookup):
                found._merge(*pair)
        return found

    def joined(self, pairs: Iterable[tuple[Name, Name]]) -> Self:
        """Return the classes once columns that are the same are one: a query's output and its value."""
        found = type(self)(dict(self.leaders), list(self.ones))
        for one, other in pairs:
            found._merge(one, other)
        return found

    def chased(self, scans: Sequence[Scan]) -> Self:
        """Return the classes once scans that are provably one row have become one.

        Guarantee: true of every row, if the database enforces the keys that its catalogue names.
        """
        found = type(self)(dict(self.leaders), list(self.ones))
        pairs = [pair for pair in combinations(scans, 2) if pair[0].table == pair[1].table]
        while sum(found._made_one(first, second) for first, second in pairs):
            pass
        return found

    def leader(self, name: Name) -> Name:
        """Return the column that stands for all that are equal to this one."""
        while name in self.leaders:
            name = self.leaders[name]
        return name

    def classes(self) -> dict[Name, set[Name]]:
        """Return the columns of every class, by its leader; those that are equal to no other are in none."""
        found: dict[Name, set[Name]] = {}
        for name in (*self.leaders, *self.leaders.values()):
            found.setdefault(self.leader(name), set()).add(name)
        return found

    def are(self, one: Scalar, other: Scalar) -> bool:
        """Return whether two expressions are equal in every row, column by column."""
        return self._led(one) == self._led(other)

    def identity(self, owner: Owner) -> Identity:
        """Return an owner's name; owners with one name are one participant in every row."""
        return owner.kind, tuple(map(self._led, owner.values))

    def _led(self, value: Scalar) -> str:
        """Return an expression with the leader of its class instead of every column."""
        if isinstance(value, exp.Column):
            return column(*self.leader((value.table, value.name))).sql(copy=False)

        def led(node: exp.Expr) -> exp.Expr:
            return column(*self.leader((node.table, node.name))) if isinstance(node, exp.Column) else node

        return value.transform(led).sql(copy=False)

    def _made_one(self, first: Scan, second: Scan) -> bool:
        """Make two scans one if an enforced key is equal; return whether that was news."""
        for key in first.table.keys:
            if all(self.leader((first.alias, n)) == self.leader((second.alias, n)) for n in key):
                columns = [known.name for known in first.table.columns]
                news = sum(self._merge((first.alias, n), (second.alias, n)) for n in columns) > 0
                self.ones.extend([(first.table.name, key)] if news else [])
                return news
        return False

    def _merge(self, one: Name, other: Name) -> bool:
        first, second = sorted((self.leader(one), self.leader(other)))
        if first != second:
            self.leaders[second] = first
        return first != second


def is_never(condition: Scalar) -> bool:
    """Return whether a condition is a comparison with NULL, which no row satisfies."""
    if not isinstance(condition, exp.EQ):
        return False
    sides = [side.unnest() for side in (condition.left, condition.right)]
    sides = [side.this.unnest() if isinstance(side, exp.Cast) else side for side in sides]
    return any(isinstance(side, exp.Null) for side in sides)


def in_force(blocks: Sequence[Block], lookup: Lookup) -> Equalities:
    """Return what is equal in every row of the last block, given those around it; chased."""
    conditions = [condition for block in blocks for condition in block.conditions]
    scans = [s for b in blocks for s in b.sources if isinstance(s, Scan) and s.preserving is None]
    owns = [source.facts for block in blocks for source in block.sources if isinstance(source, Own)]
    conditions += [condition for facts in owns for condition in facts.conditions]
    scans += [scan for facts in owns for scan in facts.scans]
    same = [pair for facts in owns for pair in facts.same]
    return Equalities.of(conditions, lookup).joined(same).chased(scans)


def is_identity(kind: Type) -> bool:
    """Return whether equal values of a type are the same value, whatever the width of the type."""
    return isinstance(kind, Text | Date) or (isinstance(kind, Number) and kind.scale == 0)
