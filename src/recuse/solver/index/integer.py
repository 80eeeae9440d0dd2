"""The paper's integer index, decided exactly.

With any slack at all its sensitivity would be 2 instead of 1, so intervals are not enough. For s ≥ 1 the
number e^{βs} is transcendental (β > 0 rational; Lindemann) and factor·Γ(s)/θ is rational: they never
tie, and so many digits of e^{βs} decide. At s = 0 two rationals are compared.
"""

from __future__ import annotations

import math
from fractions import Fraction

from recuse.exponential import enclosures
from recuse.krelation.evaluate import Evaluation
from recuse.solver import limits
from recuse.solver.certificate import Checker
from recuse.solver.exact.programs import ExactPrograms, largest_initial_load
from recuse.solver.interval import nearest
from recuse.solver.programs import Programs


def integer_index(
    programs: Programs, evaluation: Evaluation, theta: Fraction, beta: Fraction, factor: int
) -> int:
    """Return min{s = 0, 1, … : factor·Γ(s) ≤ θ e^{βs}}.

    It is the real index rounded up, and falls as θ or β grows. A certified interval without an integer
    inside decides it, for θ and β rounded either way; else it is decided on either side of that integer.

    Guarantee: exact, so a neighbour's index is the same or one more (proofs.md, theorem C).
    """
    scale = theta / factor
    if largest_initial_load(evaluation) <= scale:
        return 0
    s = max(1, math.ceil(programs.index(_above(scale), _above(beta), limits.INDEX_HINT_WIDTH).low))
    if programs.index(_below(scale), _below(beta), limits.INDEX_HINT_WIDTH).high <= s:
        return s
    while not low_enough(programs, evaluation, s, scale, beta * s):
        s += 1
    while s > 1 and low_enough(programs, evaluation, s - 1, scale, beta * (s - 1)):
        s -= 1
    return s


def low_enough(
    programs: Programs, evaluation: Evaluation, s: int, scale: Fraction, exponent: Fraction
) -> bool:
    """Return whether Γ(s) ≤ scale·e^exponent, that is N(scale·e^exponent) ≤ s; s ≥ 1. It always ends."""
    for width, (floor, ceiling) in zip(limits.INDEX_WIDTHS, enclosures(exponent), strict=False):
        if programs.withdrawals(_below(scale * floor), width, s).high <= s:
            return True
        if programs.withdrawals(_above(scale * ceiling), width, s).low > s:
            return False
    loads = Checker.of(evaluation).initial_loads()
    return ExactPrograms(evaluation, loads).low_enough(Fraction(s), scale, exponent)


def _below(value: Fraction) -> float:
    return math.nextafter(nearest(value), 0.0)


def _above(value: Fraction) -> float:
    return math.nextafter(nearest(value), math.inf)
