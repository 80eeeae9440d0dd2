"""Programs of people who share nothing and whose loads stay in an engine, in closed form.

X(τ) = Σ min(L, τ),   N(τ) = Σ (1 - τ/L)⁺,   N_s(τ) = #{L > τ}.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from recuse.solver.interval import NOTHING, Interval, enclosed, outward
from recuse.solver.kept.loads import KeptLoads, whole
from recuse.solver.kept.tuples import KeptTuples
from recuse.solver.programs import Programs

MOST_BITS = 126
"""of a whole number in an engine"""


@dataclass(frozen=True, slots=True, eq=False)
class KeptSeparate:
    """`Programs` of rows with one owner each; an index is asked of a solver."""

    tuples: KeptTuples
    solved: Callable[[], Programs]

    def largest_load(self) -> float:
        return KeptLoads(self.tuples).largest()

    def truncated(self, tau: float, width: float) -> Interval:  # noqa: ARG002 - as narrow as doubles are
        if not self.largest_load() > tau:
            return enclosed(self.tuples.total)
        over, above = self._above(tau)
        exact = self.tuples.total - above + over * Fraction(tau)
        return outward(exact, exact)

    def withdrawals(self, tau: float, width: float, stop_above: float = math.inf) -> Interval:
        if not self.largest_load() > tau:
            return NOTHING
        found = self._shares(tau)
        if found.width <= width or found.low > stop_above:
            return found
        return self.solved().withdrawals(tau, width, stop_above)

    def strict_withdrawals(self, tau: float, width: float, stop_above: float = math.inf) -> Interval:  # noqa: ARG002
        over, _ = self._above(tau)
        return enclosed(over)

    def index(self, theta: float, beta: float, width: float) -> Interval:
        return self.solved().index(theta, beta, width)

    def integer_index(self, theta: Fraction, beta: Fraction, factor: int) -> int:
        return self.solved().integer_index(theta, beta, factor)

    def _above(self, tau: float) -> tuple[int, int]:
        """Return how many loads are above τ, and their sum."""
        count, total = self.tuples.line(
            f"SELECT COUNT(*), SUM(load) FROM {self.tuples.loads} AS l WHERE load > {whole(tau)}"
        )
        return count, total

    def _shares(self, tau: float) -> Interval:
        """Return an interval that holds Σ (1 - τ/L)⁺: quotients of whole numbers are rounded down in the
        engine, each by less than one unit of 2^-bits.
        """
        bits = max(0, min(60, MOST_BITS - 1 - max(0, math.frexp(tau)[1])))
        scaled = math.floor(Fraction(tau) * 2**bits)
        spelling = self.tuples.warehouse.spelling
        share = spelling.quotient(spelling.wide(str(scaled)), spelling.wide("load"))
        count, parts = self.tuples.line(
            f"SELECT COUNT(*), SUM({share}) FROM {self.tuples.loads} AS l WHERE load > {whole(tau)}"
        )
        unit = Fraction(1, 2**bits)
        return outward(max(Fraction(0), count - (parts + 2 * count) * unit), count - parts * unit)
