"""The recursive mechanism on K-relations: repaired loads, certified programs.

The real index r (or the paper's integer one) is released with ε1, and fixes τ = θe^{βr̂+μ}.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from recuse.errors import ParameterError
from recuse.mechanism.parameters import INDEX_GRID, SLACK, Index
from recuse.mechanism.truncating import Truncating
from recuse.noise import Noise, round_down
from recuse.solver.programs import Programs, TruncationPrograms, with_index

SMALLEST_EXPONENT, LARGEST_EXPONENT = -20.0, 600.0


@dataclass(frozen=True, slots=True)
class Recursive(Truncating):
    """τ = θe^{βr̂+μ} from a noisy index r̂: the paper's mechanism.

    `factor` multiplies the bounding sequence: 2 in the paper, 1 by theorem B. Δ̂ has finite variance iff
    β < ε1/2.
    """

    beta: Fraction
    mu: Fraction
    factor: int
    index: Index

    def __post_init__(self) -> None:
        Truncating.__post_init__(self)
        if self.beta <= 0 or self.mu < 0 or self.factor < 1:
            raise ParameterError("beta must be positive, mu not negative and factor at least 1")

    def choose(self, programs: Sequence[TruncationPrograms], noise: Noise) -> Fraction:
        """Return τ for relations that lose the same participants: two signs of one, or several groups.

        Guarantee: ε1-private (proofs.md, theorem C, lemmas G1 and L).
        """
        steps, sensitivity = index_steps(with_index(programs), self)
        noisy = steps + noise.laplace(sensitivity / self.choice_epsilon)
        return self.bound(Fraction(noisy, INDEX_GRID))

    def bound(self, noisy_index: Fraction) -> Fraction:
        """Return a double near Δ̂ = θe^{β·index+μ}, as a rational: a public function of a private index.

        The exponent is held in a public range: the exact index is never negative, so τ far below θ is noise.
        """
        exponent = float(self.beta * noisy_index + self.mu)
        held = max(SMALLEST_EXPONENT, min(LARGEST_EXPONENT, exponent))
        return Fraction(float(self.theta) * math.exp(held))


def index_steps(programs: Sequence[Programs], mechanism: Recursive) -> tuple[int, Fraction]:
    """Return the largest index on its grid, and how far one participant can move it.

    Guarantee: the largest of several indices moves as one does (proofs.md, theorem C and lemma G1): by
    k steps for the exact integer, by k + ⌈kη⌉ for a certified real.
    """
    theta, beta, factor = mechanism.theta, mechanism.beta, mechanism.factor
    if mechanism.index is Index.INTEGER:
        exact = (part.integer_index(theta, beta, factor) for part in programs)
        return INDEX_GRID * max(exact), Fraction(INDEX_GRID)
    scale, width = float(theta / factor), round_down(SLACK)
    real = max(part.index(scale, float(beta), width).high for part in programs)
    return math.ceil(INDEX_GRID * Fraction(real)), Fraction(INDEX_GRID + math.ceil(INDEX_GRID * SLACK))
