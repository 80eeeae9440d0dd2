"""Noise with P(i) ∝ exp(-ε‖i‖/D) for two norms of boxes: the hull of [0,1]^G and [-1,0]^G, and the cube.

Both mix uniform points of boxes: e^{-r‖i‖} = Σ_{m ≥ ‖i‖} (1-e^{-r}) e^{-rm}. So the side m of a box is drawn
with weight e^{-rm} times the number of its points, and then one of these.

hull   ‖i‖ = max(0, max i) - min(0, min i): i_g = U_g - U_0 of U in {0..m}^{G+1}
cube   ‖i‖ = max |i_g|: i in {-m..m}^G
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

import numpy as np

from recuse.deferred import special
from recuse.krelation.relation import Integers
from recuse.mechanism.draws import WORD
from recuse.mechanism.geometrics import Words, geometrics, random_words
from recuse.mechanism.vector import DrawnVectors
from recuse.noise import ROUNDING, Noise, happens


class Norm(Enum):
    """Whose balls the boxes are: of vectors whose cells all move the same way, or each either way."""

    HULL = "hull"
    CUBE = "cube"


@dataclass(frozen=True, slots=True)
class BoxLaplace:
    """Noise for vectors of which each cell moves by the sensitivity at most. Its level is ‖i‖/D.

    Guarantee: P(i) ∝ exp(-ε‖i‖/D) exactly, so it is ε-private for vectors that move by D in the norm
    (proofs.md, lemma W1).
    """

    norm: Norm
    epsilon: Fraction
    sensitivity: int
    cells: int

    def entries(self, count: int, noise: Noise) -> DrawnVectors:
        rate = self.epsilon / self.sensitivity
        if self.norm is Norm.CUBE:
            sides = box_sides(rate, self.cells, count, noise, signed=True)
            drawn = uniform(2 * sides, self.cells, noise) - sides[:, None]
            return DrawnVectors(np.abs(drawn).max(axis=1), drawn)
        corners = self.cells + 1
        drawn = uniform(box_sides(rate, corners, count, noise, signed=False), corners, noise)
        return DrawnVectors(np.ptp(drawn, axis=1), drawn[:, 1:] - drawn[:, :1])

    def draw(self, noise: Noise) -> Sequence[int]:
        return self.entries(1, noise).point(0, noise)

    @property
    def parts(self) -> int:
        return self.sensitivity

    def reach(self, confidence: float) -> int:
        rate = self.epsilon / self.sensitivity
        if self.norm is Norm.CUBE:
            return box_reach(rate, self.cells, 1, confidence)
        return box_reach(rate, self.cells + 1, 2, confidence)

    def reaches(self, confidence: float) -> Sequence[int]:
        return [self.reach(confidence)] * self.cells

    def spread(self) -> Fraction:
        """Return the mean size of one cell, but for less than a step.

        It is that of one number times (G+1)/2 in the cube, and (G+2)/3 in the hull.
        """
        cube = self.norm is Norm.CUBE
        times = Fraction(self.cells + 1, 2) if cube else Fraction(self.cells + 2, 3)
        return times * self.sensitivity / self.epsilon


# ------------------------------------------------------------------ exact draws


def box_sides(rate: Fraction, corners: int, count: int, noise: Noise, *, signed: bool) -> Integers:
    """Return so many m with P(m) ∝ e^{-rate·m}(m+1)^d, signed e^{-rate·m}(2m+1)^d, d being `corners`.

    Σ_m (m+1)^d z^m = A_d(z)/(1-z)^{d+1}, A_d the Eulerian polynomial, which counts permutations by descents.
    So m is the number of descents of a random permutation, kept with probability e^{-rate·descents}, plus
    d+1 geometric numbers. With signs the same holds with signed permutations (Brenti 1994).

    Guarantee: exactly this law (proofs.md, lemma W2).
    """
    descents = signed_descents if signed else plain_descents
    found = descents(corners, count, noise)
    wrong = np.arange(count)
    while len(wrong := _unlucky(found, wrong, rate, noise)):
        found[wrong] = descents(corners, len(wrong), noise)
    more = geometrics(rate, count * (corners + 1), noise)
    sides: Integers = found + more.reshape(count, corners + 1).sum(axis=1)
    return sides


def _unlucky(found: Integers, drawn: Integers, rate: Fraction, noise: Noise) -> Integers:
    """Return which of what was drawn are not kept."""
    return np.array([k for k in drawn.tolist() if not happens(rate * int(found[k]), noise)], np.int64)


def plain_descents(size: int, count: int, noise: Noise) -> Integers:
    """Return the numbers of descents of so many random permutations."""
    order = _distinct_words(size, count, noise)
    found: Integers = (order[:, :-1] > order[:, 1:]).sum(axis=1)
    return found


def signed_descents(size: int, count: int, noise: Noise) -> Integers:
    """Return the numbers of descents of so many random signed permutations; a first number below 0 is one."""
    order = _distinct_words(size, count, noise).astype(np.int64)  # the order of their sizes
    signs = random_words(count * size, noise).reshape(count, size) & np.uint64(1)
    line = np.where(signs, -order - 1, order + 1)
    found: Integers = (line[:, 0] < 0) + (line[:, :-1] > line[:, 1:]).sum(axis=1)
    return found


def _distinct_words(size: int, count: int, noise: Noise) -> Words:
    """Return rows of numbers of 62 bits, different in every row: in a random order, then."""
    rows = random_words(count * size, noise).reshape(count, size) >> np.uint64(2)
    while len(tied := np.flatnonzero((np.diff(np.sort(rows, axis=1), axis=1) == 0).any(axis=1))):
        rows[tied] = random_words(len(tied) * size, noise).reshape(len(tied), size) >> np.uint64(2)
    return rows


def uniform(sides: Integers, corners: int, noise: Noise) -> Integers:
    """Return for every side m so many independent uniform numbers from 0 to m."""
    limits = np.repeat(sides, corners).astype(np.uint64)
    shifts = np.array([WORD - max(1, int(side).bit_length()) for side in sides], np.uint64).repeat(corners)
    found = random_words(len(limits), noise) >> shifts
    while len(beyond := np.flatnonzero(found > limits)):
        found[beyond] = random_words(len(beyond), noise) >> shifts[beyond]
    return found.astype(np.int64).reshape(len(sides), corners)


# ------------------------------------------------------------------ what may be said of them


def box_reach(rate: Fraction, corners: int, power: int, confidence: float) -> int:
    """Return q with P(|i_g| > q) ≤ 1 - confidence, for one cell of a hull (power 2) or of a cube (power 1).

    In a box of k = m+1 (cube: m+½) a cell exceeds q with probability ((k-q)⁺/k)^power at most, and k has a
    law ∝ k^d e^{-rk}: nearly Gamma(d+1), of which the integrals are known. Sums differ from integrals by the
    largest term at most.

    Guarantee: proofs.md, lemma W3.
    """
    scale, allowed = 1 / float(rate), 1 - confidence - ROUNDING
    off = math.exp(corners * math.log(corners) - corners - math.lgamma(corners + 1)) / scale
    if off > allowed / 4:  # few steps in τ, as for a large ε: a coarse bound is a small number
        return _coarse_reach(float(rate), corners, allowed)
    low, high = 0.0, 2.0 * corners + 100
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        enough = (_beyond(middle, corners, power) + off) / (1 - off) <= allowed
        low, high = (low, middle) if enough else (middle, high)
    return math.ceil(high * scale)


def _beyond(t: float, d: int, power: int) -> float:
    """Return E((x-t)⁺/x)^power for x ~ Gamma(d+1), rounding included."""
    first, second, third = (float(special.gammaincc(d + 1 - less, t)) for less in range(3))
    if power == 1:
        return first - t / d * second + ROUNDING
    return first - 2 * t / d * second + t * t / (d * (d - 1)) * third + ROUNDING


def _coarse_reach(rate: float, corners: int, allowed: float) -> int:
    """Return q with P(m > q) ≤ allowed: d descents, and d+1 geometric numbers by Chernoff's bound."""
    ratio = math.exp(-rate)
    gain = math.log((1 + ratio) / (2 * ratio))
    return corners + math.ceil(((corners + 1) * math.log(2) - math.log(allowed)) / gain)
