"""The noisy maximum: which level wins when each has an independent Exp(1) added to its score.

The draws are real numbers, known to as many digits as a comparison needs: doubles decide only what they
provably decide, the rest is decided in arbitrary precision. Levels are looked at from the top down, and a
level whose penalty cannot be small enough to win is never solved for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from recuse.exponential import FIRST_DIGITS, logarithm
from recuse.noise import Noise

WORD = 64
MARGIN = 2.0**-30
"""Far more than doubles err here: a comparison that is closer than this is left to exact arithmetic."""

Penalty = Callable[[int, float], tuple[float, Fraction]]
"""(level, enough) → a lower bound on the penalty of this and all lower levels, and the level's own penalty.

Once the bound exceeds `enough` the penalty itself may be anything above: the level has lost.
"""


class Draw:
    """An Exp(1) number, -ln U, of whose U more bits are drawn when they are needed."""

    def __init__(self, noise: Noise) -> None:
        self._noise = noise
        self._count = WORD
        self._bits = noise.bits(WORD)

    def between(self) -> tuple[float, float]:
        """Return doubles that enclose the number: closely, unless it is so large that its bits run out."""
        if self._bits >> WORD // 2 == 0:
            return WORD // 2 * math.log(2) - MARGIN, math.inf
        near = self._count * math.log(2) - math.log(self._bits + 0.5)
        return near - MARGIN, near + MARGIN

    def enclosure(self, digits: int) -> tuple[Fraction, Fraction]:
        """Return rationals that enclose the number, tighter the more digits are asked for."""
        while self._bits == 0 or self._count < 4 * digits:
            self._bits = self._bits << WORD | self._noise.bits(WORD)
            self._count += WORD
        whole = 1 << self._count
        low, _ = logarithm(Fraction(whole, self._bits + 1), digits)
        _, high = logarithm(Fraction(whole, self._bits), digits)
        return low, high


@dataclass(frozen=True, slots=True)
class Runner:
    """A level in the race: its draw, its penalty, and its prior in units of ln2."""

    level: int
    draw: Draw
    penalty: Fraction
    prior: Fraction

    def between(self) -> tuple[float, float]:
        """Return doubles that enclose the noisy score."""
        low, high = self.draw.between()
        cost = float(self.penalty) + float(self.prior) * math.log(2)
        margin = MARGIN * abs(cost)
        return low - cost - margin, high - cost + margin

    def enclosure(self, digits: int) -> tuple[Fraction, Fraction]:
        """Return rationals that enclose the noisy score."""
        (low, high), (least, most) = self.draw.enclosure(digits), logarithm(Fraction(2), digits)
        ends = sorted((self.prior * least, self.prior * most))
        return low - self.penalty - ends[1], high - self.penalty - ends[0]

    def beats(self, other: Runner) -> bool:
        """Return whether this runner's noisy score is the larger, decided exactly (ties never happen)."""
        ours: tuple[float | Fraction, float | Fraction] = self.between()
        theirs: tuple[float | Fraction, float | Fraction] = other.between()
        digits = FIRST_DIGITS
        while ours[0] <= theirs[1] and theirs[0] <= ours[1]:
            ours, theirs = self.enclosure(digits), other.enclosure(digits)
            digits *= 2
        return ours[0] > theirs[1]


def noisy_maximum(
    levels: range,
    top: int,
    weight: Fraction,
    prior: Callable[[int], Fraction],
    penalty: Penalty,
    noise: Noise,
) -> int:
    """Return the level k that maximises E_k - weight·penalty(k) - ln2·prior(k).

    From level `top` on penalties are zero, and at the last level whatever the data; below, they do not fall
    as k falls.

    Guarantee: returns exactly the maximiser for some admissible value of every penalty within its interval,
    so ε-private as docs/proofs.md, lemma 2' says.
    """
    draws = {k: Draw(noise) for k in levels}
    last = levels[-1]
    best = _free_winner([Runner(k, draws[k], Fraction(0), prior(k)) for k in range(min(top, last), last + 1)])
    floor = 0.0
    for k in range(min(top, last) - 1, levels.start - 1, -1):
        free = Runner(k, draws[k], Fraction(0), prior(k))
        enough = (free.between()[1] - best.between()[0]) / float(weight) * (1 + MARGIN)
        if enough < floor:
            continue
        floor, own = penalty(k, enough)
        if enough < floor:
            continue
        runner = Runner(k, draws[k], weight * own, prior(k))
        if runner.beats(best):
            best = runner
    return best.level


def _free_winner(runners: list[Runner]) -> Runner:
    """Return the best of the levels without penalty."""
    floor = max(runner.between()[0] for runner in runners)
    best, *others = (runner for runner in runners if runner.between()[1] >= floor)
    for runner in others:
        if runner.beats(best):
            best = runner
    return best
