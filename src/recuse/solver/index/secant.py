"""The real index r, where N(θe^{βs}) = s, by the secant method: any way to find N will do.

N falls, so an interval [a, b] that holds N(θe^{βs}) says min(s, a) ≤ r ≤ max(s, b), wherever s is: where r is
below s, N is at most r there. Newton's method (`newton`) needs a line below N with each, as cuts have it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from recuse.solver import limits
from recuse.solver.bounds import down, log_ratio, up
from recuse.solver.interval import Interval


def secant_index(
    count: Callable[[float], Interval], start: float, largest: float, theta: float, beta: float, width: float
) -> Interval | None:
    """Return an interval that holds r, at most `width` wide; nothing if it does not close.

    `count` returns an interval that holds N(τ), and had better be half as wide.
    """
    found = Interval(0.0, up(log_ratio(largest, theta).high / beta))
    s, before, slope = start, None, -1.0
    for _ in range(limits.SECANT_STEPS):
        tau = theta * math.exp(beta * s)
        seen, place = count(tau), log_ratio(tau, theta)
        found = found.narrowed(min(seen.low, down(place.low / beta)), max(seen.high, up(place.high / beta)))
        if found.width <= width:
            return found
        value = (seen.low + seen.high) / 2
        if before is not None and s != before[0]:
            slope = min(0.0, (value - before[1]) / (s - before[0]))
        before = s, value
        s = min(max(s + (value - s) / (1 - slope), found.low), found.high)
    return None
