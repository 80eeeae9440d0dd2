"""The efficient recursive mechanism on K-relations: repaired loads, certified programs.

r (or the paper's integer index) is released with ε1, which fixes τ; X(τ) is released with ε2.
"""

from __future__ import annotations

import math
from fractions import Fraction

from recuse.mechanism.answer import noisy_answer
from recuse.mechanism.framework import bound
from recuse.mechanism.parameters import INDEX_GRID, SLACK, Exponent, Index, Parameters
from recuse.mechanism.prepared import Prepared, truncated
from recuse.mechanism.release import Release
from recuse.noise import Noise, round_down


def recursive(prepared: Prepared, parameters: Parameters[Exponent], noise: Noise) -> Release:
    """Return the private answer of a K-relation.

    Guarantee: (ε1 + ε2)-private for every pair of neighbours in the sense of docs/proofs.md, theorem A
    (theorem R3 there), whatever the solver returns within its certified intervals.
    """
    steps, sensitivity = index_steps(prepared, parameters)
    noisy = steps + noise.laplace(sensitivity / parameters.choice_epsilon)
    tau = bound(Fraction(noisy, INDEX_GRID), parameters)
    answer, slack = truncated(prepared, tau)
    return noisy_answer(answer, tau, slack, Fraction(prepared.relation.constant), parameters, noise)


def index_steps(prepared: Prepared, parameters: Parameters[Exponent]) -> tuple[int, Fraction]:
    """Return the index on its grid, and how far one participant can move it.

    Guarantee: the larger of two signs' indices moves as one sign's does (docs/proofs.md, theorem C and
    lemma G1): by k steps for the exact integer, by k + ⌈kη⌉ for a certified real.
    """
    theta, rule = parameters.theta, parameters.rule
    if rule.index is Index.INTEGER:
        exact = (part.integer_index(theta, rule.beta, rule.factor) for part in prepared.signs)
        return INDEX_GRID * max(exact), Fraction(INDEX_GRID)
    scale, beta, width = float(theta / rule.factor), float(rule.beta), round_down(SLACK)
    real = max(part.index(scale, beta, width).high for part in prepared.signs)
    return math.ceil(INDEX_GRID * Fraction(real)), Fraction(INDEX_GRID + math.ceil(INDEX_GRID * SLACK))
