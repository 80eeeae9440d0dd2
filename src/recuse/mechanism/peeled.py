"""The largest of many groups that share people: drawn one after another, then the numbers of these alone.

Where all groups are answered together a cell has (G+2)/3 times the noise of one number. Who only wants the
k largest pays for k draws and k numbers. Every draw is an exponential mechanism on groups that all move the
same way, so that it costs no factor 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from recuse.mechanism.answer import Noised
from recuse.mechanism.cell import Laplace
from recuse.mechanism.hull import HullGroups
from recuse.mechanism.pick import pick
from recuse.mechanism.release import CONFIDENCE, Release
from recuse.mechanism.truncating import Mechanism
from recuse.noise import Noise
from recuse.solver.programs import TruncationPrograms

DRAW_SHARE = Fraction(2, 3)
"""the part of ε2 for the draws, whose scale is k; the rest is for the numbers, of which each has (k+2)/3"""

FEWER = 8
"""how many times as many groups as are wanted make drawing them worth it: public. 40,000 rows of two owners
each, ε = 1, medians of 8 runs: 5 of 40 groups 5.3 % off when drawn and 6.1 % when all are answered, 5 of 60
3.5 and 11 %, 10 of 60 14.1 and 14.1 %"""


def worth_peeling(groups: int, count: int) -> bool:
    """Return whether so many of the groups are better drawn than found among answers of all: public.

    >>> worth_peeling(2000, 10), worth_peeling(20, 10)
    (True, False)
    """
    return count > 0 and FEWER * count <= groups


@dataclass(frozen=True, slots=True)
class Peeled:
    """`Groups`: the `count` largest of groups without signs; no other has a number."""

    subject: HullGroups
    count: int

    def release(self, mechanism: Mechanism, noise: Noise) -> list[Release]:
        """Return the private answers of the groups that are drawn, and of all others that there is none.

        Guarantee: private with the mechanism's ε (proofs.md, theorem X).
        """
        choosing = mechanism.in_two_steps()
        tau = choosing.choose(self.subject.signs, noise)
        share = DRAW_SHARE * choosing.answer_epsilon
        drawn = peel(self.scores(tau), share / self.count, self.count, noise)
        winners = HullGroups([self.subject.relations[place] for place in drawn])
        grid, added = winners.grid(tau), winners.noise(choosing.answer_epsilon - share, tau, Laplace)
        places = [place + more for place, more in zip(winners.at(tau), added.draw(noise), strict=True)]
        noised = Noised(tau, grid, places, added, added.reaches(CONFIDENCE))
        found = noised.releases(winners.constants, Fraction(0), mechanism)
        told = dict(zip(drawn, found, strict=True))
        nothing = Release(
            value=Fraction(0),
            interval=(None, None),
            noise_scale=found[0].noise_scale,
            epsilon=mechanism.epsilon,
            mechanism=mechanism.name,
            undefined=True,
        )
        return [told.get(place, nothing) for place in range(len(self.subject.relations))]

    def scores(self, tau: Fraction) -> list[Fraction]:
        """Return the groups' truncated answers with what nobody owns, in units of their sensitivity.

        Guarantee: with a participant more all of them move within one interval of length 1.
        """
        grid = self.subject.grid(tau)
        both = zip(self.subject.at(tau), self.subject.constants, strict=True)
        return [(place + constant / grid.step) / grid.sensitivity for place, constant in both]

    @property
    def signed(self) -> bool:
        return False

    @property
    def signs(self) -> Sequence[TruncationPrograms]:
        return self.subject.signs

    def true_answers(self) -> list[int | None]:
        return [group.relation.true_answer() for group in self.subject.relations]

    def constants(self) -> list[int | None]:
        return list(self.subject.constants)


def peel(scores: Sequence[Fraction], epsilon: Fraction, count: int, noise: Noise) -> list[int]:
    """Return so many places, one after another, each among those left with probability ∝ exp(ε·score).

    Guarantee: `count`·ε-private if all scores move within one interval of length 1 (proofs.md, theorem X);
    draws are exact (lemma V0).
    """
    left, found = list(range(len(scores))), []
    for _ in range(min(count, len(scores))):
        most = max(scores[place] for place in left)
        exponents = [epsilon * (most - scores[place]) for place in left]
        found.append(left.pop(pick([Fraction(1)] * len(left), exponents, noise)))
    return found
