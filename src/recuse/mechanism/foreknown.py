"""What is public of loads before anything is read: it says which levels are cheap, and promises nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from recuse.errors import ParameterError
from recuse.mechanism.parameters import Score
from recuse.mechanism.presets import STRIDE, single_slopes, sum_slopes
from recuse.mechanism.racing import Racing


@dataclass(frozen=True, slots=True)
class Foreknown:
    """Facts of query, policy and catalogue.

    Guarantee: a race is private whatever they are, true or not (proofs.md, theorems R0 and R10).
    """

    bound: int | None = None
    """the most that a participant can own"""
    unit: Fraction = Fraction(1)
    """about how many granules one row brings"""
    single: bool = False
    """whether rows are counted, and every participant is one row to which none links"""

    def __post_init__(self) -> None:
        if self.unit <= 0:
            raise ParameterError("one row brings something", found=str(self.unit))

    def told(self, race: Racing) -> Racing:
        """Return the race that knows all this."""
        found = race if self.unit == 1 else begun_at(race, self.unit)
        if self.single and found.levels.score is Score.WITHDRAWALS:
            gentle, steep = (STRIDE * slope for slope in single_slopes(race.epsilon))
            found = replace(found, levels=replace(found.levels, gentle=gentle, steep=steep))
        return found if self.bound is None else found.within(self.bound)


NOTHING = Foreknown()


def begun_at(race: Racing, unit: Fraction) -> Racing:
    """Return the race whose prior begins at a unit: below it levels cost little, from there on as a count's.

    A unit of less than a granule is a granule: no load is smaller.
    """
    ladder = race.levels.ladder
    doublings = math.log2(max(Fraction(1), unit / ladder.theta))
    start = round(doublings * len(ladder.rungs) / math.log2(ladder.span))
    levels = replace(race.levels, start=min(start, ladder.last))
    if levels.score is Score.WITHDRAWALS:
        least, steep = (STRIDE * slope for slope in sum_slopes(race.epsilon))
        levels = replace(levels, gentle=max(levels.gentle, least), steep=steep)
    return replace(race, levels=levels)
