"""The fast solver: cutting planes over g, certified; the reference solver where a gap does not close.

Only overloaded participants and the tuples that touch them are ever looked at, symmetric participants are one
variable, cuts serve every τ, and a question is left as soon as a proven bound decides it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from recuse.krelation.evaluate import Evaluation
from recuse.krelation.relation import Floats, Tuples
from recuse.solver import alternatives
from recuse.solver.alternatives import has_alternatives
from recuse.solver.answers import Truncation
from recuse.solver.attempt import attempted
from recuse.solver.certificate import Checker
from recuse.solver.descent import Descent
from recuse.solver.focus import Focus, focus_answer, focus_loads, touching
from recuse.solver.integer_index import integer_index
from recuse.solver.interval import Interval, enclosed
from recuse.solver.linear import Method, patience
from recuse.solver.loads import Workshop
from recuse.solver.master import Tally
from recuse.solver.reference import NOTHING, Reference, reference
from recuse.solver.root import first_guess, real_index
from recuse.solver.sharing import shared_index

MARGIN = 0.88
"""A focus reaches this far below the τ it was made for, so that a next question may share it."""
FEW, FEW_AT_ALL = 64, 250_000
"""Tuples a participant, and in all, below which X is sooner found with the tuples left in the program."""
SPARSE = 5
"""Tuples a participant below which the interior-point method solves a program with the tuples left in it."""
CROWD, ENTRIES = 400, 5_000_000
"""Participants from which cuts are slow, and members of tuples up to which a first-order method is not."""
AHEAD, WORK = 1000, 1e9
"""Its iterations, and entries passed over in them, when it looks ahead for N_s: a few per cent of the count,
where cuts may take minutes for the first of them."""
AT_FIRST = 2
"""Rounds of cuts before any of that: most levels of a noisy maximum have lost by then."""
INVITATIONS = 8
"""How often a focus is widened before the reference solver takes over."""


@dataclass(slots=True, eq=False)
class Cutting:
    """`Programs` by cutting planes."""

    evaluation: Evaluation
    loads: Floats
    invited: NDArray[np.bool_]
    tally: Tally = field(default_factory=Tally)
    plain: Descent | None = None
    active: Descent | None = None
    reach: float = math.inf

    def largest_load(self) -> float:
        """Return a double not below max_p ℓ_p(0)."""
        return float(self.loads.max(initial=0.0))

    def truncated(self, tau: float, width: float) -> Interval:
        """Return an interval that holds X(τ), at most `width` wide."""
        if not self.largest_load() > tau:
            return enclosed(self.evaluation.tuples.total())
        movable = focus_answer(self.evaluation, self.loads > tau)
        if len(movable.tuples) == 0:
            return enclosed(movable.rest)
        routes: list[Callable[[], Interval | None]] = []
        if methods := _methods(movable):
            routes.append(lambda: alternatives.truncated(movable, tau, width, methods))
        if not has_alternatives(movable.tuples):
            routes.append(lambda: Truncation.of(movable, tau, self.tally).interval(width))
        found = next((interval for route in routes if (interval := attempted(route))), None)
        return found or self._reference().truncated(tau, width)

    def withdrawals(self, tau: float, width: float, enough: float = math.inf) -> Interval:
        """Return an interval that holds N(τ), at most `width` wide or above `enough`."""
        if not self.largest_load() > tau:
            return NOTHING
        found = self._tried(lambda: self._descent(tau).interval(tau, width, enough))
        return found or self._reference().withdrawals(tau, width, enough)

    def strict_withdrawals(self, tau: float, width: float, enough: float = math.inf) -> Interval:
        """Return an interval that holds N_s(τ), at most `width` wide or above `enough`."""
        if not self.largest_load() > tau:
            return NOTHING
        found = self._tried(lambda: self._strict(tau).interval(tau, width, enough, AT_FIRST))
        found = found or self._whole(tau, width, enough)
        found = found or self._tried(lambda: self._strict(tau).interval(tau, width, enough))
        return found or self._reference().strict_withdrawals(tau, width, enough)

    def index(self, theta: float, beta: float, width: float) -> Interval:
        """Return an interval that holds r, at most `width` wide."""
        if not self.largest_load() > theta:
            return NOTHING
        if len(self.evaluation.tuples.levels) > 2:
            found = attempted(
                lambda: shared_index(self.evaluation, self.loads, theta, beta, width, self.tally)
            )
        else:
            found = self._tried(lambda: self._newton(theta, beta, width))
        return found or self._reference().index(theta, beta, width)

    def integer_index(self, theta: Fraction, beta: Fraction, factor: int) -> int:
        """Return min{s = 0, 1, … : factor·Γ(s) ≤ θ e^{βs}}, decided exactly."""
        return integer_index(self, self.evaluation, theta, beta, factor)

    def _newton(self, theta: float, beta: float, width: float) -> Interval | None:
        """Return an interval that holds r, at most `width` wide; nothing if it does not close."""
        start = first_guess(self.loads, self.evaluation.tuples, theta, beta)
        return real_index(self._descent, start, self.largest_load(), theta, beta, width)

    def _whole(self, tau: float, width: float, enough: float) -> Interval | None:
        """Return an interval that holds N_s(τ) from a program of whole tuples, where cuts would be slower.

        The interior-point method solves it where few tuples meet. Where many participants are overloaded, a
        first-order method soon tells about how many would have to withdraw, which may be all that is asked.
        """
        tuples, overloaded = self.evaluation.tuples, self.loads > tau
        if has_alternatives(tuples) or len(tuples.levels) > 2 or len(tuples.members) > ENTRIES:
            return None
        met = touching(tuples, overloaded)
        few = len(tuples) <= FEW_AT_ALL and len(met.tuples) <= SPARSE * len(met.people)
        if not few and overloaded.sum() < CROWD:
            return None
        ahead = min(AHEAD, patience(len(met.tuples.members), WORK))
        method = Method.INTERIOR if few else Method.FIRST_ORDER
        found = attempted(lambda: alternatives.strict_withdrawals(met, tau, method, ahead))
        return found if found and (found.width <= width or found.low > enough) else None

    def _tried(self, ask: Callable[[], Interval | None]) -> Interval | None:
        """Return what `ask` finds, with more participants in focus whenever a proof calls for them."""
        for _ in range(INVITATIONS):
            found = attempted(ask)
            if found is not None or self.active is None or len(self.active.outsiders) == 0:
                return found
            self.invited[self.active.outsiders] = True
            self.plain = self.active = None
        return None

    def _descent(self, tau: float) -> Descent:
        """Return the descent of N in a focus that holds everybody overloaded at τ."""
        if self.plain is None or tau < self.reach:
            self.reach = tau * MARGIN
            chosen = (self.loads > self.reach) | self.invited
            self.plain = Descent.plain(Workshop.of(focus_loads(self.evaluation, chosen)), self.tally)
        self.active = self.plain
        return self.plain

    def _strict(self, tau: float) -> Descent:
        """Return a descent of N_s that begins with the cuts of N."""
        self.active = Descent.strict(self._descent(tau).shop, self.tally)
        return self.active

    def _reference(self) -> Reference:
        return reference(self.evaluation.tuples, self.evaluation.participants)


def _methods(movable: Focus) -> Sequence[Method]:
    """Return how X is to be found with the tuples left in the program, if it is."""
    tuples, people = movable.tuples, len(movable.people)
    if has_alternatives(tuples) or len(tuples) < min(FEW * people, FEW_AT_ALL):
        return alternatives.METHODS
    return alternatives.METHODS[:1] if people >= CROWD and len(tuples.members) <= ENTRIES else ()


def cutting(tuples: Tuples, participants: int) -> Cutting:
    """Return the programs of the tuples of one sign: a `Solver`."""
    evaluation = Evaluation.of(tuples, participants)
    return Cutting(evaluation, Checker.of(evaluation).initial_loads(), np.zeros(participants, bool))
