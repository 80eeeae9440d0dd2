"""Quantiles: the lazy exponential mechanism over all whole numbers of granules, sampled exactly.

With A_t = X(τ) of the rows up to t, B_t = X(τ) of those above and m_t = (1-q)A_t - qB_t, a number t is drawn
with probability proportional to μ(t)·exp(-λ·max(m_{t-1}, -m_t, 0)): what is against it is how far the rank q
is from the ranks that t has, and a value that many rows share has many. m is monotone, so what is known of it
at a few places bounds it between them: only there is anything solved, and a draw is accepted or not by one
coin.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from math import exp

from recuse.mechanism.axis import Stretch
from recuse.mechanism.parameters import SLACK
from recuse.mechanism.pick import pick
from recuse.noise import Noise, below, happens

HEAVY = 0.15
"""A piece with more than this part of the envelope is looked into before anything is drawn (measured: about
twenty evaluations a quantile of 60,000 rows)."""


RankBalance = tuple[Fraction, Fraction]
"""m'_{t-1} and m'_t, each within ητ of what it stands for: they differ where a row has the value t"""
Rank = Callable[[int], RankBalance]


def distance(balance: RankBalance) -> Fraction:
    """Return how far a rank is from those that a number has, in rows: max(m_{t-1}, -m_t, 0)."""
    return max(balance[0], -balance[1], Fraction(0))


@dataclass(slots=True)
class Envelope:
    """What is known of m, and the bound on every weight that follows.

    `pieces` begin as the prior. `places` are the numbers at which m was found, and `found` what it was there
    and just before; `slack` is how far two found values may be from monotone, ητ.
    """

    rate: Fraction
    slack: Fraction
    pieces: list[Stretch]
    places: list[int] = field(default_factory=list)
    found: list[RankBalance] = field(default_factory=list)
    exponents: list[Fraction] = field(init=False)
    """x of every piece, with weight(t) ≤ μ(t)e^{-x} for every t of it; equality where m is known"""
    nearly: list[tuple[float, float]] = field(init=False)
    """mass and x of every piece in doubles"""

    def __post_init__(self) -> None:
        self.exponents = [self._exponent(piece) for piece in self.pieces]
        self.nearly = [
            (float(piece.mass), float(x)) for piece, x in zip(self.pieces, self.exponents, strict=True)
        ]

    def _exponent(self, piece: Stretch) -> Fraction:
        place = bisect_left(self.places, piece.first)
        if place < len(self.places) and self.places[place] == piece.first == piece.last:
            return self.rate * distance(self.found[place])
        before = self.found[place - 1][1] if place else Fraction(0)
        after = self.found[place][0] if place < len(self.places) else Fraction(0)
        return self.rate * max(before - self.slack, -after - self.slack, Fraction(0))

    def is_known(self, t: int) -> bool:
        """Return whether m was found at t."""
        place = bisect_left(self.places, t)
        return place < len(self.places) and self.places[place] == t

    def _is_open(self, at: int) -> bool:
        return 0 <= at < len(self.pieces) and not self.is_known(self.pieces[at].first)

    def learn(self, t: int, value: RankBalance) -> None:
        """Note m at t: its piece falls into what is before, t, and what is after."""
        place = bisect_left(self.places, t)
        self.places.insert(place, t)
        self.found.insert(place, value)
        at = bisect_right(self.pieces, t, key=lambda piece: piece.first) - 1
        whole = self.pieces[at]
        parts = [(whole.first, t - 1), (t, t), (t + 1, whole.last)]
        fresh = [Stretch(a, b, whole.density) for a, b in parts if a <= b]
        self.pieces[at : at + 1] = fresh
        self.exponents[at : at + 1] = [self._exponent(piece) for piece in fresh]
        # what is known at t bounds m up to the next places at which it is known, on both sides
        first, last = at, at + len(fresh) - 1
        while self._is_open(first - 1):
            first -= 1
        while self._is_open(last + 1):
            last += 1
        self.exponents[first : last + 1] = [self._exponent(piece) for piece in self.pieces[first : last + 1]]
        self.nearly[first : last + 2 - len(fresh)] = [
            (float(self.pieces[i].mass), float(self.exponents[i])) for i in range(first, last + 1)
        ]

    def heavy(self) -> int | None:
        """Return the middle of an open piece with much of the envelope's weight, if there is one.

        Doubles will do: any envelope above the weights is right.
        """
        least = min(x for _, x in self.nearly)
        weights = [mass * exp(least - x) for mass, x in self.nearly]
        bar = HEAVY * sum(weights)
        for piece, weight in zip(self.pieces, weights, strict=True):
            middle = (piece.first + piece.last) // 2
            if weight > bar and not (piece.first == piece.last and self.is_known(middle)):
                return middle
        return None


def draw_quantile(envelope: Envelope, balance: Rank, noise: Noise) -> int:
    """Return t with probability proportional to μ(t)·exp(-rate·max(m'_{t-1}, -m'_t, 0)), exactly.

    Guarantee: as proofs.md, theorem V1 says, for every choice of certified values, the draws known to it.
    """
    while True:
        while (t := envelope.heavy()) is not None:
            envelope.learn(t, balance(t))
        chosen = pick([piece.mass for piece in envelope.pieces], envelope.exponents, noise)
        piece, exponent = envelope.pieces[chosen], envelope.exponents[chosen]
        t = piece.first + below(piece.last - piece.first + 1, noise)
        if envelope.is_known(t):
            return t
        value = balance(t)
        envelope.learn(t, value)
        if happens(envelope.rate * distance(value) - exponent, noise):
            return t


def quantile_rate(epsilon: Fraction, tau: Fraction, rank: Fraction) -> Fraction:
    """Return λ = ε2/(2τ·max(q, 1-q)·(1+2η))."""
    return epsilon / (2 * tau * max(rank, 1 - rank) * (1 + 2 * SLACK))
