"""Interval: what a solver says of a number it has certified."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Interval:
    """A pair of doubles that provably encloses a real number."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise ValueError("an interval's ends are in the wrong order")

    @property
    def width(self) -> float:
        """The distance between the ends."""
        return self.high - self.low

    def narrowed(self, low: float, high: float) -> Interval:
        """Return the part of this interval between two further bounds on the same number."""
        return Interval(max(self.low, low), min(self.high, high))


NOTHING = Interval(0.0, 0.0)
"""Exactly 0: nobody need withdraw."""


def enclosed(value: int) -> Interval:
    """Return the narrowest interval of doubles around an integer; as `outward`."""
    near = nearest(value)
    if math.isinf(near):
        return outward(Fraction(value), Fraction(value))
    low = near if int(near) <= value else math.nextafter(near, -math.inf)
    return Interval(low, near if int(near) >= value else math.nextafter(near, math.inf))


def outward(low: Fraction, high: Fraction) -> Interval:
    """Return the narrowest interval of doubles around two rationals and what lies between them.

    Beyond all doubles its ends are the largest double and infinity, whatever the size.
    """
    below, above = nearest(low), nearest(high)
    below = below if math.isfinite(below) and Fraction(below) <= low else math.nextafter(below, -math.inf)
    above = above if not math.isfinite(above) or Fraction(above) >= high else math.nextafter(above, math.inf)
    return Interval(below, max(above, -sys.float_info.max))


def nearest(value: Fraction | int) -> float:
    """Return the double nearest to a number, infinite beyond all of them."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
