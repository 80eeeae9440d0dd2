"""Prices: what a whole withdrawal costs a participant, in units of τ. One number a kind of participant.

Where participants of one kind can touch few groups and those of another many, whoever touches few may be
charged more in each (proofs.md, theorem E0'). Without kinds everybody pays τ.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np

from recuse.krelation.relation import Floats, Integers, frozen


@dataclass(frozen=True, slots=True, eq=False)
class Prices:
    """The price of every participant: `table[kinds[p]]`, at least 1."""

    table: tuple[Fraction, ...]
    kinds: Integers

    def __post_init__(self) -> None:
        if not self.table or min(self.table) < 1:
            raise ValueError("a price is at least 1")
        frozen(self.kinds)

    @classmethod
    def alike(cls, participants: int) -> Self:
        """Return the prices of participants who all pay τ."""
        return cls((Fraction(1),), np.zeros(participants, np.int64))

    def __len__(self) -> int:
        return len(self.kinds)

    @property
    def one(self) -> bool:
        """Whether all pay τ."""
        return max(self.table) == 1

    def of(self, people: Integers) -> Self:
        """Return the prices of some of the participants."""
        return type(self)(self.table, self.kinds[people])

    def bounds(self, tau: float) -> Floats:
        """Return for every participant the largest double that is not above price·τ: τ itself at price 1.

        Guarantee: never more than price·τ, which is what theorem E0' asks for.
        """
        if self.one:
            return np.full(len(self), tau)
        return np.array([_at_most(Fraction(tau) * price) for price in self.table])[self.kinds]

    def exact_bounds(self, tau: Fraction) -> list[Fraction]:
        """Return the same for a rational τ: τ itself at price 1, else what the doubles are."""
        table = [tau if price == 1 else Fraction(_at_most(tau * price)) for price in self.table]
        return [table[kind] for kind in self.kinds.tolist()]

    def least_tau(self, loads: Floats) -> float:
        """Return the least double τ, or one next to it, at which nobody's load is above their bound."""
        if self.one:
            return float(loads.max(initial=0.0))
        return max(map(self._least, range(len(self.table)), self._largest(loads)), default=0.0)

    def _largest(self, loads: Floats) -> Sequence[float]:
        found = np.zeros(len(self.table))
        np.maximum.at(found, self.kinds, loads)
        return [float(load) for load in found]

    def _least(self, kind: int, load: float) -> float:
        if not math.isfinite(load):
            return load
        wanted = Fraction(load) / self.table[kind]
        near = float(wanted)
        return near if Fraction(near) >= wanted else math.nextafter(near, math.inf)


def _at_most(value: Fraction) -> float:
    """Return the largest double that is not above a positive number."""
    try:
        near = float(value)
    except OverflowError:
        return math.nextafter(math.inf, 0.0)
    return near if Fraction(near) <= value else math.nextafter(near, 0.0)
