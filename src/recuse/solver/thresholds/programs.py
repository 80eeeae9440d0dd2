"""The programs of tuples with thresholds: X(τ), which is all that the deficit asks for.

X(τ)   1. τ from where nobody can take anything away: the exact sum, no program
       2. flat thresholds: a small program by an interior point of its own (`active_set`, `interior`)
       3. the program, small or full: if it is large, by PDLP at two gaps; unless it is small, by an interior
          point; then by the simplex method, and, if it is large, iterative refinement
       4. Kelley's cuts in rationals
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from recuse.krelation.relation import Floats, Tuples
from recuse.krelation.thresholds import ThresholdEvaluation
from recuse.solver import limits
from recuse.solver.attempt import attempted, tolerated
from recuse.solver.bounds import down, dual_bound
from recuse.solver.interval import Interval, enclosed, outward
from recuse.solver.lp.extended import power_of_two_near, truncated_program
from recuse.solver.lp.program import LinearProgram, Method, patience, solve
from recuse.solver.programs import TruncationPrograms
from recuse.solver.reference import approaches
from recuse.solver.thresholds.active_set import active_set
from recuse.solver.thresholds.certificate import ThresholdChecker, largest_load
from recuse.solver.thresholds.exact import exact_load, exact_truncated
from recuse.solver.thresholds.flat import Flat

Suggestions: TypeAlias = Iterator[tuple[Floats, float]]
"""withdrawals with lower bounds, in the unit of a program, that are proven"""
Route: TypeAlias = Callable[[Tuples, int, float, float], Suggestions]
"""ways to find X(τ) of tuples over so many participants, given τ and the width that is asked for"""


@dataclass(frozen=True, slots=True, eq=False)
class ThresholdPrograms:
    """`TruncationPrograms` of thresholds, by one route and, where it does not close, by the last resort."""

    evaluation: ThresholdEvaluation
    checker: ThresholdChecker
    load: float
    route: Route

    def largest_load(self) -> float:
        """Return a τ from which X(τ) is the true answer."""
        return self.load

    def truncated(self, tau: float, width: float) -> Interval:
        """Return an interval that holds X(τ), at most `width` wide.

        Guarantee: both ends are proven (proofs.md, contract S and theorem Q3), whatever the route does.
        """
        tuples, people = self.evaluation.tuples, self.evaluation.participants
        if not self.load > tau:
            return enclosed(tuples.total())
        for found in tolerated(self._intervals(tau, width)):
            if found.width <= width:
                return found
        return exact_truncated(tuples, people, Fraction(tau))

    def _intervals(self, tau: float, width: float) -> Iterator[Interval]:
        """Yield narrower and narrower intervals that hold X(τ)."""
        tuples, people = self.evaluation.tuples, self.evaluation.participants
        found, unit = Interval(0.0, enclosed(tuples.total()).high), power_of_two_near(tau)
        for g, low in self.route(tuples, people, tau, width):
            found = found.narrowed(down(unit * low), self.checker.truncated_high(g, tau))
            yield found


def quick(tuples: Tuples, people: int, tau: float, width: float) -> Suggestions:
    """Yield what methods find that need few digits, then what the reference finds."""
    flat = attempted(lambda: Flat.of(tuples, people, tau))
    if flat is None:
        program = truncated_program(tuples, people, tau)
    else:
        program = flat.program()
        yield from tolerated(active_set(flat, program, width / power_of_two_near(tau)))
    rows = program.rows.shape[0]
    gap = width / max(min(enclosed(tuples.total()).high, tau * people), width)
    if rows > limits.FEW_THRESHOLD_ROWS:
        iterations = patience(program.rows.nnz, limits.WHOLE_TUPLES_WORK)
        for part in limits.WHOLE_TUPLES_GAPS:
            found = solve(program, Method.FIRST_ORDER, iterations, part * gap)
            yield found.x[:people], dual_bound(program, found.y)
            if found.stopped:
                break
    if rows > limits.FEWEST_THRESHOLD_ROWS:
        found = solve(program, Method.INTERIOR)
        yield found.x[:people], dual_bound(program, found.y)
    yield from _thoroughly(program, people)


def thorough(tuples: Tuples, people: int, tau: float, _: float) -> Suggestions:
    """Yield what the simplex method finds, then, if it is large, rounds of refinement."""
    yield from _thoroughly(truncated_program(tuples, people, tau), people)


def _thoroughly(program: LinearProgram, people: int) -> Suggestions:
    return ((x[:people], low) for x, low in approaches(program))


def threshold_programs(tuples: Tuples, participants: int) -> TruncationPrograms:
    """Return the programs of the tuples of one sign."""
    return _programs(tuples, participants, quick)


def threshold_reference(tuples: Tuples, participants: int) -> TruncationPrograms:
    """Return the same by the simplex method: the judge of the quick ones."""
    return _programs(tuples, participants, thorough)


def _programs(tuples: Tuples, participants: int, route: Route) -> ThresholdPrograms:
    evaluation = ThresholdEvaluation.of(tuples, participants)
    load = attempted(lambda: largest_load(evaluation))
    if load is None:  # without it there would be a program for every level
        exact = exact_load(tuples, participants)
        load = outward(exact, exact).high
    return ThresholdPrograms(evaluation, ThresholdChecker.of(evaluation), load, route)
