"""The largest value: the first of a public grid above which nobody is left, but for a few.

W(t) is the cover number of the rows above t: how many withdrawals take all of them. With a participant more
it grows by one at most, for all t alike. So a noisy maximum of -εW(t) less a prior picks t with the whole of
ε: no τ, no clipping bound.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from math import floor, log2

import numpy as np

from recuse.krelation.relation import Integers
from recuse.mechanism.parameters import SLACK
from recuse.mechanism.selection import Prior, noisy_maximum
from recuse.noise import Noise
from recuse.solver.interval import Interval

LARGEST = 62
RATIO = Fraction(51, 50)
"""ρ: neighbouring numbers of the grid, from 50 on; below it has every whole number"""

STEEP = Fraction(8)
"""a: a doubling costs a·ln2, so that the largest value is exceeded by about 1/a of it"""
GENTLE = Fraction(1)
FAINT = Fraction(1, 4)
FAMILIAR = Fraction(30)
"""doublings up to which a value is told precisely from the far side"""
LEAD = Fraction(12)
NOTHING = -(2**48)
"""what is said below this is said where too few people are there: no value at all"""


@cache
def grid() -> tuple[int, ...]:
    """Return the public grid: 0, and the same numbers on either side of it."""
    sizes = [1]
    while sizes[-1] < 2**LARGEST:
        following = max(sizes[-1] + 1, floor(sizes[-1] * RATIO))
        sizes.append(min(following, 2**LARGEST))
    return (*(-size for size in reversed(sizes)), 0, *sizes)


@dataclass(frozen=True, slots=True)
class FromBelow:
    """The prior of a maximum: faint below 0, steep above, so that what is reported is hardly too large."""

    def prior(self, level: int) -> Fraction:
        """Return the cost of a number of the grid in units of ln2."""
        value = grid()[level]
        return _doublings(value) * (STEEP if value > 0 else -FAINT) - _first(level)


@dataclass(frozen=True, slots=True)
class Mirrored:
    """The prior of a minimum, seen in a mirror: steep over familiar sizes on both sides of 0."""

    def prior(self, level: int) -> Fraction:
        """Return the cost of a number of the grid in units of ln2."""
        value = grid()[level]
        doublings = _doublings(value)
        if value >= 0:
            return STEEP * doublings
        near = min(doublings, FAMILIAR)
        return -STEEP * near - GENTLE * (doublings - near) - _first(level)


PRIORS: dict[int, Prior] = {1: FromBelow(), -1: Mirrored()}
"""by the sign that values are taken with: a maximum's, and a minimum's"""


def _first(level: int) -> Fraction:
    """Return by how much the end of the grid is preferred: where nobody is seen it is to win."""
    return Fraction(0) if level else LEAD


@cache
def _doublings(value: int) -> Fraction:
    """Return log2(1 + |value|), rounded: public numbers."""
    return Fraction(round(log2(1 + abs(value)) * 2**20), 2**20)


Cover = Callable[[int], Interval]
"""t → an interval of width η at most that holds W(t)"""


@dataclass(slots=True)
class Covers:
    """W at the places that were asked for: it changes only where a row's value lies, and falls with t.

    `values` are the distinct ones, ascending; `solve` finds W above one of them, or above none (None).
    """

    values: Integers
    solve: Callable[[int | None], Interval]
    known: dict[int, Interval] = field(default_factory=dict)

    def __call__(self, t: int) -> Interval:
        """Return W(t), from what is known of it on both sides if that will do."""
        place = int(np.searchsorted(self.values, t, side="right"))
        if place == len(self.values):
            return Interval(0.0, 0.0)
        if 0 not in self.known:
            self.known[0] = self.solve(None)
        more = self.known[max(other for other in self.known if other <= place)]
        fewer = [other for other in self.known if other >= place]
        low = self.known[min(fewer)].low if fewer else 0.0
        if more.high - low <= SLACK:
            return Interval(min(low, more.high), more.high)
        self.known[place] = found = self.solve(int(self.values[place - 1]) if place else None)
        return found


def draw_largest(
    epsilon: Fraction,
    prior: Prior,
    largest: int,
    public: int | None,
    cover: Cover,
    noise: Noise,
) -> int | None:
    """Return a number of the grid that hardly anybody exceeds; None if there are too few people to say one.

    `largest` is the largest value there is, `public` the largest that nobody owns: nothing below that is
    considered.

    Guarantee: ε-private (proofs.md, theorem V3).
    """
    numbers = grid()
    first = 0 if public is None else min(bisect_left(numbers, public), len(numbers) - 1)
    levels = range(first, len(numbers))

    def penalty(level: int, _: float) -> tuple[float, Fraction]:
        found = cover(numbers[level])
        return found.low, Fraction(found.high)

    top = bisect_left(numbers, largest)
    weight = epsilon / (1 + 2 * SLACK)
    level = noisy_maximum(prior, levels, top, weight, penalty, noise)
    return None if numbers[level] < NOTHING else numbers[level]
