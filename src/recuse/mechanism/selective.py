"""The selective mechanism: τ = stretch·θ2^k for the doubling k that wins a noisy maximum.

Without OR a doubling is scored by N_s(θ2^k), the withdrawals that bring every load below it. With OR loads
see nothing of a tuple's other derivations, and it is scored by the deficit: how many withdrawals of weight
θ2^j, j > k, would explain what X(θ2^k) lacks.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from recuse.mechanism.answer import GridNoise, Laplace, Staircase
from recuse.mechanism.parameters import LAST_DOUBLING, SLACK, Score
from recuse.mechanism.prepared import truncated_high
from recuse.mechanism.selection import Penalty, noisy_maximum
from recuse.mechanism.truncating import Truncating
from recuse.noise import Noise, round_down
from recuse.solver.programs import Programs, TruncationPrograms, with_index

LARGEST_STRICT = 2.0**26
"""N_s jumps where a load passes τ. Loads are whole granules, so up to here they are far enough apart for a
solver in doubles to tell, most often, on which side one lies; above, N is used, which does not jump. Either
is found for every relation, but exact arithmetic is slow where many people are overloaded."""


@dataclass(frozen=True, slots=True)
class Selective(Truncating):
    """τ = stretch·θ2^k for the k that wins a noisy maximum: our mechanism.

    A level is one doubling, or several where loads grow by powers of what they count. The prior costs ln2
    times `gentle` a level up to level `knee`, and `steep` above. `offset` moves the answer up by that many
    τ/ε, against the downward bias of truncation.
    """

    score: Score
    first: int
    knee: int
    gentle: Fraction
    steep: Fraction
    stretch: Fraction
    offset: Fraction
    doublings: int = 1

    def prior(self, level: int) -> Fraction:
        """Return the cost of a level in units of ln2."""
        return self.gentle * min(level, self.knee) + self.steep * max(0, level - self.knee)

    def choose(self, programs: Sequence[TruncationPrograms], noise: Noise) -> Fraction:
        """Return τ for relations that lose the same participants: two signs of one, or several groups.

        Guarantee: ε1-private (proofs.md, theorem R5 for withdrawals, R6 for the deficit).
        """
        level = choose_level(programs, self, noise)
        return as_double(self.stretch * self.theta * Fraction(2) ** (self.doublings * level))

    def grid_noise(self, sensitivity: int) -> GridNoise:
        """Return staircase noise, the least there is; Laplace noise where the deficit is selected on."""
        if self.score is Score.WITHDRAWALS:
            return Staircase(self.answer_epsilon, sensitivity)
        return Laplace(self.answer_epsilon, sensitivity)

    def lift(self, tau: Fraction) -> Fraction:
        """Return offset·τ/ε."""
        return self.offset * tau / self.epsilon


def choose_level(programs: Sequence[TruncationPrograms], mechanism: Selective, noise: Noise) -> int:
    """Return the doubling that wins.

    Guarantee: ε1-private (proofs.md, lemma 2'): one withdrawal moves a penalty within an interval whose
    length, certified slack included, is ε1/weight.
    """
    theta, first, doublings = mechanism.theta, mechanism.first, mechanism.doublings
    levels = range(first, LAST_DOUBLING // doublings + 1)
    largest = min(max(part.largest_load() for part in programs), sys.float_info.max)
    top = min(first_level_above(largest, theta, first, doublings), levels[-1])  # as T1 says
    if mechanism.score is Score.WITHDRAWALS:
        weight, penalty = Fraction(1), withdrawals(with_index(programs), theta)
    else:
        weight = 1 / deficit_range(doublings)
        penalty = deficit(programs, theta, top, doublings)
    weight *= mechanism.choice_epsilon / (1 + 2 * SLACK)
    return noisy_maximum(mechanism, levels, top, weight, penalty, noise)


def deficit_range(doublings: int = 1) -> Fraction:
    """Return the length of the interval within which one withdrawal moves a deficit (proofs.md, T1)."""
    return 1 + Fraction(1, 2**doublings)


def first_level_above(load: float, theta: Fraction, first: int, doublings: int = 1) -> int:
    """Return the least k ≥ first with θ2^k ≥ load, a level being so many doublings, or the last of all.

    At the last level nothing lacks by definition, so that no load, not even an infinite one, is too large.
    """
    last = LAST_DOUBLING // doublings
    return next((k for k in range(first, last) if theta * Fraction(2) ** (doublings * k) >= load), last)


def withdrawals(programs: Sequence[Programs], theta: Fraction) -> Penalty:
    """Return N_s as a penalty, and above `LARGEST_STRICT` N: of several relations the largest.

    Guarantee: with a participant more it does not fall, nor grow by more than 1 (proofs.md, lemma 1').
    """

    def penalty(level: int, stop_above: float) -> tuple[float, Fraction]:
        tau = float(theta * Fraction(2) ** level)
        counts = (part.strict_withdrawals if tau <= LARGEST_STRICT else part.withdrawals for part in programs)
        found = [count(tau, round_down(SLACK), stop_above) for count in counts]
        return max(n.low for n in found), Fraction(max(n.high for n in found))

    return penalty


def deficit(programs: Sequence[TruncationPrograms], theta: Fraction, top: int, doublings: int = 1) -> Penalty:
    """Return D_k = max(0, max_{j>k} (X_j - X_k)/(θ2^j)) as a penalty: of several relations the largest.

    Guarantee: with a participant more it moves within [-1/2 - 3η/2, 1 + 3η/2], or less if a level is more
    than one doubling (proofs.md, T1).
    """
    parts = [Answered(part, theta, doublings) for part in programs]

    def penalty(level: int, stop_above: float) -> tuple[float, Fraction]:
        for higher in range(top, level - 1, -1):  # each is needed, and easier to solve than the next
            if all(higher in part.known for part in parts):
                continue
            foreseen = max(part.lacking_at_least(level) for part in parts) - 2 * SLACK
            if foreseen > Fraction(min(stop_above, sys.float_info.max)):
                return math.nextafter(float(foreseen), -math.inf), foreseen
            for part in parts:
                part.answer(higher)
        found = max(Fraction(0), *(part.lacking(level, top) for part in parts))
        # the exact deficit does not fall with the level; ours is off by 3η/2 at most, at either level
        return math.nextafter(float(found - 3 * SLACK), -math.inf), found

    return penalty


@dataclass(frozen=True, slots=True)
class Answered:
    """X' of one relation at the levels asked for so far, and what they say of the others."""

    programs: TruncationPrograms
    theta: Fraction
    doublings: int
    known: dict[int, Fraction] = field(default_factory=dict)
    bounds: dict[int, Fraction] = field(default_factory=dict)

    def bound(self, level: int) -> Fraction:
        """Return the τ of a level."""
        if level not in self.bounds:
            self.bounds[level] = as_double(self.theta * Fraction(2) ** (self.doublings * level))
        return self.bounds[level]

    def answer(self, level: int) -> Fraction:
        """Return X' of a level."""
        if level not in self.known:
            self.known[level] = truncated_high(self.programs, self.bound(level))
        return self.known[level]

    def lacking(self, level: int, top: int) -> Fraction:
        """Return max_{j>k} (X'_j - X'_k)/(θ2^j)."""
        own = self.answer(level)
        terms = ((self.answer(j) - own) / self.bound(j) for j in range(level + 1, top + 1))
        return max(terms, default=Fraction(0))

    def lacking_at_least(self, level: int) -> Fraction:
        """Return a lower bound on the exact deficit of a level, from what is known of higher ones.

        X is concave in τ, so at the level it lies below the line through the next two points above.
        """
        above = sorted(j for j in self.known if j > level)
        if len(above) < 2:
            return Fraction(0)
        (near, first), (far, second) = ((self.bound(j), self.known[j]) for j in above[:2])
        slope = max(Fraction(0), (second - SLACK * far - first) / (far - near))
        ceiling = first - slope * (near - self.bound(level))
        return max((self.known[j] - ceiling) / self.bound(j) - SLACK for j in above)


def as_double(value: Fraction) -> Fraction:
    """Return the double nearest to a number, as a rational: τ is a double wherever it is used."""
    return Fraction(float(value))
