"""Levels: the public table of τ among which one is chosen, what each costs beforehand, and how it is scored.

Without OR a level is scored by N_s(τ), the withdrawals that bring every load below it. With OR loads see
nothing of a tuple's other derivations, and it is scored by the deficit: how many withdrawals of weight τ_j,
j > k, would explain what X(τ_k) lacks.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from recuse.mechanism.parameters import SLACK, Score
from recuse.mechanism.prepared import truncated_high
from recuse.mechanism.selection import Penalty
from recuse.noise import round_down
from recuse.solver.programs import Programs, TruncationPrograms, with_index

LARGEST_STRICT = 2.0**26
"""N_s jumps where a load passes τ. Loads are whole granules, so up to here they are far enough apart for a
solver in doubles to tell, most often, on which side one lies; above, N is used, which does not jump. Either
is found for every relation, but exact arithmetic is slow where many people are overloaded."""


BELOW = Fraction(1, 2)
"""what a doubling costs below the size of one row: hardly anything, as few answers are that small (measured:
docs/results/notes/sums.md)"""


@dataclass(frozen=True, slots=True)
class TauTable:
    """τ_k = θ·rungs[k mod m]·span^⌊k/m⌋ for k from `first` to `last`, m the number of rungs.

    With a `bound`, which no load exceeds whatever the data, the ladder ends there: the first level that
    reaches it is the bound itself.
    """

    theta: Fraction
    rungs: tuple[Fraction, ...]
    span: int
    first: int
    last: int
    bound: Fraction | None = None

    @property
    def taus(self) -> tuple[Fraction, ...]:
        """The τ of all levels: doubles, as they are wherever they are used."""
        return _taus(self)

    @property
    def levels(self) -> range:
        """All levels."""
        return range(self.first, self.first + len(self.taus))

    def tau(self, level: int) -> Fraction:
        """Return the τ of a level."""
        return self.taus[level - self.first]

    def reaching(self, load: float) -> int:
        """Return the least level whose τ is at least the load, or the last of all.

        At the last level nothing lacks by definition: no load, not even an infinite one, is too large.
        """
        levels = self.levels
        return next((k for k, tau in zip(levels, self.taus, strict=True) if tau >= load), levels[-1])

    @property
    def ratio(self) -> Fraction:
        """The least ratio of a τ and the one below it."""
        return _ratio(self)


@lru_cache(maxsize=64)
def _taus(ladder: TauTable) -> tuple[Fraction, ...]:
    found = []
    for level in range(ladder.first, ladder.last + 1):
        turn, place = divmod(level, len(ladder.rungs))
        found.append(as_double(ladder.theta * ladder.rungs[place] * Fraction(ladder.span) ** turn))
        if ladder.bound is not None and found[-1] >= ladder.bound:
            found[-1] = as_double(ladder.bound)
            break
    return tuple(found)


@lru_cache(maxsize=64)
def _ratio(ladder: TauTable) -> Fraction:
    return min((above / tau for tau, above in pairwise(ladder.taus)), default=Fraction(ladder.span))


@dataclass(frozen=True, slots=True)
class Levels:
    """A ladder, a prior and a score.

    From level `start` on, a level costs ln2 times `gentle` up to `knee` levels above it, `steep` farther up;
    from 0 to there `BELOW` a doubling, and below 0 what it costs above `start`.
    """

    ladder: TauTable
    score: Score
    knee: Fraction
    gentle: Fraction
    steep: Fraction
    start: int = 0
    """the level of what one row brings, about: public, 0 for a count"""

    def prior(self, level: int) -> Fraction:
        """Return the cost of a level in units of ln2."""
        between = min(max(level, 0), self.start)
        beyond = level - between
        above = max(Fraction(0), beyond - self.knee)
        return self.below * between + self.gentle * (beyond - above) + self.steep * above

    @property
    def below(self) -> Fraction:
        """What a level costs between 0 and `start`."""
        return BELOW * Fraction(math.log2(self.ladder.span) / len(self.ladder.rungs)).limit_denominator(8)

    def moves(self) -> Fraction:
        """Return the length of the interval in which one withdrawal moves a certified penalty.

        Guarantee: lemma 1' for withdrawals, T1 for the deficit, certified slack included (proofs.md).
        """
        exact = Fraction(1) if self.score is Score.WITHDRAWALS else 1 + 1 / self.ladder.ratio
        return exact * (1 + 2 * SLACK)

    def top(self, programs: Sequence[TruncationPrograms]) -> int:
        """Return the first level from which on penalties are zero: it depends on the data."""
        largest = max((part.largest_load() for part in programs), default=0.0)
        return self.ladder.reaching(min(largest, sys.float_info.max))

    def penalty(self, programs: Sequence[TruncationPrograms], top: int) -> Penalty:
        """Return how levels below the top are penalised: of several relations by the largest."""
        if self.score is Score.WITHDRAWALS:
            return withdrawals(with_index(programs), self.ladder)
        return deficit(programs, self.ladder, top)


def withdrawals(programs: Sequence[Programs], ladder: TauTable) -> Penalty:
    """Return N_s as a penalty, and above `LARGEST_STRICT` N: of several relations the largest.

    Guarantee: with a participant more it does not fall, nor grow by more than 1 (proofs.md, lemma 1').
    """

    def penalty(level: int, stop_above: float) -> tuple[float, Fraction]:
        tau = float(ladder.tau(level))
        counts = (part.strict_withdrawals if tau <= LARGEST_STRICT else part.withdrawals for part in programs)
        found = [count(tau, round_down(SLACK), stop_above) for count in counts]
        return max(n.low for n in found), Fraction(max(n.high for n in found))

    return penalty


def beyond(penalty: Penalty, spared: Fraction) -> Penalty:
    """Return by how much a penalty exceeds a public number: 0 where it does not.

    Guarantee: it moves no farther than the penalty does, and in the same direction (proofs.md, theorem R11).
    """

    above = math.nextafter(float(spared), math.inf)

    def exceeding(level: int, stop_above: float) -> tuple[float, Fraction]:
        low, found = penalty(level, math.nextafter(stop_above + above, math.inf))
        return max(0.0, math.nextafter(low - above, -math.inf)), max(Fraction(0), found - spared)

    return exceeding


def deficit(programs: Sequence[TruncationPrograms], ladder: TauTable, top: int) -> Penalty:
    """Return D_k = max(0, max_{j>k} (X_j - X_k)/τ_j) as a penalty: of several relations the largest.

    Guarantee: with a participant more it moves within [-1/r - η(1+1/r), 1 + η(1+1/r)], r the least ratio of
    neighbouring levels (proofs.md, T1).
    """
    parts = [Answered(part, ladder) for part in programs]

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
        # the exact deficit does not fall with the level; ours is off by 2η at most, at either level
        return math.nextafter(float(found - 4 * SLACK), -math.inf), found

    return penalty


@dataclass(frozen=True, slots=True)
class Answered:
    """X' of one relation at the levels asked for so far, and what they say of the others."""

    programs: TruncationPrograms
    ladder: TauTable
    known: dict[int, Fraction] = field(default_factory=dict)

    def answer(self, level: int) -> Fraction:
        """Return X' of a level."""
        if level not in self.known:
            self.known[level] = truncated_high(self.programs, self.ladder.tau(level))
        return self.known[level]

    def lacking(self, level: int, top: int) -> Fraction:
        """Return max_{j>k} (X'_j - X'_k)/τ_j."""
        own = self.answer(level)
        terms = ((self.answer(j) - own) / self.ladder.tau(j) for j in range(level + 1, top + 1))
        return max(terms, default=Fraction(0))

    def lacking_at_least(self, level: int) -> Fraction:
        """Return a lower bound on the exact deficit of a level, from what is known of higher ones.

        X is concave in τ, so at the level it lies below the line through the next two points above.
        """
        above = sorted(j for j in self.known if j > level)
        if len(above) < 2:
            return Fraction(0)
        (near, first), (far, second) = ((self.ladder.tau(j), self.known[j]) for j in above[:2])
        slope = max(Fraction(0), (second - SLACK * far - first) / (far - near))
        ceiling = first - slope * (near - self.ladder.tau(level))
        return max((self.known[j] - ceiling) / self.ladder.tau(j) - SLACK for j in above)


def as_double(value: Fraction) -> Fraction:
    """Return the double nearest to a number, as a rational."""
    return Fraction(float(value))
