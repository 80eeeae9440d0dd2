"""Quantiles: the lazy exponential mechanism over all whole numbers of granules, sampled exactly.

With A_t = X(τ) of the rows up to t, B_t = X(τ) of those above and m_t = (1-q)A_t - qB_t, a number t is drawn
with probability proportional to μ(t)·exp(-λ|m_t|). m is monotone, so what is known of it at a few places
bounds it between them: only there is anything solved, and a draw is accepted or not by one coin.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from math import exp

from recuse.mechanism.parameters import SLACK
from recuse.mechanism.pick import pick
from recuse.noise import Noise, below, happens

LARGEST = 62
"""Values are whole granules from -2^62 to 2^62; what lies beyond counts as lying at the end."""

FAMILIAR = 36
"""doublings of a granule up to which every size is as likely as another: 10^8 in cents is below it"""

HEAVY = 0.15
"""A piece with more than this part of the envelope is looked into before anything is drawn (measured: about
twenty evaluations a quantile of 60,000 rows)."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """The whole numbers from `first` to `last`, of one prior density (up to a factor): part of a block."""

    first: int
    last: int
    density: Fraction

    @property
    def mass(self) -> Fraction:
        """Its prior weight."""
        return (self.last - self.first + 1) * self.density


def dyadic_blocks() -> list[Stretch]:
    """Return the prior: 0, and every [2^i, 2^{i+1}) and its mirror image, uniform inside.

    Up to `FAMILIAR` all are equally likely; from there on each is half as likely as the one before.
    """
    sizes = [(2**i, Fraction(1, 2 ** max(0, i - FAMILIAR))) for i in range(LARGEST)]
    above = [Stretch(size, 2 * size - 1, mass / size) for size, mass in sizes]
    below = [Stretch(-piece.last, -piece.first, piece.density) for piece in reversed(above)]
    return [*below, Stretch(0, 0, Fraction(1)), *above]


Rank = Callable[[int], Fraction]
"""t → m'_t, within ητ of m_t"""


@dataclass(slots=True)
class Envelope:
    """What is known of m, and the bound on every weight that follows.

    `places` are the numbers at which m was found, and `found` what it was there; `slack` is how far two found
    values may be from monotone, ητ.
    """

    rate: Fraction
    slack: Fraction
    pieces: list[Stretch] = field(default_factory=dyadic_blocks)
    places: list[int] = field(default_factory=list)
    found: list[Fraction] = field(default_factory=list)

    def exponent(self, piece: Stretch) -> Fraction:
        """Return x with weight(t) ≤ μ(t)e^{-x} for every t of the piece; equality where m is known."""
        place = bisect_left(self.places, piece.first)
        if place < len(self.places) and self.places[place] == piece.first == piece.last:
            return self.rate * abs(self.found[place])
        before = self.found[place - 1] if place else Fraction(0)
        after = self.found[place] if place < len(self.places) else Fraction(0)
        return self.rate * max(before - self.slack, -after - self.slack, Fraction(0))

    def is_known(self, t: int) -> bool:
        """Return whether m was found at t."""
        place = bisect_left(self.places, t)
        return place < len(self.places) and self.places[place] == t

    def learn(self, t: int, value: Fraction) -> None:
        """Note m at t: its piece falls into what is before, t, and what is after."""
        place = bisect_left(self.places, t)
        self.places.insert(place, t)
        self.found.insert(place, value)
        at = next(i for i, piece in enumerate(self.pieces) if piece.first <= t <= piece.last)
        whole = self.pieces[at]
        parts = [(whole.first, t - 1), (t, t), (t + 1, whole.last)]
        self.pieces[at : at + 1] = [Stretch(a, b, whole.density) for a, b in parts if a <= b]

    def heavy(self) -> int | None:
        """Return the middle of an open piece with much of the envelope's weight, if there is one.

        Doubles will do: any envelope above the weights is right.
        """
        exponents = [self.exponent(piece) for piece in self.pieces]
        least = min(exponents)
        weights = [
            float(piece.mass) * exp(-float(min(x - least, Fraction(700))))
            for piece, x in zip(self.pieces, exponents, strict=True)
        ]
        bar = HEAVY * sum(weights)
        for piece, weight in zip(self.pieces, weights, strict=True):
            middle = (piece.first + piece.last) // 2
            if weight > bar and not (piece.first == piece.last and self.is_known(middle)):
                return middle
        return None


def draw_quantile(envelope: Envelope, balance: Rank, noise: Noise) -> int:
    """Return t with probability proportional to μ(t)·exp(-rate·|m'_t|), exactly.

    Guarantee: as proofs.md, theorem V1 says, for every choice of certified values, the draws known to it.
    """
    while True:
        while (t := envelope.heavy()) is not None:
            envelope.learn(t, balance(t))
        masses = [piece.mass for piece in envelope.pieces]
        exponents = [envelope.exponent(piece) for piece in envelope.pieces]
        chosen = pick(masses, exponents, noise)
        piece = envelope.pieces[chosen]
        t = piece.first + below(piece.last - piece.first + 1, noise)
        if envelope.is_known(t):
            return t
        value = balance(t)
        envelope.learn(t, value)
        if happens(envelope.rate * abs(value) - exponents[chosen], noise):
            return t


def quantile_rate(epsilon: Fraction, tau: Fraction, rank: Fraction) -> Fraction:
    """Return λ = ε2/(2τ·max(q, 1-q)·(1+2η))."""
    return epsilon / (2 * tau * max(rank, 1 - rank) * (1 + 2 * SLACK))
