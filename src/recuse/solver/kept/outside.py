"""Whom a focus leaves out, where the tuples stay in an engine: one sum a person, in whole numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from recuse.krelation.relation import Floats, Integers
from recuse.solver.bounds import UNIT
from recuse.solver.interval import outward
from recuse.solver.kept.tuples import KeptTuples
from recuse.solver.kept.warehouse import lendable

MOST_BITS = 126
FINEST_BITS = 40


@dataclass(frozen=True, slots=True, eq=False)
class KeptOutside:
    """`Outside`: `leaves` makes a table of core row c, kind, p and weight, when it is first needed.

    Charges are lent with the largest between 1/2 and 1: those that differ by a power of two are lent once.
    """

    tuples: KeptTuples
    leaves: Callable[[], str]
    lent: dict[bytes, str] = field(default_factory=dict)

    def excess(self, per_weight: Floats, allowed: float) -> float:
        """Guarantee: charges are rounded up to multiples of 2^-bits; their sums are exact."""
        charged = self._charged(per_weight, allowed)
        if charged is None:
            return math.inf
        count, total = self.tuples.line(f"SELECT COUNT(*), SUM(slope) FROM ({charged.sql}) AS s")
        exact = (total - count * charged.least) * charged.unit
        return outward(exact, exact).high

    def above(self, per_weight: Floats, allowed: float) -> Integers:
        """Return a line for each: its kind and its number."""
        charged = self._charged(per_weight, allowed)
        if charged is None:
            return np.empty((0, 2), np.int64)
        people = self.tuples.warehouse.read(f"SELECT kind, p FROM ({charged.sql}) AS s ORDER BY kind, p")
        return np.stack([column.to_numpy().astype(np.int64) for column in people.columns], axis=1)

    def _charged(self, per_weight: Floats, allowed: float) -> ChargedAbove | None:
        """Return who is charged more than is allowed; nothing if it cannot be told in 128 bits."""
        room = MOST_BITS - 1 - self.tuples.total.bit_length() - self.tuples.most.bit_length()
        bits = min(FINEST_BITS, room)
        largest = float(per_weight.max(initial=0.0))
        if bits < 0 or not math.isfinite(largest):
            return None
        _, exponent = math.frexp(largest)
        scaled = np.ldexp(per_weight, -exponent) * (1 + 8 * UNIT) * 2.0**bits
        charges = np.maximum(np.ceil(scaled), per_weight > 0).astype(np.int64)
        unit = Fraction(2) ** (exponent - bits)
        least = math.floor(Fraction(allowed) / unit)
        wide = self.tuples.warehouse.spelling.wide
        slope = f"SUM({wide('l.weight')} * {wide('y.charge')})"
        return ChargedAbove(
            f"SELECT kind, p, {slope} AS slope FROM {self.leaves()} AS l JOIN {self._lent(charges)} AS y "
            f"ON l.c = y.c GROUP BY kind, p HAVING {slope} > {min(least, 2**MOST_BITS)}",
            unit,
            Fraction(allowed) / unit,
        )

    def _lent(self, charges: Integers) -> str:
        key = charges.tobytes()
        if key not in self.lent:
            which = np.flatnonzero(charges > 0)
            self.lent[key] = self.tuples.warehouse.lend(
                {"c": lendable(which), "charge": lendable(charges[which])}
            )
        return self.lent[key]


@dataclass(frozen=True, slots=True)
class ChargedAbove:
    """A query of who is charged more than `least` units, and how much."""

    sql: str
    unit: Fraction
    least: Fraction
