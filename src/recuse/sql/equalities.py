"""Which columns are equal in every row, because the conditions say so."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Self

from sqlglot import exp

from recuse.scalars.types import Date, Number, Text, Type
from recuse.sql.elaborate import Lookup
from recuse.sql.query import Scalar, column

Name = tuple[str, str]
"""alias and column"""


def equal_columns(condition: Scalar) -> Iterator[frozenset[Name]]:
    """Yield the two names of a condition that is one bare equality."""
    if isinstance(condition, exp.EQ):
        left, right = condition.left, condition.right
        if isinstance(left, exp.Column) and isinstance(right, exp.Column):
            yield frozenset({(left.table, left.name), (right.table, right.name)})


@dataclass(frozen=True, slots=True)
class Equalities:
    """Classes of columns that are equal in every row, each known by its leader."""

    leaders: dict[Name, Name]

    @classmethod
    def of(cls, conditions: Iterable[Scalar], lookup: Lookup, kinds: Collection[type[Type]]) -> Self:
        """Return the classes that bare equalities between columns of one of the kinds of types make."""
        found = cls({})
        for condition in conditions:
            for pair in equal_columns(condition):
                sides = [lookup(column(*name)).type for name in pair]
                same = len({type(side) for side in sides}) == 1 and all(map(_is_identity, sides))
                if len(pair) == 2 and same and isinstance(sides[0], tuple(kinds)):
                    first, second = sorted(map(found.leader, pair))
                    if first != second:
                        found.leaders[second] = first
        return found

    def leader(self, name: Name) -> Name:
        """Return the column that stands for all that are equal to this one."""
        while name in self.leaders:
            name = self.leaders[name]
        return name


def _is_identity(kind: Type) -> bool:
    """Return whether equal values of a type are the same value, whatever the width of the type."""
    return isinstance(kind, Text | Date) or (isinstance(kind, Number) and kind.scale == 0)
