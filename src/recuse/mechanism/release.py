"""Release: what a mechanism lets out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor, inf
from typing import Self

from recuse.numerals import short
from recuse.privacy import decimal_text

CONFIDENCE = 0.95

Reach = tuple[Fraction | None, Fraction | None]
"""ends; None where nothing is said"""


@dataclass(frozen=True, slots=True, repr=False)
class Release:
    """A private number and what may be said of its noise.

    `value` and the ends of `interval` lie on a public grid. The interval is about the noise only: it holds
    the truncated answer with probability 95 % at least, not the true one. It is not centred on `value` where
    the answer was lifted against the bias of truncation.
    """

    value: Fraction
    interval: Reach
    noise_scale: Fraction
    """the mean absolute value of the noise before it took part in a choice, which favours large ones; how
    much noise is needed was chosen privately"""
    epsilon: Fraction
    """what the measure cost: all its groups together, if they share it"""
    mechanism: str
    signed: bool = False
    """whether truncation can move the answer either way (a sum, a count with NOT) or only lower it"""
    noise_epsilon: Fraction | None = None
    """the part of `epsilon` that the noise was drawn with, together with that of its groups: the whole of it
    where the same noise chose how much is needed"""
    undefined: bool = False
    """whether there is no number, as in a maximum of too few: `value` means nothing then"""
    counted: bool = False
    """whether it is a number of rows: whole, and not negative"""
    unit: Fraction = Fraction(1)
    """what it and the ends of its interval are whole multiples of, once rounded"""
    truncated: bool = True
    """whether the answer before noise may lack what a few have beyond all others"""
    cut: Fraction | None = None
    """τ: what somebody has beyond it is not in the answer; chosen privately, so it may be told"""

    def __repr__(self) -> str:
        low, high = ("…" if end is None else short(end, self.unit) for end in self.interval)
        value, epsilon = short(self.value, self.unit), decimal_text(self.epsilon)
        return f"<Release {value} (noise {low} to {high}), epsilon {epsilon}>"

    def moved(self, more: Fraction) -> Self:
        """Return the release with a public number added."""
        low, high = (None if end is None else end + more for end in self.interval)
        return replace(self, value=self.value + more, interval=(low, high))

    def in_units(self, granularity: Fraction) -> Self:
        """Return the release with granules turned back into the query's own unit."""
        if granularity == 1:
            return self
        low, high = (None if end is None else end * granularity for end in self.interval)
        return replace(
            self,
            value=self.value * granularity,
            interval=(low, high),
            noise_scale=self.noise_scale * granularity,
            unit=self.unit * granularity,
            cut=None if self.cut is None else self.cut * granularity,
        )

    def rounded(self, *, signed: bool, counted: bool = False) -> Self:
        """Return the release on whole granules, clamped at zero without a sign: post-processing, so free.

        Weights are whole granules, and the truncated answer of a count, or of a sum of values that are never
        below 0, is not negative, so neither costs the interval anything. A count from which rows are taken
        away is `signed` and `counted`: its answer is not negative either. Its truncated answer may be, and
        then the interval is about that, clamped.
        """
        least = -inf if signed and not counted else 0
        low, high = self.interval
        return replace(
            self,
            signed=signed,
            counted=counted,
            value=Fraction(max(least, round(self.value))),
            interval=(
                None if low is None else Fraction(max(least, floor(low))),
                None if high is None else Fraction(max(least, ceil(high))),
            ),
        )
