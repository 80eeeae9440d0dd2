"""Where the middle of some values is, found first: what is asked of them is then looked for near it.

A quantile far from the middle, a maximum and a minimum are decided by few rows, so what is believed before
decides much. Half of the rows lie on either side of the median: it is found without believing anything.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recuse.krelation.relation import Integers
from recuse.mechanism.axis import Axis, Middle, is_nothing
from recuse.mechanism.parameters import SLACK
from recuse.mechanism.quantile import Envelope, Rank, RankBalance, draw_quantile, quantile_rate
from recuse.noise import Noise

MIDDLE_SHARE = Fraction(1, 5)
SPREAD_SHARE = Fraction(1, 10)
"""the parts of ε for the middle and for the spread, if what is asked lies elsewhere"""
REST_SHARE = 1 - MIDDLE_SHARE - SPREAD_SHARE
HALF = Fraction(1, 2)

Some = NDArray[np.bool_]
"""which of the rows"""


@dataclass(frozen=True, slots=True)
class Weighing:
    """Values, and how much any of their rows weigh together.

    `weigh` is X'(τ) of some rows: with a participant more it moves within [0, τ], up to ητ.
    """

    values: Integers
    weigh: Callable[[Some], Fraction]
    tau: Fraction

    def balance(self, rank: Fraction, chosen: Callable[[int], Any]) -> Rank:
        """Return m: what weighs for a larger number, less what weighs against it.

        `chosen` says which rows lie up to a number.
        """

        def of(some: Some) -> Fraction:
            return (1 - rank) * self.weigh(some) - rank * self.weigh(~some)

        def found(t: int) -> RankBalance:
            before, up_to = (np.asarray(chosen(number), bool) for number in (t - 1, t))
            now = of(up_to)
            return (now if np.array_equal(before, up_to) else of(before)), now

        return found

    def below(self, rank: Fraction) -> Rank:
        """Return m of the rows with values up to a number."""
        return self.balance(rank, lambda t: self.values <= t)

    def envelope(self, epsilon: Fraction, rank: Fraction, pieces: list[Any]) -> Envelope:
        """Return what is known before anything is found: a draw from it costs ε."""
        return Envelope(quantile_rate(epsilon, self.tau, rank), SLACK * self.tau, pieces)

    def middle(self, epsilon: Fraction, axis: Axis, noise: Noise) -> Middle | None:
        """Return the middle and the spread for their parts of ε; None if there are too few people.

        Guarantee: (MIDDLE_SHARE + SPREAD_SHARE)·ε-private for given τ (proofs.md, theorem V4).
        """
        first = self.envelope(MIDDLE_SHARE * epsilon, HALF, axis.far())
        at = draw_quantile(first, self.below(HALF), noise)
        if is_nothing(at):
            return None
        apart = self.balance(HALF, lambda d: (self.values >= at - d) & (self.values <= at + d))
        second = self.envelope(SPREAD_SHARE * epsilon, HALF, axis.sizes())
        return Middle(at, draw_quantile(second, apart, noise))
