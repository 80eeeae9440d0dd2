"""The largest value: the first of a public grid above which nobody is left, but for a few.

W(t) is the cover number of the rows above t: how many withdrawals take all of them. With a participant more
it grows by one at most, for all t alike. So a noisy maximum of -εW(t) less a prior picks t: no τ, no
clipping bound. Grid and prior are counted from the middle of the values, which was released before.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, lru_cache
from math import floor, log2

import numpy as np

from recuse.krelation.relation import Integers
from recuse.mechanism.axis import LARGEST, Axis, Middle
from recuse.mechanism.parameters import SLACK
from recuse.mechanism.selection import noisy_maximum
from recuse.noise import Noise
from recuse.solver.interval import Interval

RATIO = Fraction(51, 50)
"""ρ: neighbouring distances of the grid, from 50 on; below it has every whole number"""

STEEP = Fraction(7)
"""a: what a doubling costs, in doublings: the largest value is exceeded by about 1/a of its distance from
the middle (decisions.md, "Values near the middle")"""

BEFORE = 200
"""how many numbers of the grid below the middle are considered"""


@cache
def distances() -> tuple[int, ...]:
    """Return the distances of the public grid: 1, 2, … 50, and from there on ever 2 % more."""
    sizes = [1]
    while sizes[-1] < 2**LARGEST:
        following = max(sizes[-1] + 1, floor(sizes[-1] * RATIO))
        sizes.append(min(following, 2**LARGEST))
    return tuple(sizes)


@lru_cache(maxsize=8)
def grid(axis: Axis, middle: Middle) -> tuple[int, ...]:
    """Return the public grid around a middle, and around 0 where a maximum lies on the way to it."""
    sizes, end = distances(), 2**LARGEST
    found = {
        end,
        middle.at,
        *(middle.at + size for size in sizes),
        *(middle.at - size for size in sizes[:BEFORE]),
    }
    if axis.zero and middle.at < 0:
        found |= {0, *sizes, *(-size for size in sizes if size < -middle.at)}
    return tuple(sorted({max(-end, min(end, number)) for number in found}))


@dataclass(frozen=True, slots=True)
class FromMiddle:
    """The prior of a maximum: free up to the middle, and steep beyond it.

    The cost is of the distance in units of the spread; where a number lies beyond a middle below 0, it is
    at least that of the ratio to the middle, so that a negative maximum is hardly said to be positive.
    """

    axis: Axis
    middle: Middle

    def prior(self, level: int) -> Fraction:
        """Return the cost of a number of the grid in units of ln2."""
        value, at = grid(self.axis, self.middle)[level], self.middle.at
        if value <= at:
            return Fraction(0)
        unit = max(1, self.middle.spread)
        cost = _doublings(unit + value - at) - _doublings(unit)
        if self.axis.zero and at < 0:
            nearer = _doublings(1 - at) - _doublings(1 + abs(value))
            cost = max(cost, nearer if value <= 0 else _doublings(1 - at) + _doublings(1 + value))
        return STEEP * cost


@cache
def _doublings(size: int) -> Fraction:
    """Return log2 of a number, rounded: public numbers."""
    return Fraction(round(log2(size) * 2**20), 2**20)


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
    prior: FromMiddle,
    largest: int,
    public: int | None,
    cover: Cover,
    noise: Noise,
) -> int:
    """Return a number of the grid that hardly anybody exceeds.

    `largest` is the largest value there is, `public` the largest that nobody owns: nothing below that is
    considered.

    Guarantee: ε-private (proofs.md, theorem V3), given the middle that the grid is counted from.
    """
    numbers = grid(prior.axis, prior.middle)
    first = 0 if public is None else min(bisect_left(numbers, public), len(numbers) - 1)
    levels = range(first, len(numbers))

    def penalty(level: int, _: float) -> tuple[float, Fraction]:
        found = cover(numbers[level])
        return found.low, Fraction(found.high)

    top = bisect_left(numbers, largest)
    weight = epsilon / (1 + 2 * SLACK)
    return numbers[noisy_maximum(prior, levels, top, weight, penalty, noise)]
