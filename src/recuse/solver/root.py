"""The real index r, where N(θe^{βs}) = s: Newton's method, one master a step, cuts and τ moving together."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from recuse.krelation.relation import Floats, Tuples
from recuse.solver.certificate import down, log_ratio, up
from recuse.solver.descent import Descent, Step
from recuse.solver.interval import Interval

STEPS = 80
LONGEST_STEP = 0.7
"""How far ln τ may move at once: a τ that is far too small costs more than several that are not."""


CAUTION = 0.07
"""How far ln τ starts above the guess: fewer are overloaded there, so that an error costs less."""


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
    return min(below, _crossing(excess, 0.0, highest) + CAUTION / beta)


def real_index(
    descent_at: Callable[[float], Descent],
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
    for _ in range(STEPS):
        tau = theta * math.exp(beta * s)
        descent = descent_at(tau)
        step = descent.step(tau)
        if step is None:
            return None
        low = _line_crossing(step, theta, beta, found.high)
        closing = min(max(descent.forecast(step), s), _about(step, s, theta, beta)) - low <= width
        if closing:
            level = theta * math.exp(beta * low)
            proven = min(descent.low(step, level), down(log_ratio(level, theta).low / beta))
            found = found.narrowed(proven, _above(descent, step, theta, beta))
            if found.width > width:
                found = found.narrowed(proven, max(descent.high(step), up(log_ratio(tau, theta).high / beta)))
            if found.width <= width:
                return found
        if len(descent.outsiders) or not (descent.cut(step) or not closing or descent.master.insist()):
            return None
        s = min(max(_forecast(step, s, beta), low, s - LONGEST_STEP / beta), found.high)
    return None


def _above(descent: Descent, step: Step, theta: float, beta: float) -> float:
    """Return an upper end for r from the step's g as it is: max(|g|, ln(M/θ)/β), M not below any load at g.

    Whoever is not in focus has a load of at most τ to begin with.
    """
    check = descent.shop.checker
    most = max(step.tau, float(check.high_loads(step.g).max()))
    return max(check.size(step.g), up(log_ratio(most, theta).high / beta))


def _about(step: Step, s: float, theta: float, beta: float) -> float:
    """Return about what `_above` will be."""
    return max(float(step.g.sum()), s, math.log(float(step.slopes.sums.max()) / theta) / beta)


def _line_crossing(step: Step, theta: float, beta: float, highest: float) -> float:
    """Return where the line that the step's duals put below N crosses s: not above r."""
    return _crossing(lambda s: step.value + step.rate * (step.tau - theta * math.exp(beta * s)), 0.0, highest)


def _forecast(step: Step, s: float, beta: float) -> float:
    """Return where N would cross s if it went on as the power of τ that it is here."""
    if step.value <= 0.0:
        return s - LONGEST_STEP / beta
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
