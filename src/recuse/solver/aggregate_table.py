"""The interpolated binomial B of an aggregate, cut where it is steeper than τ, in integers and in doubles.

B(u) interpolates C(j, k), so its slope from j to j+1 is C(j, k-1). An optimum of X(τ) need not stay where a
slope exceeds τ, so slopes may be cut at ⌈τ⌉ without changing X(τ) (docs/proofs.md, lemma A4): numbers such as
C(1383, 10) then meet nothing but their like in any program.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
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
    @lru_cache(maxsize=4)
    def of(cls, k: int, most: int, tau: float) -> Self:
        """Return the table; the last ones are kept, as a question at one τ asks for it more than once."""
        lid, steep, values, slopes = math.ceil(tau), 0, [0], list[int]()
        for j in range(most + 1):
            if steep <= lid:  # C(j, k-1) from C(j-1, k-1)
                steep = steep * j // (j - k + 1) if j >= k else int(j == k - 1)
            slope = min(lid, steep)
            slopes.append(slope)
            values.append(values[-1] + slope)
        unit = Fraction(tau)
        return cls(values[:-1], slopes, _below(slopes, unit), _below(values[:-1], unit))


def _below(numbers: list[int], unit: Fraction) -> Floats:
    """Return the numbers in another unit, as doubles that do not exceed them."""
    above, below = unit.as_integer_ratio()
    near = np.array([number * below / above for number in numbers])
    return np.where(near > 0, np.nextafter(near, -np.inf), 0.0)
