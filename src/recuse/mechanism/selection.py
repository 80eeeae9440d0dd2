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
from functools import lru_cache
from typing import Protocol

import numpy as np

from recuse.exponential import FIRST_DIGITS, logarithm
from recuse.krelation.relation import Floats
from recuse.noise import Noise

WORD = 64
MARGIN = 2.0**-30
"""Far more than doubles err here: what is closer than this is left to exact arithmetic."""

Penalty = Callable[[int, float], tuple[float, Fraction]]
"""(level, enough) → a lower bound on the penalty of this and all lower levels, and the level's own penalty.

Once the bound exceeds `stop_above` the penalty itself may be anything above: the level has lost.
"""


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


class Prior(Protocol):
    """What levels cost before anything is known of them."""

    def __hash__(self) -> int:
        """Return a hash: equal priors cost the same."""
        ...

    def prior(self, level: int) -> Fraction:
        """Return the cost of a level in units of ln2."""


@lru_cache(maxsize=8)
def prior_costs(prior: Prior, levels: range) -> Floats:
    """Return the prior of every level, in doubles; the same in every draw of a mechanism."""
    found = np.array([float(prior.prior(k)) for k in levels]) * math.log(2)
    found.setflags(write=False)
    return found


@dataclass(frozen=True, slots=True)
class Runner:
    """A level in the race with its penalty, already weighted."""

    level: int
    penalty: Fraction


@dataclass(frozen=True, slots=True)
class Race:
    """The noisy scores E_k - ln2·prior(k) before any penalty."""

    draws: Draws
    prior: Prior
    low: Floats
    high: Floats

    def between(self, runner: Runner) -> tuple[float, float]:
        """Return doubles that enclose a noisy score."""
        place, cost = runner.level - self.draws.levels.start, float(runner.penalty)
        margin = MARGIN * cost
        return float(self.low[place]) - cost - margin, float(self.high[place]) - cost + margin

    def enclosure(self, runner: Runner, digits: int) -> tuple[Fraction, Fraction]:
        """Return rationals that enclose a noisy score."""
        low, high = self.draws.enclosure(runner.level, digits)
        prior = self.prior.prior(runner.level)
        ends = sorted(prior * end for end in logarithm(Fraction(2), digits))
        return low - runner.penalty - ends[1], high - runner.penalty - ends[0]

    def ahead(self, one: Runner, other: Runner) -> bool:
        """Return whether `one` has the larger noisy score, decided exactly (ties never happen)."""
        ours: tuple[float | Fraction, float | Fraction] = self.between(one)
        theirs: tuple[float | Fraction, float | Fraction] = self.between(other)
        digits = FIRST_DIGITS
        while ours[0] <= theirs[1] and theirs[0] <= ours[1]:
            ours, theirs = self.enclosure(one, digits), self.enclosure(other, digits)
            digits *= 2
        return ours[0] > theirs[1]

    def free_winner(self, top: int) -> Runner:
        """Return the best of the levels from `top` on, which have no penalty."""
        start = self.draws.levels.start
        floor = self.low[top - start :].max()
        contenders = np.flatnonzero(self.high[top - start :] >= floor) + top
        best, *others = (Runner(int(k), Fraction(0)) for k in contenders)
        for runner in others:
            if self.ahead(runner, best):
                best = runner
        return best


def noisy_maximum(
    prior: Prior, levels: range, top: int, weight: Fraction, penalty: Penalty, noise: Noise
) -> int:
    """Return the level k that maximises E_k - weight·penalty(k) - ln2·prior(k).

    From level `top` on penalties are zero, and at the last level whatever the data; below, they do not fall
    as k falls.

    Guarantee: returns exactly the maximiser for some admissible value of every penalty within its interval,
    so it is private as proofs.md, lemma 2' says.
    """
    draws, costs = Draws(levels, noise), prior_costs(prior, levels)
    margin = MARGIN * np.abs(costs)
    race = Race(draws, prior, draws.low - costs - margin, draws.high - costs + margin)
    top = min(max(top, levels.start), levels[-1])
    best, floor = race.free_winner(top), 0.0
    for k in range(top - 1, levels.start - 1, -1):
        lead = race.between(Runner(k, Fraction(0)))[1] - race.between(best)[0]
        stop_above = lead / float(weight) * (1 + MARGIN)
        if stop_above < floor:
            continue
        floor, own = penalty(k, stop_above)
        if stop_above < floor:
            continue
        runner = Runner(k, weight * own)
        if race.ahead(runner, best):
            best = runner
    return best.level
