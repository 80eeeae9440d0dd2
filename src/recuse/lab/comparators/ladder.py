"""The ladder mechanism for triangles and k-stars: for comparison only.

Zhang, Cormode, Procopiuc, Srivastava and Xiao, "Private release of graph statistics using ladder functions"
(SIGMOD 2015): the exponential mechanism over integers, whose quality falls by one a rung, the rungs being
as wide as the local sensitivity at distance 0, 1, 2, …
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from recuse.errors import ParameterError
from recuse.graphs.protect import Protected
from recuse.krelation.relation import Floats
from recuse.lab.comparators.comparator import Privacy
from recuse.lab.comparators.distance import COUNTED, profile
from recuse.lab.comparators.simulate import released, uniform
from recuse.lab.comparators.subgraphs import Kind, SubgraphCount
from recuse.mechanism.release import CONFIDENCE, Release
from recuse.noise import Noise
from recuse.privacy import Epsilon


@dataclass(frozen=True, slots=True, eq=False)
class Rungs:
    """The distribution around a centre: rung t has I_{t-1} integers on either side, of weight e^{-εt/2} each.

    `widths` are I_0, I_1, …; the last holds from there on, so the rest is geometric.
    """

    widths: Floats
    epsilon: float

    @property
    def fall(self) -> float:
        """By how much a rung's integers are less likely than those of the rung before."""
        return math.exp(-self.epsilon / 2)

    @property
    def weights(self) -> Floats:
        """The weight of the centre, of every listed rung, and of all rungs beyond."""
        listed = 2 * self.widths * self.fall ** np.arange(1, len(self.widths) + 1)
        return np.concatenate(([1.0], listed, [listed[-1] * self.fall / (1 - self.fall)]))

    def rung(self, distance: int) -> int:
        """Return on which rung an integer lies that is `distance` away from the centre."""
        ends = np.cumsum(self.widths)
        if distance <= ends[-1]:
            return int(np.searchsorted(ends, distance)) + 1 if distance else 0
        return len(self.widths) + math.ceil(float(distance - ends[-1]) / float(self.widths[-1]))

    def probability(self, distance: int) -> float:
        """Return the probability of one integer that is `distance` away from the centre."""
        return float(self.fall ** self.rung(distance) / self.weights.sum())

    def draw(self, noise: Noise) -> int:
        """Return how far from the centre the answer is, with its sign."""
        totals = np.cumsum(self.weights)
        place = int(np.searchsorted(totals, uniform(noise) * totals[-1]))
        if place == 0:
            return 0
        below = float(self.widths[: place - 1].sum())
        if place > len(self.widths):
            further = math.floor(math.log(uniform(noise)) / math.log(self.fall))
            below = float(self.widths.sum()) + further * float(self.widths[-1])
        width = float(self.widths[min(place, len(self.widths)) - 1])
        size = int(below) + 1 + math.floor(uniform(noise) * width)
        return size if noise.bits(1) else -size

    def reach(self) -> int:
        """Return how far the answer lies from the centre in 95 % of all cases, to the end of a rung."""
        shares = np.cumsum(self.weights) / self.weights.sum()
        place = int(np.searchsorted(shares, CONFIDENCE))
        if place <= len(self.widths):
            return int(self.widths[:place].sum())
        beyond = math.ceil(math.log((1 - CONFIDENCE) / (1 - float(shares[-2]))) / math.log(self.fall))
        return int(self.widths.sum() + beyond * self.widths[-1])


@dataclass(frozen=True, slots=True)
class Ladder:
    """The mechanism; it has nothing to choose."""

    epsilon: Epsilon

    privacy = Privacy.PURE_EDGE
    guesses = ()

    def rungs(self, count: SubgraphCount) -> Rungs:
        """Return the distribution of the answer around the true count.

        Guarantee: ε-private for one edge (their main theorem): I_s is a ladder function, that is I_0 is at
        least the local sensitivity and I_s(G') ≤ I_{s+1}(G) for neighbours.
        """
        count.demand("the ladder", COUNTED, Protected.EDGE)
        if count.motif.kind is Kind.TRIANGLES and count.motif.k > 1:
            raise ParameterError("this ladder is for single triangles", found=str(count.motif))
        return _rungs(count, self.epsilon)

    def release(self, subject: SubgraphCount, noise: Noise) -> Release:
        """Return an integer from the ladder's distribution."""
        rungs = self.rungs(subject)
        answer = subject.motif.count(subject.graph) + rungs.draw(noise)
        return released(answer, float(rungs.widths[0]), rungs.reach(), self.epsilon, "ladder")


@lru_cache(maxsize=32)
def _rungs(count: SubgraphCount, epsilon: Epsilon) -> Rungs:
    return Rungs(profile(count.graph, count.motif), float(epsilon.value))
