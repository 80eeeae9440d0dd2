"""Programs that remember: the same question of the same relation is solved once.

For experiments that release from one relation many times; a single release asks nothing twice.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from fractions import Fraction

from recuse.krelation.prices import Prices
from recuse.krelation.relation import Tuples
from recuse.solver.interval import Interval
from recuse.solver.programs import Programs, Solver

CountSolver = Callable[[float, float, float], Interval]


@dataclass(frozen=True, slots=True)
class Memoised:
    """`Programs` that keep what they have found: one interval for each τ, whatever width was asked for."""

    programs: Programs
    answers: dict[float, Interval] = field(default_factory=dict)
    counts: dict[tuple[str, float], Interval] = field(default_factory=dict)
    indices: dict[Hashable, Interval] = field(default_factory=dict)
    integers: dict[Hashable, int] = field(default_factory=dict)

    def largest_load(self) -> float:
        return self.programs.largest_load()

    def truncated(self, tau: float, width: float) -> Interval:
        known = self.answers.get(tau)
        if known is None or known.width > width:
            self.answers[tau] = self.programs.truncated(tau, width)
        return self.answers[tau]

    def withdrawals(self, tau: float, width: float, stop_above: float = float("inf")) -> Interval:
        return self._until("N", tau, width, stop_above, self.programs.withdrawals)

    def strict_withdrawals(self, tau: float, width: float, stop_above: float = float("inf")) -> Interval:
        return self._until("N_s", tau, width, stop_above, self.programs.strict_withdrawals)

    def _until(self, kind: str, tau: float, width: float, stop_above: float, solve: CountSolver) -> Interval:
        """Return what is known if it is enough; else find out, and a little more than was asked for.

        Withdrawals do not grow with τ: many at a larger τ are many here.
        """
        known = self.counts.get((kind, tau))
        if known is None:
            larger = (n.low for (name, other), n in self.counts.items() if name == kind and other > tau)
            if (many := max(larger, default=0.0)) > stop_above:
                return Interval(many, sys.float_info.max)
        if known is None or (known.width > width and known.low <= stop_above):
            more = stop_above if known is None else max(stop_above, 2 * known.low)
            self.counts[kind, tau] = solve(tau, width, more)
        return self.counts[kind, tau]

    def index(self, theta: float, beta: float, width: float) -> Interval:
        key = (theta, beta, width)
        if key not in self.indices:
            self.indices[key] = self.programs.index(theta, beta, width)
        return self.indices[key]

    def integer_index(self, theta: Fraction, beta: Fraction, factor: int) -> int:
        key = (theta, beta, factor)
        if key not in self.integers:
            self.integers[key] = self.programs.integer_index(theta, beta, factor)
        return self.integers[key]


def memoising(solver: Solver) -> Solver:
    """Return the solver whose programs remember what they have found."""

    def solve(tuples: Tuples, participants: int, prices: Prices | None = None, /) -> Memoised:
        return Memoised(solver(tuples, participants, prices))

    return solve
