"""The programs of a relation in exact arithmetic: what answers where doubles do not.

Weights are the integers that they are, τ the rational that it is. Both ends of every interval are derived
again, exactly, from the optimum that `exact_cuts` finds: the lower from its multipliers by weak duality, the
upper from its withdrawals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.exponential import at_most_exponential, exponential
from recuse.krelation.evaluate import Evaluation
from recuse.krelation.relation import Floats
from recuse.solver import limits
from recuse.solver.cuts.restriction import focus_answer, touching
from recuse.solver.exact import kelley
from recuse.solver.interval import Interval, outward

ZERO = Fraction(0)


@dataclass(frozen=True, slots=True, eq=False)
class ExactPrograms:
    """`Programs` in rationals. `loads` are doubles not below the loads at no withdrawal."""

    evaluation: Evaluation
    loads: Floats

    def truncated(self, tau: Fraction) -> Interval:
        """Return the narrowest interval of doubles that holds X(τ)."""
        movable = focus_answer(self.evaluation, self._above(tau))
        if len(movable.tuples) == 0:
            return outward(Fraction(movable.rest), Fraction(movable.rest))
        people = len(movable.people)
        evaluation = movable.evaluation()
        bounds = evaluation.prices.exact_bounds(tau)
        low, g = kelley.least_answer(kelley.Tangents.of(evaluation), bounds, Fraction(people))
        paid = sum((b * own for b, own in zip(bounds, g, strict=True)), start=ZERO)
        return outward(low + movable.rest, answer(evaluation, g) + paid + movable.rest)

    def least_answer(self, s: Fraction) -> Interval:
        """Return the narrowest interval of doubles that holds H(s)."""
        free = [ZERO] * self.evaluation.participants
        low, g = kelley.least_answer(kelley.Tangents.of(self.evaluation), free, s)
        return outward(low, answer(self.evaluation, _shrunk(g, s)))

    def withdrawals(self, tau: Fraction, strictness: int) -> Interval:
        """Return the narrowest interval of doubles that holds N(τ), or with strictness 1 N_s(τ)."""
        above = self._above(tau)
        if not above.any():
            return Interval(0.0, 0.0)
        met = touching(self.evaluation.tuples, above, self.evaluation.prices)
        evaluation = met.evaluation()
        bounds = evaluation.prices.exact_bounds(tau)
        low, g = kelley.least_withdrawal(evaluation, bounds, strictness)
        kept = all(
            load <= bound * (1 - strictness * own)
            for load, bound, own in zip(exact_loads(evaluation, g), bounds, g, strict=True)
        )
        return outward(low, sum(g, start=ZERO) if kept else Fraction(len(g)))

    def least_load(self, s: Fraction) -> Interval:
        """Return the narrowest interval of doubles that holds Γ(s)."""
        low, high = least_load(self.evaluation, s)
        return outward(low, high)

    def low_enough(self, s: Fraction, theta: Fraction, exponent: Fraction) -> bool:
        """Return whether Γ(s) ≤ θe^exponent, decided exactly: Γ(s) is rational, e^exponent not.

        Whoever is not overloaded where the right side is rounded down never will be.
        """
        floor = theta * exponential(exponent, limits.EXPONENTIAL_DIGITS)[0] if exponent else theta
        above = self._above(floor)
        if not above.any():
            return True
        met = touching(self.evaluation.tuples, above)
        low, high = least_load(Evaluation.of(met.tuples, len(met.people)), s)
        if low != high:
            raise RuntimeError("the exact optimum is not one")
        return at_most_exponential(high, theta, exponent)

    def index(self, theta: Fraction, beta: Fraction, width: float, known: Interval) -> Interval:
        """Return an interval that holds r, at most `width` wide, from one that does.

        Bisection, for Γ(s) ≤ θe^{βs} iff r ≤ s.
        """
        if self.low_enough(ZERO, theta, ZERO):
            return Interval(0.0, 0.0)
        low, high = Fraction(known.low), Fraction(self.evaluation.participants)
        high = high if math.isinf(known.high) else min(high, Fraction(known.high))
        while high - low > Fraction(width) / 2:
            middle = (low + high) / 2
            if self.low_enough(middle, theta, beta * middle):
                high = middle
            else:
                low = middle
        return outward(low, high)

    def _above(self, tau: Fraction) -> NDArray[np.bool_]:
        """Return whose load may exceed τ."""
        return self.loads > self.evaluation.prices.bounds(_double_below(tau))


def _double_below(value: Fraction) -> float:
    return outward(value, value).low


def answer(evaluation: Evaluation, g: Sequence[Fraction]) -> Fraction:
    """Return F(g), exactly."""
    kept = evaluation.kept(np.array(g, dtype=object)).tolist()
    weights = evaluation.tuples.weights.tolist()
    return sum((q * Fraction(z) for q, z in zip(weights, kept, strict=True)), start=ZERO)


def least_load(evaluation: Evaluation, s: Fraction) -> tuple[Fraction, Fraction]:
    """Return a proven lower and a proven upper end of Γ(s), which are equal."""
    low, g = kelley.least_load(evaluation, s, max(1, largest_initial_load(evaluation)))
    return low, max(exact_loads(evaluation, _shrunk(g, s)), default=ZERO)


def _shrunk(g: Sequence[Fraction], s: Fraction) -> list[Fraction]:
    """Return a withdrawal of at most s in all."""
    total = sum(g, start=ZERO)
    return [value * s / total for value in g] if total > s else list(g)


def exact_loads(evaluation: Evaluation, g: Sequence[Any]) -> list[Fraction]:
    """Return ℓ_p(g) of every participant, exactly."""
    usage = evaluation.usages(np.array(g, dtype=object)).tolist()
    weights = evaluation.tuples.weights.tolist()
    loads = [ZERO] * evaluation.participants
    entries = zip(evaluation.entry_member.tolist(), evaluation.entry_tuple.tolist(), usage, strict=True)
    for p, t, u in entries:
        loads[p] += weights[t] * Fraction(u)
    return loads


def largest_initial_load(evaluation: Evaluation) -> int:
    """Return max_p ℓ_p(0), an integer, exactly."""
    usage = evaluation.usages(np.zeros(evaluation.participants, np.int64))
    weights = evaluation.tuples.weights
    if int(weights.max(initial=0)) * int(usage.sum()) >= 2**62:
        weights, usage = weights.astype(object), usage.astype(object)
    loads = np.zeros(evaluation.participants, weights.dtype)
    np.add.at(loads, evaluation.entry_member, weights[evaluation.entry_tuple] * usage)
    return int(loads.max(initial=0))
