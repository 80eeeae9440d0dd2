"""The interpolated binomial B of an aggregate, cut where it is steeper than τ, in integers and in doubles.

B(u) interpolates C(j, k), so its slope from j to j+1 is C(j, k-1). An optimum of X(τ) need not stay where a
slope exceeds τ, so slopes may be cut at ⌈τ⌉ without changing X(τ) (docs/proofs.md, lemma A4): numbers such as
C(1383, 10) then meet nothing but their like in any program.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Self

import numpy as np

from recuse.krelation.relation import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """B and its slopes at 0, 1, …, most: exact integers, and doubles not above them in units of τ."""

    values: list[int]
    slopes: list[int]
    low_slopes: Floats
    low_values: Floats

    @classmethod
    def of(cls, k: int, most: int, tau: float) -> Self:
        lid, slope, values, slopes = math.ceil(tau), 0, [0], list[int]()
        for j in range(most + 1):
            slope = slope if slope == lid else min(lid, comb(j, k - 1))
            slopes.append(slope)
            values.append(values[-1] + slope)
        unit = Fraction(tau)
        return cls(values[:-1], slopes, _below(slopes, unit), _below(values[:-1], unit))


def _below(numbers: list[int], unit: Fraction) -> Floats:
    """Return the numbers in another unit, as doubles that do not exceed them."""
    near = np.array([number * unit.denominator / unit.numerator for number in numbers])
    return np.where(near > 0, np.nextafter(near, -np.inf), 0.0)
