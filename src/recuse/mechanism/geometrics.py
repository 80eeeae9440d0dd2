"""Many geometric numbers at once, exactly, however small their rate.

A geometric number is B times one of rate B·r, plus a remainder below B with P(j) ∝ e^{-rj}, which is nearly
uniform: so doubles decide all but a millionth of them, and exact arithmetic the rest.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from recuse.exponential import FIRST_DIGITS
from recuse.krelation.relation import Integers
from recuse.mechanism.draws import MARGIN, WORD, Draws, geometric
from recuse.noise import Noise

Words = NDArray[np.uint64]
CERTAIN = Fraction(0), Fraction(0)
SMALL_RATE = 2.0**-10
"""the rate of the blocks: their number is a few thousand, and a remainder is kept nearly always"""


def geometrics(rate: Fraction, count: int, noise: Noise) -> Integers:
    """Return so many independent whole numbers n ≥ 0 with P(n) ∝ e^{-rate·n}.

    Guarantee: exactly this law (proofs.md, lemma W2).
    """
    bits = max(0, math.floor(math.log2(SMALL_RATE / float(rate))))
    blocks = geometric(rate * 2**bits, lambda _: CERTAIN, count, noise)
    return blocks if bits == 0 else (blocks << bits) + _remainders(rate, bits, count, noise)


def _remainders(rate: Fraction, bits: int, count: int, noise: Noise) -> Integers:
    """Return so many j of so many bits with P(j) ∝ e^{-rate·j}: uniform, kept if an Exp(1) exceeds rate·j."""
    found = np.zeros(count, np.int64)
    wanted = np.arange(count)
    while len(wanted):
        tried = (random_words(len(wanted), noise) >> np.uint64(WORD - bits)).astype(np.int64)
        draws = Draws(range(len(wanted)), noise)
        cost = tried * float(rate)
        kept = draws.low > cost + MARGIN
        for place in np.flatnonzero(~kept & (draws.high >= cost - MARGIN)).tolist():
            kept[place] = _exceeds(draws, place, rate * int(tried[place]))
        found[wanted[kept]] = tried[kept]
        wanted = wanted[~kept]
    return found


def _exceeds(draws: Draws, place: int, cost: Fraction) -> bool:
    """Return whether an Exp(1) number exceeds a rational one, decided exactly (ties have probability 0)."""
    digits = FIRST_DIGITS
    while True:
        low, high = draws.enclosure(place, digits)
        if low > cost or high < cost:
            return low > cost
        digits *= 2


def random_words(count: int, noise: Noise) -> Words:
    """Return so many independent numbers of 64 bits."""
    words = noise.bits(WORD * count).to_bytes(WORD // 8 * count, "little")
    return np.frombuffer(words, np.dtype("<u8")).copy()
