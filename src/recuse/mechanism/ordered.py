"""Groups whose answer is one of their values: the largest, the smallest, a quantile.

Where participants may touch several groups, each is answered by a mechanism of a part of ε.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from recuse.krelation.placed import PlacedRows
from recuse.krelation.relation import Shape
from recuse.mechanism.extreme import LARGEST, Covers, draw_largest
from recuse.mechanism.parameters import SLACK
from recuse.mechanism.prepared import Prepared, prepare, truncated_high
from recuse.mechanism.quantile import Envelope, draw_quantile, quantile_rate
from recuse.mechanism.release import Release
from recuse.mechanism.selection import Prior
from recuse.mechanism.truncating import Mechanism
from recuse.noise import Noise, round_down
from recuse.solver.interval import Interval
from recuse.solver.programs import Solver, TruncationPrograms

OR_WEIGHT = 2**20
"""what a row with alternatives weighs, so that losing it is worth as many withdrawals: public"""


@dataclass(frozen=True, slots=True)
class PlacedGroup:
    """The rows of one group with their values, and the solver of their programs."""

    rows: PlacedRows
    solver: Solver

    def between(self, above: float, most: float) -> Prepared:
        """Return the rows with above < value ≤ most."""
        return prepare(self.rows.between(above, most), self.solver)

    def covers(self) -> Covers:
        """Return W: around X(1) of the rows above t, each of the same public weight.

        Guarantee: with a participant more it does not fall, nor grow by more than 1 (proofs.md, lemma V2).
        """
        alike = self.rows.alike(1 if self.rows.shape is Shape.CONJUNCTIONS else OR_WEIGHT)

        def solve(t: int | None) -> Interval:
            relation = alike.between(-inf if t is None else t, inf)
            return self.solver(relation.positive, relation.participants).truncated(1.0, round_down(SLACK))

        return Covers(np.unique(alike.values), solve)


class Picker(Protocol):
    """How a value of a group is picked."""

    def pick(self, group: PlacedGroup, mechanism: Mechanism, noise: Noise) -> Picked:
        """Return the private answer of one group."""

    def exactly(self, values: Sequence[int], weights: Sequence[int]) -> int | None:
        """Return the answer for values that are public; None if there are none."""


@dataclass(frozen=True, slots=True)
class Picked:
    """A value in granules (None: too few people to say one), and how coarse the choice was, in rows."""

    value: int | None
    scale: Fraction


@dataclass(frozen=True, slots=True)
class AtRank:
    """The value below which a part `rank` of the rows lies."""

    rank: Fraction

    def pick(self, group: PlacedGroup, mechanism: Mechanism, noise: Noise) -> Picked:
        """Return a quantile.

        Guarantee: (ε1 + ε2)-private (proofs.md, theorem V1).
        """
        choosing = mechanism.in_two_steps()
        tau = choosing.choose(group.between(-inf, inf).signs, noise)
        rate = quantile_rate(choosing.answer_epsilon, tau, self.rank)

        def balance(t: int) -> Fraction:
            low, high = (rows_at(group.between(*ends), tau) for ends in ((-inf, t), (t, inf)))
            return (1 - self.rank) * low - self.rank * high

        return Picked(draw_quantile(Envelope(rate, SLACK * tau), balance, noise), 1 / rate)

    def exactly(self, values: Sequence[int], weights: Sequence[int]) -> int | None:
        """Return the first value up to which the part of the rows is reached."""
        found, total = 0, sum(weights)
        for value, weight in sorted(zip(values, weights, strict=True)):
            found += weight
            if found >= self.rank * total:
                return value
        return None


def rows_at(part: Prepared, tau: Fraction) -> Fraction:
    """Return X(τ) up to its slack, and what nobody owns."""
    return truncated_high(part.positive, tau) + part.relation.constant


@dataclass(frozen=True, slots=True)
class Largest:
    """The largest value."""

    prior: Prior

    def pick(self, group: PlacedGroup, mechanism: Mechanism, noise: Noise) -> Picked:
        """Return an extreme value, for the whole of ε.

        Guarantee: ε-private (proofs.md, theorem V3).
        """
        values, (public, _) = group.rows.values, group.rows.public()
        largest = int(values.max(initial=-(2**LARGEST)))
        floor = int(public.max()) if len(public) else None
        found = draw_largest(mechanism.epsilon, self.prior, largest, floor, group.covers(), noise)
        return Picked(found, 1 / mechanism.epsilon)

    def exactly(self, values: Sequence[int], _: Sequence[int]) -> int | None:
        """Return the largest value."""
        return max(values, default=None)


@dataclass(frozen=True, slots=True)
class Ordered:
    """Groups of which each has one of its values as answer.

    `sign` is -1 where the values come with their signs turned, as those of a minimum do. `share` is how many
    groups a participant may touch: the mechanism is one for ε/share.
    """

    groups: Sequence[PlacedGroup]
    picker: Picker
    sign: int
    share: int

    def release(self, mechanism: Mechanism, noise: Noise) -> list[Release]:
        """Return the answers: all groups together cost `share` times the mechanism's ε.

        Guarantee: private with that ε, if no participant touches more than `share` groups (proofs.md,
        theorems V1 and V3, and theorem R7's side by side).
        """
        return [self._released(self.picker.pick(group, mechanism, noise), mechanism) for group in self.groups]

    def _released(self, found: Picked, mechanism: Mechanism) -> Release:
        return Release(
            value=Fraction(0 if found.value is None else self.sign * found.value),
            interval=(None, None),
            noise_scale=found.scale,
            epsilon=self.share * mechanism.epsilon,
            mechanism=mechanism.name,
            signed=True,
            undefined=found.value is None,
        )

    @property
    def signed(self) -> bool:
        return True

    @property
    def signs(self) -> Sequence[TruncationPrograms]:
        return [part for group in self.groups for part in group.between(-inf, inf).signs]

    def constants(self) -> list[int | None]:
        return [self._exactly(*group.rows.public()) for group in self.groups]

    def true_answers(self) -> list[int | None]:
        return [self._exactly(group.rows.values, group.rows.tuples.weights) for group in self.groups]

    def _exactly(self, values: NDArray[Any], weights: NDArray[Any]) -> int | None:
        found = self.picker.exactly(values.tolist(), weights.tolist())
        return None if found is None else self.sign * found
