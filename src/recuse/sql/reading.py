"""`Reading`: what is asked, as it was understood."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from recuse.sql.finish import Shown
from recuse.sql.formula import FinishingStep
from recuse.sql.groups import GroupKey
from recuse.sql.measure import Measure
from recuse.sql.placeholder import FIRST_SHARE, PlaceType
from recuse.sql.query import Block


@dataclass(frozen=True, slots=True)
class Reading:
    """What is asked: measures, the columns made of them, the groups, and what is done with the rows."""

    measures: tuple[Measure, ...]
    columns: tuple[Shown, ...]
    keys: tuple[GroupKey, ...] = ()
    steps: tuple[FinishingStep, ...] = ()
    frames: tuple[Block, ...] = ()
    """the rows before any aggregate"""
    sets: tuple[tuple[int, ...], ...] = ()
    """of ROLLUP and the like: the places of the keys of each set; it has measures for one after the other"""
    firsts: tuple[First, ...] = ()
    """the scalars that are released before anything else, in order"""
    first_share: Fraction = FIRST_SHARE
    """the part of ε for all of them together, if people's rows are asked for after"""
    says: tuple[str, ...] = ()
    """how it is answered, a sentence each, for people"""

    @property
    def written(self) -> tuple[Measure, ...]:
        """The measures of the first set of keys: the aggregates that the question writes."""
        return tuple(one for place, one in zip(self.places(), self.measures, strict=True) if place == 0)

    def places(self) -> list[int]:
        """Return of which set of keys each measure is."""
        sets = max(1, len(self.sets))
        return [number * sets // len(self.measures) for number in range(len(self.measures))]

    def keys_of(self, place: int) -> tuple[GroupKey, ...]:
        """Return the keys of one set."""
        return tuple(self.keys[one] for one in self.sets[place]) if self.sets else self.keys


@dataclass(frozen=True, slots=True)
class First:
    """A number that is released first: the question that it answers, its type, and how it is written.

    It stands in the question, or is an `end` of a key of GROUP BY.
    """

    reading: Reading
    type: PlaceType
    text: str
    end: bool = False
