"""Release: what a mechanism lets out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor, inf
from typing import Self

CONFIDENCE = 0.95

WIDTH, HEIGHT = 180, 14
"""The size of a drawn interval, in pixels."""


def short(value: Fraction) -> str:
    """Return a number for people: whole numbers with thousands apart, others to six digits.

    >>> short(Fraction(1234567)), short(Fraction(5, 4))
    ('1,234,567', '1.25')
    """
    return f"{int(value):,}" if value.denominator == 1 else f"{nearest(value):,.6g}"


def nearest(value: Fraction) -> int | float:
    """Return a number for programs: whole numbers as they are, others as the nearest double.

    >>> nearest(Fraction(8, 2)), nearest(Fraction(1, 4))
    (4, 0.25)
    """
    if value.denominator == 1:
        return int(value)
    try:
        return float(value)
    except OverflowError:  # beyond all doubles a fraction matters to nobody
        return round(value)


@dataclass(frozen=True, slots=True, repr=False)
class Release:
    """A private answer and what may be said of its noise.

    `value` and the ends of `interval` lie on a public grid. The interval is about the noise only: it holds
    the truncated answer with probability 95 % at least, not the true one. It is not centred on `value` where
    the answer was lifted against the bias of truncation.
    """

    value: Fraction
    interval: tuple[Fraction, Fraction]
    noise_scale: Fraction
    """the mean absolute value of the noise; it was chosen privately"""
    epsilon: Fraction
    """what the measure cost: all its groups together, if they share it"""
    mechanism: str
    signed: bool = False
    """whether truncation can move the answer either way (a signed sum) or only lower it (a count)"""
    noise_epsilon: Fraction | None = None
    """the part of `epsilon` that this answer's own noise was drawn with; the rest chose how much is needed"""
    remaining: Fraction | None = None
    """what the ledger has left after this answer; None without a ledger"""
    policy: str | None = None
    """the hash of the policy that it was asked under"""
    data_version: int | None = None
    """the custodian's number of the data that it was asked of"""
    stored: bool = False
    """whether the ledger had it from an earlier question, so that it cost nothing now"""

    def __str__(self) -> str:
        left = "" if self.remaining is None else f", {short(self.remaining)} left"
        if self.noise_scale == 0:
            return f"{short(self.value)} (exact: about nobody), free{left}"
        low, high = (short(end) for end in self.interval)
        spread = f"(95 % of the noise: {low} to {high})"
        again = " (asked before: free)" if self.stored else ""
        return f"{short(self.value)} {spread}, epsilon {short(self.epsilon)}{again}{left}"

    def __repr__(self) -> str:
        return f"<Release {self}>"

    def _repr_html_(self) -> str:
        """Return the answer for a notebook, its interval drawn."""
        low, high = self.interval
        if self.noise_scale == 0:
            return f"<div><b>{short(self.value)}</b><br><small>exact: about nobody, and free</small></div>"
        drawn = interval_svg(low, self.value, high, (min(low, Fraction(0)), high))
        return (
            f"<div><b>{short(self.value)}</b> &nbsp; {short(low)} {drawn} {short(high)}"
            f"<br><small>{str(self).partition('), ')[2]}; 95 % of the noise, not of truncation</small></div>"
        )

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


def interval_svg(low: Fraction, value: Fraction, high: Fraction, scale: tuple[Fraction, Fraction]) -> str:
    """Return a drawing of an interval with its middle marked, on a scale that several may share."""
    start, end = scale
    width = end - start or Fraction(1)
    left, middle, right = (4 + float((x - start) / width) * (WIDTH - 8) for x in (low, value, high))
    half = HEIGHT / 2
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" style="vertical-align: middle" role="img">'
        f'<g stroke="currentColor"><path d="M{left:.1f} {half}H{right:.1f}M{left:.1f} 3v{HEIGHT - 6}'
        f'M{right:.1f} 3v{HEIGHT - 6}"/></g><circle cx="{middle:.1f}" cy="{half}" r="3.5" fill="#c33"/></svg>'
    )
