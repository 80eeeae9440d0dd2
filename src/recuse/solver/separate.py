"""Programs of people who share nothing, in closed form: everybody owns one tuple, their load.

X(τ) = Σ min(L, τ),   N(τ) = Σ (1 - τ/L)⁺,   N_s(τ) = #{L > τ}.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from recuse.krelation.relation import Floats
from recuse.solver.bounds import enclosed_sum
from recuse.solver.interval import Interval
from recuse.solver.programs import Programs


@dataclass(frozen=True, slots=True, eq=False)
class SeparatePrograms:
    """`Programs` of separate people; what has no closed form is asked of a solver, made when it is needed.

    `low` and `high` are doubles on either side of the loads, the same where they are exact.
    """

    low: Floats
    high: Floats
    solved: Callable[[], Programs]

    def largest_load(self) -> float:
        return float(self.high.max(initial=0.0))

    def truncated(self, tau: float, width: float) -> Interval:
        found = self._enclosed(np.minimum(self.low, tau), np.minimum(self.high, tau))
        return found if found.width <= width else self.solved().truncated(tau, width)

    def withdrawals(self, tau: float, width: float, stop_above: float = math.inf) -> Interval:
        def shares(loads: Floats) -> Floats:
            return 1 - tau / np.maximum(loads, tau)

        found = self._enclosed(shares(self.low), shares(self.high))
        found = Interval(max(0.0, found.low), found.high)
        if found.width <= width or found.low > stop_above:
            return found
        return self.solved().withdrawals(tau, width, stop_above)

    def strict_withdrawals(self, tau: float, width: float, stop_above: float = math.inf) -> Interval:
        least, most = int((self.low > tau).sum()), int((self.high > tau).sum())
        if least == most:
            return Interval(float(least), float(most))
        return self.solved().strict_withdrawals(tau, width, stop_above)

    def index(self, theta: float, beta: float, width: float) -> Interval:
        return self.solved().index(theta, beta, width)

    def integer_index(self, theta: Fraction, beta: Fraction, factor: int) -> int:
        return self.solved().integer_index(theta, beta, factor)

    def _enclosed(self, low: Floats, high: Floats) -> Interval:
        """Return an interval around a sum of which every term is known but for rounding."""
        return Interval(max(0.0, enclosed_sum(low).low), enclosed_sum(high).high)
