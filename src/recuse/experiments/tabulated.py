"""Programs with X(τ) tabulated: for experiments that ask for X at thousands of τ of one relation.

X is concave and piecewise linear in τ. Between neighbouring points of a grid of quarters of a doubling the
chord is used, which errs by far less than the noise that is measured. Never used for a release.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from recuse.krelation.relation import Tuples
from recuse.solver.interval import Interval
from recuse.solver.programs import Programs, Solver
from recuse.solver.remember import Remembered

STEPS_A_DOUBLING = 4
WIDTH = 1 / 20
"""How closely X is known at a point of the grid, in units of τ."""


@dataclass(frozen=True, slots=True)
class Tabulated:
    """`Programs` that interpolate X and remember the rest."""

    programs: Programs

    def largest_load(self) -> float:
        return self.programs.largest_load()

    def truncated(self, tau: float, width: float) -> Interval:
        if tau >= self.largest_load():
            return self.programs.truncated(tau, width)
        place = math.floor(math.log2(tau) * STEPS_A_DOUBLING)
        left, right = (2.0 ** (step / STEPS_A_DOUBLING) for step in (place, place + 1))
        low, high = (self._middle(end) for end in (left, right))
        value = low + (tau - left) / (right - left) * (high - low)
        return Interval(value, value)

    def _middle(self, tau: float) -> float:
        found = self.programs.truncated(tau, WIDTH * tau)
        return (found.low + found.high) / 2

    def withdrawals(self, tau: float, width: float, enough: float = math.inf) -> Interval:
        return self.programs.withdrawals(tau, width, enough)

    def strict_withdrawals(self, tau: float, width: float, enough: float = math.inf) -> Interval:
        return self.programs.strict_withdrawals(tau, width, enough)

    def index(self, theta: float, beta: float, width: float) -> Interval:
        return self.programs.index(theta, beta, width)

    def integer_index(self, theta: Fraction, beta: Fraction, factor: int) -> int:
        return self.programs.integer_index(theta, beta, factor)


def tabulating(solver: Solver) -> Solver:
    """Return the solver whose programs interpolate X(τ)."""

    def solve(tuples: Tuples, participants: int) -> Tabulated:
        return Tabulated(Remembered(solver(tuples, participants)))

    return solve
