"""The rule of the recursive mechanism on K-relations: repaired loads, certified programs.

The real index r (or the paper's integer one) is released with ε1, and fixes τ = θe^{βr̂+μ}.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from recuse.mechanism.framework import bound
from recuse.mechanism.parameters import INDEX_GRID, SLACK, Exponent, Index, Parameters
from recuse.noise import Noise, round_down
from recuse.solver.programs import Programs


def noisy_bound(programs: Sequence[Programs], parameters: Parameters[Exponent], noise: Noise) -> Fraction:
    """Return τ for relations that lose the same participants: two signs of one, or several groups.

    Guarantee: ε1-private (docs/proofs.md, theorem C, lemmas G1 and L).
    """
    steps, sensitivity = index_steps(programs, parameters)
    noisy = steps + noise.laplace(sensitivity / parameters.choice_epsilon)
    return bound(Fraction(noisy, INDEX_GRID), parameters)


def index_steps(programs: Sequence[Programs], parameters: Parameters[Exponent]) -> tuple[int, Fraction]:
    """Return the largest index on its grid, and how far one participant can move it.

    Guarantee: the largest of several indices moves as one does (docs/proofs.md, theorem C and lemma G1): by
    k steps for the exact integer, by k + ⌈kη⌉ for a certified real.
    """
    theta, rule = parameters.theta, parameters.rule
    if rule.index is Index.INTEGER:
        exact = (part.integer_index(theta, rule.beta, rule.factor) for part in programs)
        return INDEX_GRID * max(exact), Fraction(INDEX_GRID)
    scale, beta, width = float(theta / rule.factor), float(rule.beta), round_down(SLACK)
    real = max(part.index(scale, beta, width).high for part in programs)
    return math.ceil(INDEX_GRID * Fraction(real)), Fraction(INDEX_GRID + math.ceil(INDEX_GRID * SLACK))
