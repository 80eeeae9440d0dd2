"""The aggregates of every set of keys: one set, or those of ROLLUP, CUBE and GROUPING SETS.

Every aggregate that a SELECT writes is a measure for each set, in the same order, so that one formula is that
of every row: it numbers the measures of the row's own set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from sqlglot import exp

from recuse.sql.formula import FixedNumber, Stacked, Term
from recuse.sql.frame import Frame
from recuse.sql.groups import GroupKey
from recuse.sql.kinds import ColumnKind
from recuse.sql.measure import Aggregate, Measure
from recuse.sql.measures import Measures
from recuse.sql.named import Known
from recuse.sql.relations import Relations
from recuse.sql.rollup import bits
from recuse.sql.said import Said


@dataclass(frozen=True, slots=True)
class KeySetMeasures:
    """The aggregates met so far, for every set of keys."""

    sets: tuple[tuple[tuple[GroupKey, ...], Measures], ...]

    @classmethod
    def of(cls, relations: Relations, known: Known, sets: Sequence[tuple[GroupKey, ...]]) -> Self:
        """Return a reader of aggregates in groups of each of these keys."""
        return cls(tuple((keys, Measures(relations, known)) for keys in sets))

    @property
    def none(self) -> bool:
        """Whether no aggregate was met."""
        return not any(measures.found for _, measures in self.sets)

    def all(self) -> tuple[Measure, ...]:
        """Return the measures of the first set, then those of the next."""
        return tuple(measure for _, measures in self.sets for measure in measures.all())

    def aggregate(self, node: exp.Expr, frames: list[Frame]) -> Said:
        """Return what an aggregate stands for in every row, whichever set it is of."""
        said = [measures.aggregate(node, keys, frames) for keys, measures in self.sets]
        alike = all(one == said[0] for one in said)
        return said[0] if alike else Said(Stacked(tuple(one.formula for one in said)), said[0].kind)

    def term(self, kind: Aggregate, value: exp.Expr, test: exp.Expr | None, frames: list[Frame]) -> Term:
        """Return the term of an aggregate of one value."""
        first, *_ = [
            measures.term(kind, [value], test, keys, frames, once=False) for keys, measures in self.sets
        ]
        return first


def which_keys(places: Sequence[int], sets: Sequence[Sequence[int]]) -> Said:
    """Return what GROUPING says of some keys in the rows of each set."""
    said = tuple(FixedNumber(Fraction(bits(places, kept))) for kept in sets)
    return Said(Stacked(said), ColumnKind.INTEGER)
