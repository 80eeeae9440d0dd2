"""Counts of which query and policy say how far one participant moves them: no τ, nothing is truncated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from recuse.mechanism.release import CONFIDENCE, Release
from recuse.mechanism.truncating import Mechanism
from recuse.mechanism.vector import ManhattanLaplace
from recuse.noise import Noise
from recuse.solver.programs import TruncationPrograms


@dataclass(frozen=True, slots=True)
class Tallied:
    """Groups whose counts move by `sensitivity` at most with a participant more, all together (ℓ1)."""

    counts: Sequence[int]
    sensitivity: int

    def release(self, mechanism: Mechanism, noise: Noise) -> list[Release]:
        """Return all counts, each with noise of the whole ε: there is nothing to choose.

        Guarantee: ε-private if the counts of neighbours differ by `sensitivity` at most in ℓ1 (proofs.md,
        lemma L1).
        """
        added = ManhattanLaplace(mechanism.epsilon, self.sensitivity, len(self.counts))
        reach, drawn = added.reach(CONFIDENCE), added.draw(noise)
        noisy = [Fraction(count + more) for count, more in zip(self.counts, drawn, strict=True)]
        return [
            Release(
                value=value,
                interval=(value - reach, value + reach),
                noise_scale=added.spread(),
                epsilon=mechanism.epsilon,
                mechanism="laplace",
                noise_epsilon=mechanism.epsilon,
                truncated=False,
            )
            for value in noisy
        ]

    @property
    def signed(self) -> bool:
        return False

    @property
    def signs(self) -> Sequence[TruncationPrograms]:
        return ()

    def constants(self) -> list[int | None]:
        return [0] * len(self.counts)

    def true_answers(self) -> list[int | None]:
        return list(self.counts)
