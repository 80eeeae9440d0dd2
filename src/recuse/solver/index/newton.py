"""The real index r, where N(θe^{βs}) = s: Newton's method, one master a step, cuts and τ moving together."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

import numpy as np

from recuse.krelation.relation import Floats, Tuples
from recuse.solver import limits
from recuse.solver.bounds import down, log_ratio, up
from recuse.solver.certificate import Checker
from recuse.solver.cuts.counts import CutStep, forecast
from recuse.solver.interval import Interval


class Stepping(Protocol):
    """A program of N that serves every τ, one step at a time: `LoadCuts`, `CommonWithdrawal` or `Whole`."""

    @property
    def checker(self) -> Checker:
        """The checker of the relation whose loads are looked at: all others are at most τ to begin with."""

    def step(self, tau: float) -> CutStep | None:
        """Return the optimum at τ, as far as it is known; nothing if HiGHS gives up."""

    def cut(self, step: CutStep) -> bool:
        """Cut the step's point off; return whether anything was wrong with it."""

    def insist(self) -> bool:
        """Ask for exact optima from now on; return whether that changes anything."""

    def unfit(self) -> bool:
        """Return whether the last proof calls for variables that the master does not have."""

    def lower(self, step: CutStep) -> Callable[[float], float]:
        """Return a lower end of N(τ) for every τ, proven from the step's duals."""


def first_guess(loads: Floats, tuples: Tuples, theta: float, beta: float) -> float:
    """Return a plausible r: N(τ) is about Σ_p (1 - τ/ℓ_p)⁺ over the mean length of a clause."""
    heavy = np.sort(loads[loads > theta])[::-1]
    size = len(tuples.members) / max(1, len(tuples.clauses) - 1)
    count = np.arange(1, len(heavy) + 1)
    inverse = np.cumsum(1.0 / heavy)

    def excess(s: float) -> float:
        tau = theta * math.exp(beta * s)
        over = int(np.searchsorted(-heavy, -tau))
        return 0.0 if over == 0 else (count[over - 1] - tau * inverse[over - 1]) / size

    highest = math.log(heavy[0] / theta) / beta
    below = highest * (1 - 2.0**-20)  # at the largest load itself nobody is overloaded, and there is no cut
    return min(below, _crossing(excess, 0.0, highest) + limits.NEWTON_CAUTION / beta)


def real_index(
    descent_at: Callable[[float], Stepping],
    start: float,
    largest: float,
    theta: float,
    beta: float,
    width: float,
) -> Interval | None:
    """Return an interval that holds r, at most `width` wide; nothing if it does not close.

    Every master gives a line below N, whose crossing with s is a lower end; every g gives an upper end.
    """
    found = Interval(0.0, up(log_ratio(largest, theta).high / beta))
    s = start
    for _ in range(limits.NEWTON_STEPS):
        tau = theta * math.exp(beta * s)
        descent = descent_at(tau)
        step = descent.step(tau)
        if step is None:
            return None
        low = _line_crossing(step, theta, beta, found.high)
        closing = min(max(forecast(step), s), _about(step, s, theta, beta)) - low <= width
        if closing:
            found = found.narrowed(
                _below(descent, step, low, theta, beta), _above(descent.checker, step, theta, beta)
            )
            if found.width > width:
                high = descent.checker.size(descent.checker.within(step.g, tau))
                found = found.narrowed(0.0, max(high, up(log_ratio(tau, theta).high / beta)))
            if found.width <= width:
                return found
        if descent.unfit() or not (descent.cut(step) or not closing or descent.insist()):
            return None
        s = min(max(_forecast(step, s, beta), low, s - limits.NEWTON_LONGEST_STEP / beta), found.high)
    return None


def _below(descent: Stepping, step: CutStep, s: float, theta: float, beta: float) -> float:
    """Return a lower end for r near s: where N is proven to be at least that much.

    What the proof lacks at s it does not lack a little below, where N is larger.
    """
    found, lower = 0.0, descent.lower(step)
    for _ in range(2):
        level = theta * math.exp(beta * s)
        proven, exponent = lower(level), down(log_ratio(level, theta).low / beta)
        found = max(found, min(proven, exponent))
        if proven >= exponent:
            break
        s = max(0.0, s - (s - proven) / (1 + step.rate * beta * level))
    return found


def _above(check: Checker, step: CutStep, theta: float, beta: float) -> float:
    """Return an upper end for r from the step's g as it is: max(|g|, ln(M/θ)/β), M not below any load."""
    most = max(step.tau, float(check.high_loads(step.g).max()))
    return max(check.size(step.g), up(log_ratio(most, theta).high / beta))


def _about(step: CutStep, s: float, theta: float, beta: float) -> float:
    """Return about what `_above` will be."""
    return max(float(step.g.sum()), s, math.log(float(step.slopes.sums.max()) / theta) / beta)


def _line_crossing(step: CutStep, theta: float, beta: float, highest: float) -> float:
    """Return where the line that the step's duals put below N crosses s: not above r."""
    return _crossing(lambda s: step.value + step.rate * (step.tau - theta * math.exp(beta * s)), 0.0, highest)


def _forecast(step: CutStep, s: float, beta: float) -> float:
    """Return where N would cross s if it went on as the power of τ that it is here."""
    if step.value <= 0.0:
        return s - limits.NEWTON_LONGEST_STEP / beta
    elasticity = step.rate * step.tau / step.value
    return _crossing(
        lambda at: step.value * math.exp(min(50.0, -elasticity * beta * (at - s))), 0.0, 2 * s + step.value
    )


def _crossing(falling: Callable[[float], float], low: float, high: float) -> float:
    """Return s in [low, high] with falling(s) ≈ s, from below."""
    for _ in range(60):
        middle = (low + high) / 2
        if falling(middle) > middle:
            low = middle
        else:
            high = middle
    return low
