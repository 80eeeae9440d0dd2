"""The fast solver: cutting planes over g, certified; the reference solver where a gap does not close.

Only overloaded participants and the tuples that touch them are ever looked at, symmetric participants are one
variable, cuts serve every τ, and a question is left as soon as a proven bound decides it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from recuse.krelation.prices import Prices
from recuse.krelation.relation import Integers, Tuples
from recuse.solver import limits
from recuse.solver.attempt import attempted
from recuse.solver.cuts.counts import LoadCuts
from recuse.solver.cuts.pool import CutPool
from recuse.solver.cuts.restriction import Focus, touching
from recuse.solver.cuts.truncation import Truncation
from recuse.solver.index.common_withdrawal import shared_index
from recuse.solver.index.integer import integer_index
from recuse.solver.index.newton import first_guess, real_index
from recuse.solver.index.secant import secant_index
from recuse.solver.interval import NOTHING, Interval, enclosed
from recuse.solver.lp import whole_tuples
from recuse.solver.lp.master import Tally
from recuse.solver.lp.program import Method
from recuse.solver.lp.whole_tuples import has_alternatives
from recuse.solver.reference import Reference, reference
from recuse.solver.source import InMemory, TupleSource


@dataclass(slots=True, eq=False)
class FastPrograms:
    """`Programs` by cutting planes."""

    source: TupleSource
    invited: list[Integers] = field(default_factory=list)
    """whom proofs called for"""
    tally: Tally = field(default_factory=Tally)
    plain: LoadCuts | None = None
    active: LoadCuts | None = None
    reach: float = math.inf

    def largest_load(self) -> float:
        """Return a double not below max_p ℓ_p(0), in units of p's price."""
        return self.source.largest_load()

    def truncated(self, tau: float, width: float) -> Interval:
        """Return an interval that holds X(τ), at most `width` wide."""
        if not self.largest_load() > tau:
            return enclosed(self.source.total())
        movable = self.source.movable(tau)
        if len(movable.tuples) == 0:
            return enclosed(movable.rest)
        routes: list[Callable[[], Interval | None]] = []
        if methods := _methods(movable):
            routes.append(lambda: whole_tuples.truncated(movable, tau, width, methods))
        if not has_alternatives(movable.tuples):
            routes.append(lambda: Truncation.of(movable, tau, self.tally).interval(width))
        found = next((interval for route in routes if (interval := attempted(route))), None)
        return found or self._reference().truncated(tau, width)

    def withdrawals(self, tau: float, width: float, stop_above: float = math.inf) -> Interval:
        """Return an interval that holds N(τ), at most `width` wide or above `stop_above`."""
        if not self.largest_load() > tau:
            return NOTHING
        found = self._tried(lambda: self._load_cuts(tau).interval(tau, width, stop_above))
        return found or self._reference().withdrawals(tau, width, stop_above)

    def strict_withdrawals(self, tau: float, width: float, stop_above: float = math.inf) -> Interval:
        """Return an interval that holds N_s(τ), at most `width` wide or above `stop_above`."""
        if not self.largest_load() > tau:
            return NOTHING
        overloaded = self.source.overloaded(tau)
        soon = overloaded <= limits.FEW_OVERLOADED and len(self.source) >= limits.MANY_TUPLES
        rounds = limits.COUNT_ROUNDS if soon else limits.ROUNDS_AT_FIRST
        found = None
        if not _seen_at_once(overloaded, len(self.source), width):
            found = self._tried(lambda: self._strict(tau).interval(tau, width, stop_above, rounds))
        found = found or self._whole(tau, width, stop_above)
        found = found or self._tried(lambda: self._strict(tau).interval(tau, width, stop_above))
        return found or self._reference().strict_withdrawals(tau, width, stop_above)

    def index(self, theta: float, beta: float, width: float) -> Interval:
        """Return an interval that holds r, at most `width` wide."""
        if not self.largest_load() > theta:
            return NOTHING
        memory = self.source.everything()
        if len(memory.evaluation.tuples.levels) > 2:
            found = attempted(
                lambda: shared_index(memory.evaluation, memory.loads, theta, beta, width, self.tally)
            )
        else:
            found = self._tried(lambda: self._newton(theta, beta, width))
        return found or self._reference().index(theta, beta, width)

    def integer_index(self, theta: Fraction, beta: Fraction, factor: int) -> int:
        """Return min{s = 0, 1, … : factor·Γ(s) ≤ θ e^{βs}}, decided exactly."""
        return integer_index(self, self.source.everything().evaluation, theta, beta, factor)

    def _newton(self, theta: float, beta: float, width: float) -> Interval | None:
        """Return an interval that holds r, at most `width` wide; nothing if it does not close."""
        memory = self.source.everything()
        tuples, prices = memory.evaluation.tuples, memory.evaluation.prices
        start = first_guess(memory.loads, tuples, theta, beta)
        crowd = memory.overloaded(theta * math.exp(beta * start))
        meets = len(tuples.members) > limits.MEETING * memory.evaluation.participants
        if meets and not has_alternatives(tuples) and _seen_at_once(crowd, len(tuples), width):

            def count(tau: float) -> Interval:
                met = touching(tuples, memory.above(tau), prices)
                return whole_tuples.glimpsed(whole_tuples.withdrawals, met, tau, width / 2, math.inf)

            found = secant_index(count, start, self.largest_load(), theta, beta, width)
            if found is not None:
                return found
        return real_index(self._load_cuts, start, self.largest_load(), theta, beta, width)

    def _whole(self, tau: float, width: float, stop_above: float) -> Interval | None:
        """Return an interval that holds N_s(τ) from a program of whole tuples, where cuts would be slower.

        The interior-point method solves it where few tuples meet. Where many participants are overloaded, a
        first-order method soon tells about how many would have to withdraw, which may be all that is asked;
        if it is not, how far it came says whether another look would do.
        """
        memory = self.source.listed()
        if memory is None:
            return None
        tuples, overloaded = memory.evaluation.tuples, memory.above(tau)
        if (
            has_alternatives(tuples)
            or len(tuples.levels) > 2
            or len(tuples.members) > limits.FIRST_ORDER_MEMBERS
        ):
            return None
        met = touching(tuples, overloaded, memory.evaluation.prices)
        few = len(tuples) <= limits.FEW_TUPLES and len(met.tuples) <= limits.SPARSE_TUPLES_EACH * len(
            met.people
        )
        if not few and overloaded.sum() < limits.CROWD:
            return None
        if few:
            found = attempted(lambda: whole_tuples.strict_withdrawals(met, tau, Method.INTERIOR))
        else:
            look = whole_tuples.strict_withdrawals
            found = attempted(lambda: whole_tuples.glimpsed(look, met, tau, width, stop_above))
        return found if found and (found.width <= width or found.low > stop_above) else None

    def _tried(self, ask: Callable[[], Interval | None]) -> Interval | None:
        """Return what `ask` finds, with more participants in focus whenever a proof calls for them."""
        for _ in range(limits.FOCUS_WIDENINGS):
            found = attempted(ask)
            if found is not None or self.active is None or len(self.active.outsiders) == 0:
                return found
            self.invited.append(self.active.outsiders)
            self.plain = self.active = None
        return None

    def _load_cuts(self, tau: float) -> LoadCuts:
        """Return the descent of N in a focus that holds everybody overloaded at τ."""
        if self.plain is None or tau < self.reach:
            self.reach = tau * limits.FOCUS_MARGIN
            focus = self.source.focus(self.reach, self.invited)
            self.plain = LoadCuts.plain(CutPool.of(focus), self.tally)
        self.active = self.plain
        return self.plain

    def _strict(self, tau: float) -> LoadCuts:
        """Return a descent of N_s that begins with the cuts of N."""
        self.active = LoadCuts.strict(self._load_cuts(tau).pool, self.tally)
        return self.active

    def _reference(self) -> Reference:
        evaluation = self.source.everything().evaluation
        return reference(evaluation.tuples, evaluation.participants, evaluation.prices)


def _seen_at_once(overloaded: int, tuples: int, width: float) -> bool:
    """Return whether a first-order method sees a count of a crowd closely enough before cuts begin to."""
    crowd = overloaded >= limits.CROWD and tuples <= limits.QUICK_TUPLES
    return crowd and width >= limits.SEEN_AT_ONCE * overloaded


def _methods(movable: Focus) -> Sequence[Method]:
    """Return how X is to be found with the tuples left in the program, if it is."""
    tuples, people = movable.tuples, len(movable.people)
    if has_alternatives(tuples) or len(tuples) < min(limits.FEW_TUPLES_EACH * people, limits.FEW_TUPLES):
        return whole_tuples.METHODS
    return (
        whole_tuples.METHODS[:1]
        if people >= limits.CROWD and len(tuples.members) <= limits.FIRST_ORDER_MEMBERS
        else ()
    )


def fast_programs(tuples: Tuples, participants: int, prices: Prices | None = None) -> FastPrograms:
    """Return the programs of the tuples of one sign: a `Solver`."""
    return FastPrograms(InMemory.of(tuples, participants, prices))
