"""What an answer says of the truth, as against its noise interval, which is about the truncated answer."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from recuse.mechanism.release import CONFIDENCE, Release
from recuse.session.intervals import UNBOUNDED, Ends

ONE_SIDED = (1 + CONFIDENCE) / 2
"""how surely the lower end of a noise interval lies below what it is about: 97.5 %"""


@dataclass(frozen=True, slots=True)
class TrueAnswer:
    """Where the true answer lies, and with what probability at least; ends that are None say nothing."""

    ends: Ends
    confidence: float


UNKNOWN = TrueAnswer(UNBOUNDED, 1.0)


def truth_of(release: Release) -> TrueAnswer:
    """Return what a released number says of the truth.

    Guarantee: the true answer lies within the ends with that probability at least (proofs.md, lemma I1):
    truncation can only lower what has no sign, and noise is above its reach in half of what is beyond it.
    """
    low, _ = release.interval
    if not release.noise_scale and release.interval != UNBOUNDED:
        return TrueAnswer(release.interval, 1.0)
    if not release.truncated:
        return TrueAnswer(release.interval, CONFIDENCE)
    if release.signed or low is None:
        return UNKNOWN
    return TrueAnswer((low, None), ONE_SIDED)


def drowned(value: Fraction | None, interval: Ends) -> bool:
    """Return whether the noise is large against the number: its interval is as wide as the number is large.

    >>> drowned(Fraction(10), (Fraction(5), Fraction(14))), drowned(Fraction(10), (Fraction(0), Fraction(14)))
    (False, True)
    """
    low, high = interval
    if value is None or low is None or high is None:
        return False
    return low < high and high - low >= abs(value)
