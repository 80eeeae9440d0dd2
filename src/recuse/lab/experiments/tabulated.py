"""Programs known roughly: for experiments that ask thousands of questions of one relation.

X is concave and piecewise linear in τ: between neighbouring points of a grid of quarters of a doubling the
chord is used, unless a τ is asked for again, as by mechanisms that choose from a few. Counts of withdrawals
are found to three per cent, indices to a fifth. All of it errs by far less than the noise that is measured.
Never used for a release.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

from recuse.krelation.prices import Prices
from recuse.krelation.relation import Tuples
from recuse.solver.interval import Interval
from recuse.solver.memo import Memoised
from recuse.solver.programs import Programs, Solver

STEPS_A_DOUBLING = 4
WIDTH = 1 / 20
"""How closely X is known at a point of the grid, in units of τ."""
ROUGH, FAR_OFF = 0.005, 0.9
"""The same as a share of the true answer, which is enough where X is less than this share of it."""
CLOSE, SHARE = 1.0, 0.03
"""How closely withdrawals are known at a first look, and then, as a share of what was seen."""
INDEX_WIDTH = 0.2
"""How closely an index is known: its noise has a scale of several units."""


CountProgram = Callable[[float, float, float], Interval]


@dataclass(frozen=True, slots=True)
class Tabulated:
    """`Programs` that interpolate X, and remember all that they have found."""

    programs: Programs
    asked: set[float] = field(default_factory=set)

    def largest_load(self) -> float:
        return self.programs.largest_load()

    def truncated(self, tau: float, width: float) -> Interval:
        if tau >= self.largest_load():
            return self.programs.truncated(tau, width)
        if tau in self.asked:
            value = self._middle(tau)
            return Interval(value, value)
        self.asked.add(tau)
        place = math.floor(math.log2(tau) * STEPS_A_DOUBLING)
        left, right = (2.0 ** (step / STEPS_A_DOUBLING) for step in (place, place + 1))
        low, high = (self._middle(end) for end in (left, right))
        value = low + (tau - left) / (right - left) * (high - low)
        return Interval(value, value)

    def _middle(self, tau: float) -> float:
        whole = self.programs.truncated(self.largest_load(), 1.0).high
        found = self.programs.truncated(tau, max(WIDTH * tau, ROUGH * whole))
        if found.high > FAR_OFF * whole:  # near the truth a small error counts
            found = self.programs.truncated(tau, WIDTH * tau)
        return (found.low + found.high) / 2

    def withdrawals(self, tau: float, width: float, stop_above: float = math.inf) -> Interval:
        return _roughly(self.programs.withdrawals, tau, width, stop_above)

    def strict_withdrawals(self, tau: float, width: float, stop_above: float = math.inf) -> Interval:
        return _roughly(self.programs.strict_withdrawals, tau, width, stop_above)

    def index(self, theta: float, beta: float, width: float) -> Interval:
        found = self.programs.index(theta, beta, max(width, INDEX_WIDTH))
        middle = (found.low + found.high) / 2
        return Interval(middle, middle)

    def integer_index(self, theta: Fraction, beta: Fraction, factor: int) -> int:
        return math.ceil(self.index(float(theta / factor), float(beta), INDEX_WIDTH).low)


def _roughly(count: CountProgram, tau: float, width: float, stop_above: float) -> Interval:
    """Return the middle of a narrow interval, or one above `stop_above`."""
    seen = count(tau, max(CLOSE, SHARE * min(stop_above, sys.float_info.max)), stop_above)
    if seen.low <= stop_above:
        seen = count(tau, max(width, SHARE * seen.low), stop_above)
    if seen.low > stop_above:
        return seen
    middle = (seen.low + seen.high) / 2
    return Interval(middle, middle)


def tabulating(solver: Solver) -> Solver:
    """Return the solver whose programs are known roughly."""

    def solve(tuples: Tuples, participants: int, prices: Prices | None = None, /) -> Tabulated:
        return Tabulated(Memoised(solver(tuples, participants, prices)))

    return solve
