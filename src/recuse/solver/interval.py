"""Interval: what a solver says of a number it has certified."""

from __future__ import annotations

import math
from dataclasses import dataclass


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


def enclosed(value: int) -> Interval:
    """Return the narrowest interval of doubles around an integer."""
    near = float(value)
    low = near if int(near) <= value else math.nextafter(near, -math.inf)
    return Interval(low, near if int(near) >= value else math.nextafter(near, math.inf))
