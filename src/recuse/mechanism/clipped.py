"""Rows with one owner: every participant's vector over the groups is scaled to ℓ1 norm τ at most.

With c_{p,G} what p brings to group G and L_p = Σ_G |c_{p,G}|, the truncated answers are
Y_G = Σ_p c_{p,G} min(1, τ/L_p), each part rounded towards 0 to the grid. p's part depends on p's rows alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from recuse.deferred import Deferred
from recuse.krelation.contributions import Contributions, own_loads, totalled
from recuse.krelation.relation import Integers, doubles_around
from recuse.mechanism.grid import CellNoise, Grid
from recuse.mechanism.parameters import ANSWER_GRID
from recuse.mechanism.vector import ManhattanLaplace
from recuse.solver.kept.grouped import KeptVectors
from recuse.solver.programs import Programs, Solver, TruncationPrograms
from recuse.solver.separate import SeparatePrograms

if TYPE_CHECKING:
    from recuse.solver.kept import programs as kept
else:
    kept = Deferred("recuse.solver.kept.programs")

MOST_STEPS = 2**32
"""the most grid steps in τ: beyond, a step is more than one granule"""
WIDE = 2**62
"""loads in 64 bits are below this"""


class Vectors(Protocol):
    """What every participant brings to every group, wherever it is: listed, or in an engine."""

    @property
    def signed(self) -> bool:
        """Whether rows may weigh less than nothing: follows from the query."""

    @property
    def constants(self) -> Sequence[int]:
        """What nobody owns of each group."""

    def true_answers(self) -> Sequence[int]:
        """Return the answer of every group without noise. Never release it."""

    def clipped(self, tau: Fraction, step: Fraction, most: int) -> Sequence[int]:
        """Return for every group the sum of what its contributions count, as `clipped_parts` says."""


@dataclass(frozen=True, slots=True)
class ListedVectors:
    """`Vectors` in memory."""

    contributions: Contributions

    @property
    def signed(self) -> bool:
        return self.contributions.signed

    @property
    def constants(self) -> Sequence[int]:
        return [int(constant) for constant in self.contributions.constants]

    def true_answers(self) -> Sequence[int]:
        return [int(answer) for answer in self.contributions.true_answers()]

    def clipped(self, tau: Fraction, step: Fraction, most: int) -> Sequence[int]:
        found, size = self.contributions, len(self.contributions.constants)
        if step.numerator > 1:
            parts = clipped_parts(found.weights, found.loads[found.owners], tau, step, most)
            return [int(part) for part in totalled(parts, found.groups, size)]
        # a step is a whole part of a granule: whoever is within τ counts as they are, others for less
        over = np.flatnonzero(_above(found.loads, tau)[found.owners])
        weights, groups = found.weights[over], found.groups[over]
        parts = clipped_parts(weights, found.loads[found.owners[over]], tau, step, most)
        whole, lost, kept = (
            totalled(some, where, size).tolist()
            for some, where in ((found.weights, found.groups), (weights, groups), (parts, groups))
        )
        return [step.denominator * (a - b) + c for a, b, c in zip(whole, lost, kept, strict=True)]


@dataclass(frozen=True, slots=True)
class Clipped:
    """`Releasable`: contributions, and the programs of the loads that τ is chosen by."""

    contributions: Vectors
    programs: TruncationPrograms

    @property
    def signs(self) -> Sequence[TruncationPrograms]:
        return (self.programs,)

    @property
    def constants(self) -> Sequence[int]:
        return self.contributions.constants

    @property
    def theta(self) -> Fraction:
        return Fraction(1)

    @property
    def lifted(self) -> bool:
        return False  # what truncation takes is spread over the groups

    @property
    def shared_out(self) -> bool:
        return True

    def grid(self, tau: Fraction) -> Grid:
        step, most = clipping_grid(tau)
        return Grid(step, most)

    def noise(self, epsilon: Fraction, tau: Fraction, _: CellNoise) -> ManhattanLaplace:
        return ManhattanLaplace(epsilon, clipping_grid(tau)[1], len(self.contributions.constants))

    def at(self, tau: Fraction) -> Sequence[int]:
        """Return the sums of clipped vectors on the grid of τ.

        Guarantee: with a participant more they move by ⌊τ/γ⌋ steps at most in ℓ1 (proofs.md, theorem E0).
        """
        return self.contributions.clipped(tau, *clipping_grid(tau))


def clipped(contributions: Contributions, solver: Solver) -> Clipped:
    """Return contributions with the programs of their loads: of people who share nothing."""

    return Clipped(ListedVectors(contributions), load_programs(contributions.loads, solver))


def load_programs(loads: NDArray[Any], solver: Solver) -> TruncationPrograms:
    """Return the programs of people who share nothing, by what each of them has: what τ is chosen by."""
    people = loads[loads > 0]

    def solved() -> Programs:
        relation = own_loads(people)
        return solver(relation.positive, relation.participants)

    low, high = doubles_around(people)
    return SeparatePrograms(low, high, solved)


def clipped_kept(vectors: KeptVectors) -> Clipped:
    """Return contributions that stay in an engine with the programs of their loads; as `clipped`."""
    return Clipped(vectors, kept.kept_programs(vectors.loads))


def clipping_grid(tau: Fraction) -> tuple[Fraction, int]:
    """Return γ and the most steps of a participant, ⌊τ/γ⌋: public functions of τ.

    γ is a whole part of a granule, so that whoever is not truncated is counted exactly; for very large τ it
    is a power of two granules.
    """
    if tau <= MOST_STEPS:
        step = Fraction(1, max(1, math.ceil(ANSWER_GRID / tau)))
    else:
        step = Fraction(2 ** (math.floor(tau / MOST_STEPS)).bit_length())
    return step, math.floor(tau / step)


def clipped_parts(
    weights: NDArray[Any], loads: NDArray[Any], tau: Fraction, step: Fraction, most: int
) -> Integers:
    """Return what every contribution counts in grid steps, given the load of its owner.

    Guarantee: the sizes of one participant's parts are at most `most` together: ⌊|c|·most/L⌋ where L > τ,
    ⌊|c|/γ⌋ otherwise, decided in whole numbers.
    """
    sizes = abs(weights)
    over = _above(loads, tau)
    found = np.empty(len(weights), np.int64)
    wide = step.numerator > WIDE
    whole = sizes[~over].astype(object) if wide else sizes[~over]
    found[~over] = whole * step.denominator // step.numerator
    found[over] = share(sizes[over], loads[over], most)
    return np.where(weights < 0, -found, found)


def _above(loads: NDArray[Any], tau: Fraction) -> NDArray[np.bool_]:
    """Return which loads exceed τ: whole numbers, so what counts is the whole part of τ."""
    found: NDArray[np.bool_] = loads > (min(math.floor(tau), WIDE) if loads.dtype != object else tau)
    return found


def share(sizes: NDArray[Any], loads: NDArray[Any], most: int) -> Integers:
    """Return ⌊size·most/load⌋ exactly, for sizes that do not exceed their loads.

    In 64 bits the quotient of doubles is off by one at most, and the remainder, which is small, comes out
    right although the products wrap around.
    """
    if sizes.dtype == object or loads.dtype == object:
        exact: Integers = (sizes.astype(object) * most // loads).astype(np.int64)
        return exact
    near: Integers = np.floor(sizes / loads * most).astype(np.int64)
    rest = (sizes.view(np.uint64) * np.uint64(most) - near.view(np.uint64) * loads.view(np.uint64)).view(
        np.int64
    )
    found: Integers = near - (rest < 0) + (rest >= loads)
    return found
