"""Parameters: the public numbers of a mechanism, one frozen type; `presets` has the values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from typing import Generic, Self, TypeVar

from recuse.errors import ParameterError

SLACK = Fraction(1, 100)
"""η: how far a certified number may lie above the exact one, in units of its sensitivity."""

INDEX_GRID = 100
"""k: the index is released on the grid of multiples of 1/k."""

ANSWER_GRID = 1000
"""k': the answer is released on the grid of multiples of τ/k'."""

LAST_DOUBLING = 1000
"""The largest exponent of two that is considered: a number format, not a bound on the data."""


class Index(Enum):
    """How the exponent of Δ is measured."""

    INTEGER = "integer"
    """as in the paper: decided exactly, sensitivity 1"""
    REAL = "real"
    """theorem C: certified to η, sensitivity 1 + η"""


class Score(Enum):
    """What a doubling is scored by."""

    WITHDRAWALS = "withdrawals"
    """N_s(τ), for annotations without OR"""
    DEFICIT = "deficit"
    """how many withdrawals explain what X(τ) lacks, for annotations with OR"""


@dataclass(frozen=True, slots=True)
class Exponent:
    """τ = θe^{βr̂+μ} from a noisy index r̂: the paper's rule.

    `factor` multiplies the bounding sequence: 2 in the paper, 1 by theorem B. Δ̂ has finite variance iff
    β < ε1/2.
    """

    beta: Fraction
    mu: Fraction
    factor: int
    index: Index

    def __post_init__(self) -> None:
        if self.beta <= 0 or self.mu < 0 or self.factor < 1:
            raise ParameterError("beta must be positive, mu not negative and factor at least 1")


@dataclass(frozen=True, slots=True)
class Doublings:
    """τ = stretch·θ2^k for the k that wins a noisy maximum: our rule.

    A level is one doubling, or several where loads grow by powers of what they count. The prior costs ln2
    times `gentle` a level up to level `knee`, and `steep` above. `offset` moves the answer up by that many
    τ/ε, against the downward bias of truncation.
    """

    score: Score
    first: int
    knee: int
    gentle: Fraction
    steep: Fraction
    stretch: Fraction
    offset: Fraction
    doublings: int = 1

    def prior(self, level: int) -> Fraction:
        """Return the cost of a level in units of ln2."""
        return self.gentle * min(level, self.knee) + self.steep * max(0, level - self.knee)


Rule = TypeVar("Rule", bound=Exponent | Doublings, covariant=True)


@dataclass(frozen=True, slots=True)
class Parameters(Generic[Rule]):
    """How ε is split, θ, and the rule by which τ is found."""

    name: str
    choice_epsilon: Fraction
    answer_epsilon: Fraction
    theta: Fraction
    rule: Rule

    def __post_init__(self) -> None:
        if min(self.choice_epsilon, self.answer_epsilon, self.theta) <= 0:
            raise ParameterError("both parts of epsilon and theta must be positive")

    @property
    def epsilon(self) -> Fraction:
        """The whole privacy loss."""
        return self.choice_epsilon + self.answer_epsilon

    def in_units(self, theta: Fraction) -> Self:
        """Return the parameters with another θ, in the units of the weights."""
        return replace(self, theta=theta)
