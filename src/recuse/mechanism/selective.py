"""The selective mechanism: τ is chosen by a noisy maximum with a part of ε, and X(τ) answered with the rest.

It is what the race is compared with, and what answers use that are no sums (`Mechanism.in_two_steps`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from recuse.mechanism.cell import Laplace, Staircase
from recuse.mechanism.grid import CellNoise
from recuse.mechanism.levels import Levels, as_double
from recuse.mechanism.parameters import Score
from recuse.mechanism.selection import noisy_maximum
from recuse.mechanism.truncating import Truncating
from recuse.noise import Noise
from recuse.solver.programs import TruncationPrograms


@dataclass(frozen=True, slots=True)
class Selective(Truncating):
    """τ = stretch·τ_k for the level k that wins a noisy maximum.

    `offset` moves the answer up by that many τ/ε, against the downward bias of truncation.
    """

    levels: Levels
    stretch: Fraction
    offset: Fraction

    def choose(self, programs: Sequence[TruncationPrograms], noise: Noise) -> Fraction:
        """Return τ for relations that lose the same participants: two signs of one, or several groups.

        Guarantee: ε1-private (proofs.md, theorem R5 for withdrawals, R6 for the deficit).
        """
        level = choose_level(programs, self.levels, self.choice_epsilon, noise)
        return as_double(self.stretch * self.levels.ladder.tau(level))

    @property
    def cell(self) -> CellNoise:
        """Staircase noise, the least there is; Laplace noise where the deficit is selected on."""
        return Staircase if self.levels.score is Score.WITHDRAWALS else Laplace

    def lift(self, tau: Fraction) -> Fraction:
        """Return offset·τ/ε."""
        return self.offset * tau / self.epsilon


def choose_level(
    programs: Sequence[TruncationPrograms], levels: Levels, epsilon: Fraction, noise: Noise
) -> int:
    """Return the level that wins.

    Guarantee: ε-private (proofs.md, lemma 2'): one withdrawal moves a penalty within an interval whose
    length, certified slack included, is ε/weight.
    """
    top = levels.top(programs)
    weight, penalty = epsilon / levels.moves(), levels.penalty(programs, top)
    return noisy_maximum(levels, levels.ladder.levels, top, weight, penalty, noise)
