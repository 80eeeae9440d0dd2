"""The reference solver: every question one full linear program, solved by HiGHS, certified by itself.

Small and plain, and too slow for large relations: it judges the fast solver and stands in for it when a
gap does not close.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

import numpy as np

from recuse.krelation.evaluate import Evaluation
from recuse.krelation.relation import Floats, Tuples
from recuse.solver.certificate import Checker, down, dual_bound, log_ratio, up
from recuse.solver.full import FullPrograms, power_of_two_near
from recuse.solver.integer_index import integer_index
from recuse.solver.interval import Interval
from recuse.solver.linear import LinearProgram, Method, solve
from recuse.solver.refine import ExactProgram, refinements

NOTHING = Interval(0.0, 0.0)
ROUNDS = 8
"""Rounds of exact refinement before giving up; each gains about twenty bits."""
LARGE = 50_000
"""Rows above which less exact methods are tried before the simplex method."""


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """`Programs` by full linear programs."""

    evaluation: Evaluation
    checker: Checker
    programs: FullPrograms
    loads: Floats

    def largest_load(self) -> float:
        """Return a double not below max_p ℓ_p(0)."""
        return float(self.loads.max(initial=0.0))

    def truncated(self, tau: float, width: float) -> Interval:
        """Return an interval that holds X(τ), at most `width` wide."""
        check, scale = self.checker, power_of_two_near(tau)

        def high(g: Floats) -> float:
            points = (check.lowered(g), check.raised(g))
            return min(check.truncated_high(point, tau) for point in points) / scale

        scaled = self._closed(self.programs.truncated, tau, width / scale, high)
        return Interval(scaled.low * scale, scaled.high * scale)

    def least_answer(self, s: float, width: float) -> Interval:
        """Return an interval that holds H(s), at most `width` wide."""
        check = self.checker
        return self._closed(
            self.programs.least_answer, s, width, lambda g: check.answer(check.shrunk(g, s)).high
        )

    def withdrawals(self, tau: float, width: float, enough: float = math.inf) -> Interval:
        """Return an interval that holds N(τ), at most `width` wide or above `enough`."""
        check = self.checker
        if not (self.loads > tau).any():
            return NOTHING
        return self._closed(
            self.programs.withdrawals, tau, width, lambda g: check.size(check.within(g, tau)), enough
        )

    def strict_withdrawals(self, tau: float, width: float, enough: float = math.inf) -> Interval:
        """Return an interval that holds N_s(τ), at most `width` wide or above `enough`."""
        check = self.checker
        if not (self.loads > tau).any():
            return NOTHING
        return self._closed(
            self.programs.strict_withdrawals,
            tau,
            width,
            lambda g: check.size(check.strictly_within(g, tau)),
            enough,
        )

    def least_load(self, s: float, width: float) -> Interval:
        """Return an interval that holds Γ(s), at most `width` wide."""
        check = self.checker
        if len(self.loads) == 0:
            return NOTHING
        scale = power_of_two_near(float(self.loads.max()))

        def high(g: Floats) -> float:
            return float(check.high_loads(check.shrunk(g, s)).max()) / scale

        scaled = self._closed(lambda s: self.programs.least_load(s, scale), s, width / scale, high)
        return Interval(scaled.low * scale, scaled.high * scale)

    def index(self, theta: float, beta: float, width: float) -> Interval:
        """Return an interval that holds r, at most `width` wide: bisection on N(θe^{βs}) = s."""
        if not (self.loads > theta).any():
            return NOTHING
        found = Interval(0.0, up(log_ratio(float(self.loads.max()), theta).high / beta))
        while found.width > width:
            tau = theta * math.exp(beta * (found.low + found.high) / 2)
            exponent = log_ratio(tau, theta)
            n = self.withdrawals(tau, width / 2)
            found = found.narrowed(
                min(n.low, down(exponent.low / beta)), max(n.high, up(exponent.high / beta))
            )
        return found

    def integer_index(self, theta: Fraction, beta: Fraction, factor: int) -> int:
        """Return min{s = 0, 1, … : factor·Γ(s) ≤ θ e^{βs}}, decided exactly."""
        return integer_index(self, self.evaluation, theta, beta, factor)

    def _closed(
        self,
        build: Callable[[float], LinearProgram],
        parameter: float,
        width: float,
        high: Callable[[Floats], float],
        enough: float = math.inf,
    ) -> Interval:
        """Return an interval for a program: its duals from below, `high` of its g from above."""
        if len(self.evaluation.tuples) == 0:
            return NOTHING
        found = Interval(0.0, math.inf)
        for x, low in approaches(build(parameter)):
            found = found.narrowed(low, high(x[: self.evaluation.participants]))
            if found.width <= width or found.low > enough:
                return found
        raise RuntimeError("the linear program could not be solved to the width asked for")


def approaches(program: LinearProgram) -> Iterator[tuple[Floats, float]]:
    """Yield points with proven lower bounds: what HiGHS finds, then rounds of exact refinement."""
    large = program.rows.shape[0] > LARGE
    for method in (Method.FIRST_ORDER, Method.INTERIOR, Method.SIMPLEX) if large else (Method.SIMPLEX,):
        found = solve(program, method)
        yield found.x, dual_bound(program, found.y)
    exact = ExactProgram.of(program)
    for x, y in islice(refinements(exact), ROUNDS):
        yield np.array([float(value) for value in x]), down(float(exact.bound(y)))


def reference(tuples: Tuples, participants: int) -> Reference:
    """Return the full linear programs of the tuples of one sign: a `Solver`."""
    evaluation = Evaluation.of(tuples, participants)
    checker = Checker.of(evaluation)
    return Reference(evaluation, checker, FullPrograms(evaluation), checker.initial_loads())
