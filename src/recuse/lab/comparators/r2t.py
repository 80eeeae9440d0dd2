"""R2T, race-to-the-top (Dong, Fang, Yi, Tao and Machanavajjhala, SIGMOD 2022): for comparison only.

The truncated answers X(τ) at τ = base, base², … up to a *guessed* global sensitivity each get Laplace noise
and are moved down by a margin that noise rarely exceeds; the largest wins. Pure ε, but the guess decides
how many candidates share ε, and a load above it is cut off.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Self

import numpy as np

from recuse.errors import ParameterError
from recuse.krelation.relation import KRelation, Tuples
from recuse.lab.comparators.comparator import Privacy
from recuse.mechanism.parameters import ANSWER_GRID, SLACK
from recuse.mechanism.prepared import Prepared, truncated_high
from recuse.mechanism.release import Release
from recuse.noise import Noise, round_up
from recuse.privacy import Epsilon

AUTHORS_BASE = 5.5


@dataclass(frozen=True, slots=True)
class R2T:
    """The mechanism with its guess.

    `base` is 2 in the paper; `failure` is its β, how often the margin may fail. `unit` is what counts as one
    in the guess and in τ: a sum whose weights are whole granules has many of them in a unit.
    """

    epsilon: Epsilon
    global_sensitivity: float = 1e6
    base: float = 2.0
    failure: float = 0.1
    unit: Fraction = Fraction(1)

    privacy = Privacy.PURE
    guesses = ("a global sensitivity: the most that one participant may ever count",)

    def __post_init__(self) -> None:
        if self.global_sensitivity <= self.base or self.base <= 1 or not 0 < self.failure < 1:
            raise ParameterError("R2T needs 1 < base < global_sensitivity and 0 < failure < 1")
        if self.unit <= 0:
            raise ParameterError("the unit of R2T must be positive", found=str(self.unit))

    @classmethod
    def of_authors(cls, epsilon: Epsilon, global_sensitivity: float = 1e6) -> Self:
        """Return R2T as in its authors' code: base 5.5, and the guess rounded *down* to a power of it."""
        rounds = max(2, math.floor(math.log(global_sensitivity) / math.log(AUTHORS_BASE)))
        return cls(epsilon, AUTHORS_BASE**rounds, AUTHORS_BASE)

    @property
    def rounds(self) -> int:
        """How many candidates there are: the logarithm of the guess."""
        return math.ceil(math.log(self.global_sensitivity) / math.log(self.base) - 1e-9)

    def release(self, subject: Prepared, noise: Noise) -> Release:
        """Return the largest of the noisy, lowered candidates, at least 0.

        Guarantee: ε-private: each of the `rounds` candidates is ε/rounds-private by theorem D and lemma G2
        of proofs.md. Weights must not be negative; negative ones count as 0.
        """
        share = self.epsilon.value / self.rounds
        slack = math.ceil(ANSWER_GRID * SLACK)
        scale = (ANSWER_GRID + slack) / share
        lowered = Fraction(round_up(scale) * math.log(self.rounds / self.failure))
        draws = [noise.laplace(scale) for _ in range(self.rounds)]
        best, spread, constant = Fraction(0), Fraction(0), subject.relation.constant
        known: list[tuple[Fraction, Fraction]] = []
        for j in range(self.rounds, 0, -1):  # small programs first: they rule out large ones
            tau = Fraction(float(self.unit * Fraction(self.base**j)))
            step = tau / ANSWER_GRID
            shift, reach = draws[j - 1] - lowered, most(subject, tau, known)
            if reach is not None and (math.ceil(reach / step) + slack + shift) * step <= best:
                continue
            answer = truncated_high(subject.positive, tau)
            known.append((tau, answer))
            candidate = (math.ceil(answer / step) + shift) * step
            if candidate > best:
                best, spread = candidate, scale * step
        return Release(
            value=best + constant,
            interval=(best + constant, best + constant + 2 * spread),
            noise_scale=spread,
            epsilon=self.epsilon.value,
            mechanism="r2t",
        )


def most(subject: Prepared, tau: Fraction, known: Sequence[tuple[Fraction, Fraction]]) -> Fraction | None:
    """Return a number not below X(τ), found without a program; None where nothing is known.

    X is at most the whole answer, and at most what it costs if everybody withdraws by 1/k, k the size of
    the smallest clause. X is concave, so below two known points (the last two of `known`, each within its
    slack) it lies under the line through them.
    """
    bounds = []
    if isinstance(relation := subject.relation, KRelation):
        whole, smallest = _extremes(relation.positive)
        bounds = [Fraction(whole), tau * relation.participants / smallest]
    if len(known) > 1:
        (higher, above), (lower, answer) = known[-2:]
        slope = (above - SLACK * higher - answer) / (higher - lower)
        bounds.append(answer - max(Fraction(0), slope) * (lower - tau))
    return min(bounds, default=None)


@lru_cache(maxsize=4)
def _extremes(tuples: Tuples) -> tuple[int, int]:
    """Return the whole weight and the size of the smallest clause."""
    return tuples.total(), int(np.diff(tuples.clauses).min(initial=max(1, len(tuples.members))))
