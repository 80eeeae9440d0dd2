"""Groups that stand alone: large hubs none of whose units anybody else's count depends on, in closed form.

Where a group has no owners and each of its units one owner, who owns nothing else that counts, X(τ) of the
group is min over y of B(y) + τ(m - y) = Σ_{j<m} min(C(j, k-1), τ): each unit costs its slope or a withdrawal.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import comb
from typing import Self

import numpy as np

from recuse.graphs.aggregate import Aggregate

LARGE = 1000
"""Units from which a group is worth taking out: a program for thousands of levels of τ would be slow."""


@dataclass(frozen=True, slots=True, eq=False)
class Alone:
    """The sizes of the large groups that stand alone, and the aggregate without them."""

    k: int
    sizes: list[int]
    rest: Aggregate

    @classmethod
    def of(cls, aggregate: Aggregate) -> Self:
        """Return the aggregate with its large lonely groups taken out."""
        sizes = aggregate.sizes()
        nobody = cls(aggregate.k, [], aggregate)
        owned = aggregate.group_owners.shape[1] or aggregate.unit_owners.shape[1] != 1
        if owned or sizes.max(initial=0) < max(LARGE, aggregate.k):
            return nobody
        places = aggregate.places[
            sizes[aggregate.places[:, 0]] >= aggregate.k
        ]  # smaller groups count nothing
        owner = aggregate.unit_owners[places[:, 1], 0]
        shared = np.bincount(owner, minlength=aggregate.participants)[owner] > 1
        lonely = sizes >= LARGE
        lonely[places[shared, 0]] = False
        left = aggregate.places[~lonely[aggregate.places[:, 0]]]
        return cls(aggregate.k, sizes[lonely].tolist(), replace(aggregate, places=left))

    def truncated(self, tau: Fraction) -> Fraction:
        """Return X(τ) of the groups taken out, exactly."""
        return sum((self._one(size, tau) for size in self.sizes), start=Fraction(0))

    def _one(self, size: int, tau: Fraction) -> Fraction:
        """Return Σ_{j<m} min(C(j, k-1), τ) = C(J, k) + (m - J)τ, J the first j with C(j, k-1) > τ."""
        low, high = 0, size
        while low < high:
            middle = (low + high) // 2
            if comb(middle, self.k - 1) > tau:
                high = middle
            else:
                low = middle + 1
        return comb(low, self.k) + (size - low) * tau
