"""Parameters: public numbers and choices that mechanisms share; `presets` has the values of each."""

from __future__ import annotations

from enum import Enum
from fractions import Fraction

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
