"""Which columns are equal in every row, because the conditions say so."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Self

from sqlglot import exp

from recuse.sql.families import Family, family
from recuse.sql.query import Scalar, column
from recuse.sql.scalars import Lookup

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
    def of(cls, conditions: Iterable[Scalar], lookup: Lookup, families: Collection[Family]) -> Self:
        """Return the classes that bare equalities between columns of one of the families make."""
        found = cls({})
        for condition in conditions:
            for pair in equal_columns(condition):
                sides = {family(lookup(column(*name)) or "") for name in pair}
                if len(pair) == 2 and len(sides) == 1 and sides <= set(families):
                    first, second = sorted(map(found.leader, pair))
                    if first != second:
                        found.leaders[second] = first
        return found

    def leader(self, name: Name) -> Name:
        """Return the column that stands for all that are equal to this one."""
        while name in self.leaders:
            name = self.leaders[name]
        return name
