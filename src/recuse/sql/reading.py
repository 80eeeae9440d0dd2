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
    firsts: tuple[First, ...] = ()
    """the scalars that are released before anything else, in order"""
    first_share: Fraction = FIRST_SHARE
    """the part of ε for all of them together, if people's rows are asked for after"""
    says: tuple[str, ...] = ()
    """how it is answered, a sentence each, for people"""


@dataclass(frozen=True, slots=True)
class First:
    """A number that is released first: the question that it answers, its type, and how it is written.

    It stands in the question, or is an `end` of a key of GROUP BY.
    """

    reading: Reading
    type: PlaceType
    text: str
    end: bool = False
