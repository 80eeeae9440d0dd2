"""Presets: the parameters of every mechanism as functions of ε only, never tuned on the data.

θ = 1 in the units of the weights: one for a count, one granule (the policy's granularity) for a sum.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

from recuse.krelation.relation import Growth, Shape
from recuse.mechanism.parameters import Index, Score
from recuse.mechanism.recursive import Recursive
from recuse.mechanism.selective import Selective
from recuse.privacy import Epsilon

THETA = Fraction(1)


def paper(epsilon: Epsilon, mu: Fraction = Fraction(1, 2)) -> Recursive:
    """Return the paper's settings, with repaired loads; its μ is 1/2 for edge privacy, 1 for node privacy."""
    half = epsilon.value / 2
    return Recursive("paper", half, half, THETA, epsilon.value / 5, mu, 2, Index.INTEGER)


def tuned(epsilon: Epsilon) -> Recursive:
    """Return our settings of the same mechanism: real index, no factor 2, μ = 1."""
    half = epsilon.value / 2
    return Recursive("tuned", half, half, THETA, epsilon.value / 5, Fraction(1), 1, Index.REAL)


def selective(epsilon: Epsilon, shape: Shape | Growth) -> Selective:
    """Return the selective mechanism: by withdrawals; with OR, or for an aggregate, by the deficit."""
    if isinstance(shape, Growth):
        return of_aggregate(epsilon, shape)
    return by_withdrawals(epsilon) if shape is Shape.CONJUNCTIONS else by_deficit(epsilon)


def by_withdrawals(epsilon: Epsilon) -> Selective:
    """Return the settings for annotations without OR (decisions.md says how they were found)."""
    whole = epsilon.value
    choice = whole * Fraction(17, 20) / (2 + whole)
    return Selective(
        "selective",
        choice,
        whole - choice,
        THETA,
        Score.WITHDRAWALS,
        first=0,
        knee=4,
        gentle=Fraction(5, 4),
        steep=Fraction(2),
        stretch=Fraction(1),
        offset=max(Fraction(0), Fraction(2, 5) - whole / 5),
    )


def by_deficit(epsilon: Epsilon) -> Selective:
    """Return the settings for annotations with OR: doublings below θ are considered too."""
    whole = epsilon.value
    choice = whole * Fraction(35, 100)
    return Selective(
        "selective",
        choice,
        whole - choice,
        THETA,
        Score.DEFICIT,
        first=math.floor(math.log2(float(whole))) - 3,
        knee=0,
        gentle=Fraction(1, 4),
        steep=Fraction(2),
        stretch=Fraction(5, 4),
        offset=Fraction(0),
    )


def of_aggregate(epsilon: Epsilon, growth: Growth) -> Selective:
    """Return the settings for an aggregate: a level is a step in the size of groups, whatever k.

    No doubling below θ is considered: one choice has several owners, but no other choice stands in for it.
    """
    return replace(by_deficit(epsilon), first=0, doublings=growth.doublings)
