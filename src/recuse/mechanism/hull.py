"""Groups that anybody may touch all of: each moves by τ at most, and counts move all the same way.

The noise is that of the hull of [0,1]^G and [-1,0]^G, for sums with signs that of the cube (`boxes`): a cell
has (G+2)/3, and (G+1)/2, times the noise of one number, where a split of ε has G times.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from recuse.mechanism.boxes import BoxLaplace, Norm
from recuse.mechanism.grid import CellNoise, Grid, GridNoise
from recuse.mechanism.parameters import ANSWER_GRID, SLACK
from recuse.mechanism.prepared import Prepared, truncated_difference
from recuse.solver.programs import TruncationPrograms


@dataclass(frozen=True, slots=True)
class HullGroups:
    """`Releasable`: relations that share participants, each of which moves by τ at most."""

    relations: Sequence[Prepared]

    theta = Fraction(1)
    lifted = False
    shared_out = False

    @property
    def signs(self) -> Sequence[TruncationPrograms]:
        return [part for group in self.relations for part in group.signs]

    @property
    def constants(self) -> Sequence[int]:
        return [group.relation.constant for group in self.relations]

    @property
    def signed(self) -> bool:
        return any(group.relation.signed for group in self.relations)

    def grid(self, tau: Fraction) -> Grid:
        """Return the grid of τ: so fine that no ε makes the noise hard to draw.

        Guarantee: with a participant more the vector moves by the sensitivity at most, without signs in the
        norm of the hull, with signs in the largest cell (proofs.md, theorem W).
        """
        steps = self._steps()
        loose = math.ceil(steps * SLACK)
        return Grid(tau / steps, steps + 2 * loose, below=2 * loose + 1, above=2 * loose)

    def noise(self, epsilon: Fraction, tau: Fraction, _: CellNoise) -> GridNoise:
        norm = Norm.CUBE if self.signed else Norm.HULL
        return BoxLaplace(norm, epsilon, self.grid(tau).sensitivity, len(self.relations))

    def at(self, tau: Fraction) -> Sequence[int]:
        step = tau / self._steps()
        return [math.ceil(truncated_difference(group, tau, SLACK) / step) for group in self.relations]

    def _steps(self) -> int:
        return ANSWER_GRID * len(self.relations)
