"""Parameters: the public numbers of the recursive mechanism, one frozen value.

Every default is a function of ε only. None is ever tuned on the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Self

from recuse.errors import ParameterError
from recuse.privacy import Epsilon

SLACK = Fraction(1, 100)
"""η: how far a certified number may lie above the exact one, in units of its sensitivity."""

INDEX_GRID = 100
"""k: the index is released on the grid of multiples of 1/k."""

ANSWER_GRID = 1000
"""k': the answer is released on the grid of multiples of τ/k'."""


class Index(Enum):
    """How the exponent of Δ is measured."""

    INTEGER = "integer"
    """as in the paper: decided exactly, sensitivity 1"""
    REAL = "real"
    """theorem C: certified to η, sensitivity 1 + η"""


@dataclass(frozen=True, slots=True)
class Parameters:
    """θ, β, μ and the split of ε.

    `factor` multiplies the bounding sequence: 2 in the paper, 1 by theorem B. `theta` is in the units of
    the weights. Δ̂ has finite variance iff β < ε1/2.
    """

    name: str
    index_epsilon: Fraction
    answer_epsilon: Fraction
    beta: Fraction
    mu: Fraction
    theta: Fraction
    factor: int
    index: Index

    def __post_init__(self) -> None:
        for name in ("index_epsilon", "answer_epsilon", "beta", "theta"):
            if getattr(self, name) <= 0:
                raise ParameterError(f"{name} must be positive", found=str(getattr(self, name)))
        if self.mu < 0 or self.factor < 1:
            raise ParameterError("mu must not be negative and factor at least 1")

    @property
    def epsilon(self) -> Fraction:
        """The whole privacy loss."""
        return self.index_epsilon + self.answer_epsilon

    @classmethod
    def paper(cls, epsilon: Epsilon, mu: Fraction = Fraction(1, 2)) -> Self:
        """Return the paper's settings (its μ is 1/2 for edge privacy, 1 for node privacy), with repaired loads."""
        half = epsilon.value / 2
        return cls("paper", half, half, epsilon.value / 5, mu, Fraction(1), 2, Index.INTEGER)

    @classmethod
    def tuned(cls, epsilon: Epsilon) -> Self:
        """Return our settings of the same mechanism: real index, no factor 2, μ = 1."""
        half = epsilon.value / 2
        return cls("tuned", half, half, epsilon.value / 5, Fraction(1), Fraction(1), 1, Index.REAL)
