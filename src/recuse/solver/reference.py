"""The reference solver: every question one full linear program, solved by HiGHS, certified by itself.

Small and plain, and too slow for large relations: it judges the fast solver and stands in for it when a
gap does not close. Where doubles do not close it here either, `exact_programs` does, for every relation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

import numpy as np

from recuse.krelation.evaluate import Evaluation
from recuse.krelation.prices import Prices
from recuse.krelation.relation import Floats, Tuples
from recuse.solver import limits
from recuse.solver.attempt import attempted
from recuse.solver.bounds import down, dual_bound, log_ratio, up
from recuse.solver.certificate import Checker
from recuse.solver.exact.programs import ExactPrograms
from recuse.solver.index.integer import integer_index
from recuse.solver.interval import NOTHING, Interval
from recuse.solver.lp.extended import FullPrograms, power_of_two_near
from recuse.solver.lp.program import LinearProgram, Method, solve
from recuse.solver.lp.refinement import rational, refinements


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """`Programs` by full linear programs."""

    evaluation: Evaluation
    checker: Checker
    programs: FullPrograms
    loads: Floats
    exact: ExactPrograms

    def largest_load(self) -> float:
        """Return a double not below max_p ℓ_p(0), in units of p's price."""
        return self.evaluation.prices.least_tau(self.loads)

    def truncated(self, tau: float, width: float) -> Interval:
        """Return an interval that holds X(τ), at most `width` wide."""
        check = self.checker

        def ask() -> Interval | None:
            scale = power_of_two_near(tau)

            def high(g: Floats) -> float:
                points = (check.lowered(g), check.raised(g))
                return min(check.truncated_high(point, tau) for point in points) / scale

            scaled = self._closed(lambda: self.programs.truncated(tau), width / scale, high)
            return scaled and Interval(scaled.low * scale, scaled.high * scale)

        return attempted(ask) or self.exact.truncated(Fraction(tau))

    def least_answer(self, s: float, width: float) -> Interval:
        """Return an interval that holds H(s), at most `width` wide."""
        check, programs = self.checker, self.programs
        found = attempted(
            lambda: self._closed(
                lambda: programs.least_answer(s), width, lambda g: check.answer(check.shrunk(g, s)).high
            )
        )
        return found or self.exact.least_answer(Fraction(s))

    def withdrawals(self, tau: float, width: float, stop_above: float = math.inf) -> Interval:
        """Return an interval that holds N(τ), at most `width` wide or above `stop_above`."""
        found = self._counted(self.programs.withdrawals, self.checker.within, tau, width, stop_above)
        return found or self.exact.withdrawals(Fraction(tau), 0)

    def strict_withdrawals(self, tau: float, width: float, stop_above: float = math.inf) -> Interval:
        """Return an interval that holds N_s(τ), at most `width` wide or above `stop_above`."""
        check, programs = self.checker, self.programs
        found = self._counted(programs.strict_withdrawals, check.strictly_within, tau, width, stop_above)
        return found or self.exact.withdrawals(Fraction(tau), 1)

    def _counted(
        self,
        program: Callable[[float], LinearProgram],
        within: Callable[[Floats, float], Floats],
        tau: float,
        width: float,
        stop_above: float,
    ) -> Interval | None:
        if not (self.loads > self.evaluation.bounds(tau)).any():
            return NOTHING
        size = self.checker.size
        return attempted(
            lambda: self._closed(lambda: program(tau), width, lambda g: size(within(g, tau)), stop_above)
        )

    def least_load(self, s: float, width: float) -> Interval:
        """Return an interval that holds Γ(s), at most `width` wide."""
        check = self.checker
        if len(self.loads) == 0:
            return NOTHING

        def ask() -> Interval | None:
            scale = power_of_two_near(float(self.loads.max()))

            def high(g: Floats) -> float:
                return float(check.high_loads(check.shrunk(g, s)).max()) / scale

            scaled = self._closed(lambda: self.programs.least_load(s, scale), width / scale, high)
            return scaled and Interval(scaled.low * scale, scaled.high * scale)

        return attempted(ask) or self.exact.least_load(Fraction(s))

    def index(self, theta: float, beta: float, width: float) -> Interval:
        """Return an interval that holds r, at most `width` wide: bisection on N(θe^{βs}) = s."""
        if not (self.loads > theta).any():
            return NOTHING
        found = Interval(0.0, math.inf)

        def ask() -> Interval:
            nonlocal found
            found = Interval(0.0, up(log_ratio(float(self.loads.max()), theta).high / beta))
            for _ in range(limits.HALVINGS):
                if found.width <= width:
                    break
                tau = theta * math.exp(beta * (found.low + found.high) / 2)
                exponent = log_ratio(tau, theta)
                n = self.withdrawals(tau, width / 2)
                found = found.narrowed(
                    min(n.low, down(exponent.low / beta)), max(n.high, up(exponent.high / beta))
                )
            return found

        if attempted(ask) and found.width <= width:
            return found
        return self.exact.index(Fraction(theta), Fraction(beta), width, found)

    def integer_index(self, theta: Fraction, beta: Fraction, factor: int) -> int:
        """Return min{s = 0, 1, … : factor·Γ(s) ≤ θ e^{βs}}, decided exactly."""
        return integer_index(self, self.evaluation, theta, beta, factor)

    def _closed(
        self,
        build: Callable[[], LinearProgram],
        width: float,
        high: Callable[[Floats], float],
        stop_above: float = math.inf,
    ) -> Interval | None:
        """Return an interval for a program: its duals from below, `high` of its g from above.

        Nothing if doubles do not close it.
        """
        if len(self.evaluation.tuples) == 0:
            return NOTHING
        found = Interval(0.0, math.inf)
        for x, low in approaches(build()):
            found = found.narrowed(low, high(x[: self.evaluation.participants]))
            if found.width <= width or found.low > stop_above:
                return found
        return None


def approaches(program: LinearProgram) -> Iterator[tuple[Floats, float]]:
    """Yield points with proven lower bounds: what HiGHS finds, then, if it is large, rounds of refinement."""
    large = program.rows.shape[0] > limits.SIMPLEX_ROWS
    for method in (Method.FIRST_ORDER, Method.INTERIOR, Method.SIMPLEX) if large else (Method.SIMPLEX,):
        found = solve(program, method)
        yield found.x, dual_bound(program, found.y)
    if program.rows.shape[0] <= limits.EXACT_ROWS:
        return
    exact = rational(program)
    for x, y in islice(refinements(exact), limits.REFINEMENTS):
        yield np.array([float(value) for value in x]), down(float(exact.bound(y)))


def reference(tuples: Tuples, participants: int, prices: Prices | None = None) -> Reference:
    """Return the full linear programs of the tuples of one sign: a `Solver`."""
    evaluation = Evaluation.of(tuples, participants, prices)
    checker = Checker.of(evaluation)
    loads = checker.initial_loads()
    return Reference(evaluation, checker, FullPrograms(evaluation), loads, ExactPrograms(evaluation, loads))
