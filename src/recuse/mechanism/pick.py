"""Exact draws with probabilities proportional to mass·e^{-x}: no float decides one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from math import ceil, floor

from recuse.exponential import FIRST_DIGITS, exponential
from recuse.noise import Noise

BITS_A_DIGIT = 4
"""more than log2(10)"""
ONE = Fraction(1)


def pick(masses: Sequence[Fraction], exponents: Sequence[Fraction], noise: Noise) -> int:
    """Return j with probability proportional to mass_j·e^{-x_j}.

    A uniform number is compared with the partial sums, both enclosed in ever more digits until one place is
    left: the sums are irrational, or ties have probability 0.

    Guarantee: exact (proofs.md, lemma V0).
    """
    least = min(exponents)
    digits, drawn, count = FIRST_DIGITS, 0, 0
    while True:
        unit = BITS_A_DIGIT * digits
        drawn, count = drawn << unit | noise.bits(unit), count + unit
        ends = [exponential(least - x, digits) if x > least else (ONE, ONE) for x in exponents]
        pairs = list(zip(masses, ends, strict=True))
        below = list(accumulate(floor(mass * low * 2**unit) for mass, (low, _) in pairs))
        above = list(accumulate(ceil(mass * high * 2**unit) for mass, (_, high) in pairs))
        # the number lies between `low` and `high` of the sum's units, however its digits go on
        low, high = (drawn * below[-1]) >> count, -((-(drawn + 1) * above[-1]) >> count)
        place = bisect_right(above, low)  # all partial sums before it are surely passed
        if high <= below[place]:
            return place
        digits *= 2
