"""Programs that remember: the same question of the same relation is solved once.

For experiments that release from one relation many times; a single release asks nothing twice.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from fractions import Fraction

from recuse.krelation.relation import Tuples
from recuse.solver.interval import Interval
from recuse.solver.programs import Programs, Solver


@dataclass(frozen=True, slots=True)
class Remembered:
    """`Programs` that keep what they have found."""

    programs: Programs
    intervals: dict[Hashable, Interval] = field(default_factory=dict)
    indices: dict[Hashable, int] = field(default_factory=dict)

    def largest_load(self) -> float:
        return self.programs.largest_load()

    def truncated(self, tau: float, width: float) -> Interval:
        key = ("X", tau, width)
        if key not in self.intervals:
            self.intervals[key] = self.programs.truncated(tau, width)
        return self.intervals[key]

    def withdrawals(self, tau: float, width: float, enough: float = float("inf")) -> Interval:
        return self._until(
            ("N", tau, width), enough, lambda more: self.programs.withdrawals(tau, width, more)
        )

    def strict_withdrawals(self, tau: float, width: float, enough: float = float("inf")) -> Interval:
        return self._until(
            ("N_s", tau, width), enough, lambda more: self.programs.strict_withdrawals(tau, width, more)
        )

    def _until(
        self, key: tuple[str, float, float], enough: float, solve: Callable[[float], Interval]
    ) -> Interval:
        """Return what is known if it is enough; else find out, and a little more than was asked for."""
        known = self.intervals.get(key)
        if known is None or (known.width > key[-1] and known.low <= enough):
            self.intervals[key] = solve(enough if known is None else max(enough, 2 * known.low))
        return self.intervals[key]

    def index(self, theta: float, beta: float, width: float) -> Interval:
        key = ("r", theta, beta, width)
        if key not in self.intervals:
            self.intervals[key] = self.programs.index(theta, beta, width)
        return self.intervals[key]

    def integer_index(self, theta: Fraction, beta: Fraction, factor: int) -> int:
        key = (theta, beta, factor)
        if key not in self.indices:
            self.indices[key] = self.programs.integer_index(theta, beta, factor)
        return self.indices[key]


def remembering(solver: Solver) -> Solver:
    """Return the solver whose programs remember what they have found."""

    def solve(tuples: Tuples, participants: int) -> Remembered:
        return Remembered(solver(tuples, participants))

    return solve
