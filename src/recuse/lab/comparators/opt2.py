"""OPT² (Dong, Fang, Yi, Tao and Machanavajjhala, TODS 2024): for comparison only.

How many participants must withdraw until nobody counts for more than τ? The sparse vector technique asks it
for τ = 1, 2, 4, …, and the first τ for which few must is used: the truncated answer X(τ) gets Laplace noise.
Pure ε, and no global sensitivity. Written from its authors' system (hkustDB/DPSQL, `OptSJA.py`), whose
G(τ) is the number of participants less our N(τ).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from recuse.errors import ParameterError
from recuse.krelation.relation import Growth
from recuse.lab.comparators.comparator import Privacy
from recuse.lab.comparators.simulate import laplace, laplace_release
from recuse.mechanism.parameters import SLACK
from recuse.mechanism.prepared import Prepared, truncated
from recuse.mechanism.release import Release
from recuse.noise import Noise, round_down
from recuse.privacy import Epsilon
from recuse.solver.programs import Programs


@dataclass(frozen=True, slots=True)
class OPT2:
    """A third of ε each for the threshold, the question that passes it, and the answer.

    `failure` is its authors' β, how often the search may stop too early.
    """

    epsilon: Epsilon
    failure: float = 0.1

    privacy = Privacy.PURE
    guesses = ()

    def __post_init__(self) -> None:
        if not 0 < self.failure < 1:
            raise ParameterError("a probability lies between 0 and 1", found=str(self.failure))

    @property
    def scale(self) -> float:
        """The noise of the threshold: what one third of ε needs for a count that moves by 1 + η."""
        return 3 * float((1 + SLACK) / self.epsilon.value)

    @property
    def few(self) -> float:
        """How many withdrawals are few: rarely less than the noise of a question."""
        return 6 * math.log(1 / self.failure) / float(self.epsilon.value)

    def release(self, subject: Prepared, noise: Noise) -> Release:
        """Return the noisy truncated answer.

        Guarantee: ε-private: the search is 2ε/3-private (Dwork and Roth 2014, theorem 3.23), since N moves by
        at most 1 (proofs.md, lemma 1'); X(τ) by at most τ (theorem D).
        """
        if isinstance(subject.relation.shape, Growth):
            raise ParameterError("OPT² counts withdrawals, which an aggregated pattern does not list")
        tau = self._search(cast(Sequence[Programs], subject.signs), noise)
        kept, slack = truncated(subject, Fraction(tau))
        scale = 3 * tau * float((1 + slack) / self.epsilon.value)
        return laplace_release(float(kept) + subject.relation.constant, scale, self.epsilon, "opt2", noise)

    def _search(self, programs: Sequence[Programs], noise: Noise) -> float:
        """Return the first τ whose withdrawals are noisily few; of two signs the larger count decides.

        All noise is drawn first. Then the search goes down from the largest load, where nobody withdraws and
        programs are small: many withdrawals at one τ are many at all below.
        """
        threshold = self.few + self.scale * laplace(noise)
        load = max(part.largest_load() for part in programs)
        limits: list[float] = []
        while not limits or 2.0 ** (len(limits) - 1) < load or limits[-1] < 0:
            limits.append(threshold + 2 * self.scale * laplace(noise))
        first, many = len(limits) - 1, 0.0
        for level in range(first - 1, -1, -1):
            if many > limits[level]:
                continue
            found = [part.withdrawals(2.0**level, round_down(SLACK), limits[level]) for part in programs]
            many = max(count.low for count in found)
            if max(count.high for count in found) <= limits[level]:
                first = level
        return 2.0**first
