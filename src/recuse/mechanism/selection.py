"""The noisy maximum: which level wins when each has an independent Exp(1) added to its score.

Doubles decide only what they provably decide, the rest is decided in arbitrary precision. Levels are looked
at from the top down, and a level whose penalty cannot be small enough to win is never solved for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

import numpy as np

from recuse.exponential import FIRST_DIGITS, logarithm
from recuse.krelation.relation import Floats
from recuse.mechanism.draws import MARGIN, Draws
from recuse.noise import Noise

Penalty = Callable[[int, float], tuple[float, Fraction]]
"""(level, enough) → a lower bound on the penalty of this and all lower levels, and the level's own penalty.

Once the bound exceeds `stop_above` the penalty itself may be anything above: the level has lost.
"""


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
class Race:
    """The noisy scores E_k + boost_k - ln2·prior(k) before any penalty."""

    draws: Draws
    prior: Prior
    boosts: Sequence[Fraction]
    low: Floats
    high: Floats

    @classmethod
    def of(cls, prior: Prior, levels: range, boosts: Sequence[Fraction], noise: Noise) -> Race:
        """Return a race of levels with known boosts, one each; none at all if there are none."""
        draws, costs = Draws(levels, noise), prior_costs(prior, levels)
        ahead = np.array([float(boost) for boost in boosts]) if boosts else np.zeros(len(levels))
        margin = MARGIN * (np.abs(costs) + ahead)
        return cls(
            draws, prior, boosts, draws.low + ahead - costs - margin, draws.high + ahead - costs + margin
        )

    def between(self, runner: Runner) -> tuple[float, float]:
        """Return doubles that enclose a noisy score."""
        place, cost = runner.level - self.draws.levels.start, float(runner.penalty)
        margin = MARGIN * cost
        return float(self.low[place]) - cost - margin, float(self.high[place]) - cost + margin

    def enclosure(self, runner: Runner, digits: int) -> tuple[Fraction, Fraction]:
        """Return rationals that enclose a noisy score."""
        low, high = self.draws.enclosure(runner.level, digits)
        boost = self.boosts[runner.level - self.draws.levels.start] if self.boosts else 0
        ends = sorted(self.prior.prior(runner.level) * end for end in logarithm(Fraction(2), digits))
        return low + boost - runner.penalty - ends[1], high + boost - runner.penalty - ends[0]

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


@dataclass(frozen=True, slots=True)
class Runner:
    """A level in the race."""

    level: int
    penalty: Fraction
    """what it costs to win there, already weighted"""


def noisy_maximum(
    prior: Prior,
    levels: range,
    top: int,
    weight: Fraction,
    penalty: Penalty,
    noise: Noise,
    boosts: Sequence[Fraction] = (),
) -> int:
    """Return the level k that maximises E_k + boost_k - weight·penalty(k) - ln2·prior(k).

    From level `top` on penalties are zero, and at the last level whatever the data; below, they do not fall
    as k falls.

    Guarantee: returns exactly the maximiser for some admissible value of every penalty within its interval,
    so it is private as proofs.md, lemma 2' says; with boosts, as theorem R says.
    """
    race = Race.of(prior, levels, boosts, noise)
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
