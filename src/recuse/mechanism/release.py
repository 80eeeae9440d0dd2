"""Release: what a mechanism lets out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor, inf
from typing import Self

CONFIDENCE = 0.95


def short(value: Fraction) -> str:
    """Return a number for people: whole numbers with thousands apart, others to six digits.

    >>> short(Fraction(1234567)), short(Fraction(5, 4))
    ('1,234,567', '1.25')
    """
    return f"{int(value):,}" if value.denominator == 1 else f"{float(value):,.6g}"


@dataclass(frozen=True, slots=True)
class Release:
    """A private answer and what may be said of its noise.

    `value` and the ends of `interval` lie on a public grid. The interval is about the noise only: it holds
    the truncated answer with probability 95 %, not the true one.
    """

    value: Fraction
    interval: tuple[Fraction, Fraction]
    noise_scale: Fraction
    epsilon: Fraction
    mechanism: str
    signed: bool = False
    """whether truncation can move the answer either way (a signed sum) or only lower it (a count)"""
    remaining: Fraction | None = None
    """what the ledger has left after this answer; None without a ledger"""

    def __str__(self) -> str:
        low, high = (short(end) for end in self.interval)
        left = "" if self.remaining is None else f", {short(self.remaining)} left"
        spread = f"(95 % of the noise: {low} to {high})"
        return f"{short(self.value)} {spread}, epsilon {short(self.epsilon)}{left}"

    def in_units(self, granularity: Fraction) -> Self:
        """Return the release with granules turned back into the query's own unit."""
        low, high = self.interval
        return replace(
            self,
            value=self.value * granularity,
            interval=(low * granularity, high * granularity),
            noise_scale=self.noise_scale * granularity,
        )

    def rounded(self, *, signed: bool) -> Self:
        """Return the release on whole granules, clamped at zero for a count: post-processing, so free.

        Weights are whole granules, and the truncated answer of a count is not negative, so neither costs
        the interval anything.
        """
        least = -inf if signed else 0
        low, high = self.interval
        return replace(
            self,
            signed=signed,
            value=Fraction(max(least, round(self.value))),
            interval=(Fraction(max(least, floor(low))), Fraction(max(least, ceil(high)))),
        )
