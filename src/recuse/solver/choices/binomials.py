"""The interpolated binomial B of an aggregate, cut where it is steeper than τ, in integers and in doubles.

B(u) interpolates C(j, k), so its slope from j to j+1 is C(j, k-1). An optimum of X(τ) need not stay where a
slope exceeds τ, so slopes may be cut at ⌈τ⌉ without changing X(τ) (proofs.md, lemma A4): numbers such as
C(1383, 10) then meet nothing but their like in any program.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Self

import numpy as np

from recuse.krelation.relation import Floats
from recuse.solver.bounds import UNIT


@dataclass(frozen=True, slots=True, eq=False)
class Binomials:
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
        while len(slopes) <= most and (not slopes or slopes[-1] < lid):
            j = len(slopes)  # C(j, k-1) from C(j-1, k-1)
            steep = steep * j // (j - k + 1) if j >= k else int(j == k - 1)
            slopes.append(min(lid, steep))
            values.append(values[-1] + slopes[-1])
        return cls._with_tail(values[:-1], slopes, most + 1, Fraction(tau))

    @classmethod
    def _with_tail(cls, values: list[int], slopes: list[int], count: int, unit: Fraction) -> Self:
        """Return the table of so many entries, of which the later ones are all as steep as the last one."""
        last, steep, tail = values[-1], slopes[-1], np.arange(1, count - len(slopes) + 1)
        low_slopes, low_values = _below(slopes, unit), _below(values, unit)
        low_tail = (low_values[-1] + tail * low_slopes[-1]) * (1 - 4 * UNIT)
        further = itertools.islice(itertools.count(last + steep, steep), len(tail))
        return cls(
            [*values, *further],
            [*slopes, *itertools.repeat(steep, len(tail))],
            np.append(low_slopes, np.full(len(tail), low_slopes[-1])),
            np.append(low_values, low_tail),
        )


def _below(numbers: list[int], unit: Fraction) -> Floats:
    """Return the numbers in another unit, as doubles that do not exceed them."""
    above, below = unit.as_integer_ratio()
    near = np.array([number * below / above for number in numbers])
    return np.where(near > 0, np.nextafter(near, -np.inf), 0.0)
