"""Random numbers to as many digits as a comparison needs: Exp(1), and whole numbers with a geometric tail.

Doubles decide only what they provably decide; the rest is decided in arbitrary precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from recuse.exponential import FIRST_DIGITS, logarithm
from recuse.krelation.relation import Floats, Integers
from recuse.noise import Noise

WORD = 64
MARGIN = 2.0**-30
"""Far more than doubles err here: what is closer than this is left to exact arithmetic."""

Enclosure = Callable[[int], tuple[Fraction, Fraction]]
"""digits → rationals that enclose a public number, tighter the more digits are asked for"""


class Draws:
    """Independent Exp(1) numbers -ln U, one a level; of a U more bits are drawn when they are needed."""

    def __init__(self, levels: range, noise: Noise) -> None:
        self.levels = levels
        self._noise = noise
        words = noise.bits(WORD * len(levels)).to_bytes(WORD // 8 * len(levels), "little")
        self._first = first = np.frombuffer(words, np.dtype("<u8"))
        self._longer: dict[int, tuple[int, int]] = {}
        near = WORD * math.log(2) - np.log(first + 0.5)
        short = first >> np.uint64(WORD // 2) == 0  # too few bits left for a close enclosure
        self.low: Floats = np.where(short, WORD // 2 * math.log(2), near) - MARGIN
        self.high: Floats = np.where(short, np.inf, near) + MARGIN

    def enclosure(self, level: int, digits: int) -> tuple[Fraction, Fraction]:
        """Return rationals that enclose a level's number, tighter the more digits are asked for."""
        bits, count = self._longer.get(level, (int(self._first[level - self.levels.start]), WORD))
        while bits == 0 or count < 4 * digits:
            bits, count = bits << WORD | self._noise.bits(WORD), count + WORD
        self._longer[level] = bits, count
        low, _ = logarithm(Fraction(1 << count, bits + 1), digits)
        _, high = logarithm(Fraction(1 << count, bits), digits)
        return low, high


def geometric(rate: Fraction, head: Enclosure, count: int, noise: Noise) -> Integers:
    """Return so many independent whole numbers n ≥ 0 with P(n ≥ m) = e^{head - rate·m} for every m ≥ 1.

    They are ⌊(E + head)/rate⌋ with E ~ Exp(1), and 0 where that is less: `head` is at most the rate.

    Guarantee: exactly this law (proofs.md, lemma Z).
    """
    draws = Draws(range(count), noise)
    (low, high), slope = head(FIRST_DIGITS), float(rate)
    least = np.floor((draws.low + float(low) - MARGIN) / (slope * (1 + MARGIN)))
    most = np.floor((draws.high + float(high) + MARGIN) / (slope * (1 - MARGIN)))
    found: Integers = np.maximum(least, 0.0).astype(np.int64)
    for place in np.flatnonzero(np.maximum(most, 0.0) != np.maximum(least, 0.0)):
        found[place] = _floored(rate, head, draws, int(place))
    return found


def _floored(rate: Fraction, head: Enclosure, draws: Draws, place: int) -> int:
    """Return max(0, ⌊(E + head)/rate⌋) of one draw, decided exactly (ties have probability 0)."""
    digits = FIRST_DIGITS
    while True:
        ends = zip(draws.enclosure(place, digits), head(digits), strict=True)
        low, high = (max(0, math.floor((drawn + more) / rate)) for drawn, more in ends)
        if low == high:
            return low
        digits *= 2
