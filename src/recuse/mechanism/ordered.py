"""Groups whose answer is one of their values: the largest, the smallest, a quantile.

Where participants may touch several groups, each is answered by a mechanism of a part of ε.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from recuse.krelation.canonical import canonical
from recuse.krelation.placed import PlacedRows
from recuse.krelation.relation import Shape
from recuse.mechanism.axis import LARGEST, Axis, is_nothing
from recuse.mechanism.extreme import Covers, FromMiddle, draw_largest
from recuse.mechanism.middle import REST_SHARE, Some, Weighing
from recuse.mechanism.parameters import SLACK
from recuse.mechanism.pick import pick
from recuse.mechanism.prepared import Prepared, prepare, truncated_high
from recuse.mechanism.quantile import draw_quantile
from recuse.mechanism.release import Release
from recuse.mechanism.truncating import Mechanism
from recuse.noise import Noise, round_down
from recuse.solver.interval import Interval
from recuse.solver.programs import Solver, TruncationPrograms

OR_WEIGHT = 2**20
"""what a row with alternatives weighs, so that losing it is worth as many withdrawals: public"""

CENTRAL = (Fraction(1, 4), Fraction(3, 4))
"""ranks that enough rows lie beyond on both sides: they are looked for without a middle"""


@dataclass(frozen=True, slots=True)
class PlacedGroup:
    """The rows of one group with their values, and the solver of their programs."""

    rows: PlacedRows
    solver: Solver

    def part(self, some: Some) -> Prepared:
        """Return some of the rows."""
        return prepare(self.rows.part(some), self.solver)

    @property
    def whole(self) -> Prepared:
        """All rows."""
        return self.part(np.ones(len(self.rows.values), bool))

    def counting(self, tau: Fraction) -> Weighing:
        """Return how many rows there are of some, X(τ) of them, those that nobody owns included."""

        def weigh(some: Some) -> Fraction:
            part = self.part(some)
            return truncated_high(part.positive, tau) + part.relation.constant

        return Weighing(self.rows.values, weigh, tau)

    def covering(self) -> Weighing:
        """Return how many withdrawals take all of some rows: X(1), each row of the same public weight.

        Guarantee: with a participant more it does not fall, nor grow by more than 1 (proofs.md, lemma V2).
        """
        cover = self._cover()
        return Weighing(self.rows.values, lambda some: Fraction(cover(some).high), Fraction(1))

    def covers(self) -> Covers:
        """Return W: around X(1) of the rows above t, each of the same public weight.

        Guarantee: with a participant more it does not fall, nor grow by more than 1 (proofs.md, lemma V2).
        """
        values, cover = self.rows.values, self._cover()
        return Covers(np.unique(values), lambda t: cover(values > (-inf if t is None else t)))

    def _cover(self) -> Callable[[Some], Interval]:
        """Return X(1) of some rows; of conjunctions with the same owners one will do: it covers all."""
        simple = self.rows.shape is Shape.CONJUNCTIONS
        alike = self.rows.alike(1 if simple else OR_WEIGHT)
        owners = alike.owners() if simple else np.arange(len(alike.values))

        def solve(some: Some) -> Interval:
            once = np.zeros(len(some), bool)
            chosen = np.flatnonzero(some)
            once[chosen[np.unique(owners[chosen], return_index=True)[1]]] = True
            relation = alike.part(once)
            programs = self.solver(canonical(relation.positive), relation.participants)
            return programs.truncated(1.0, round_down(SLACK))

        return solve


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
    axis: Axis

    def pick(self, group: PlacedGroup, mechanism: Mechanism, noise: Noise) -> Picked:
        """Return a quantile: a central one at once, another near the middle, which is found first.

        Guarantee: (ε1 + ε2)-private (proofs.md, theorems V1 and V4).
        """
        choosing = mechanism.in_two_steps()
        weighing = group.counting(choosing.choose(group.whole.signs, noise))
        epsilon, pieces = choosing.answer_epsilon, self.axis.far()
        if not CENTRAL[0] <= self.rank <= CENTRAL[1]:
            middle = weighing.middle(epsilon, self.axis, noise)
            if middle is None:
                return Picked(None, 1 / weighing.envelope(epsilon, self.rank, []).rate)
            epsilon, pieces = REST_SHARE * epsilon, self.axis.near(middle)
        envelope = weighing.envelope(epsilon, self.rank, pieces)
        found = draw_quantile(envelope, weighing.below(self.rank), noise)
        return Picked(None if is_nothing(found) else found, 1 / envelope.rate)

    def exactly(self, values: Sequence[int], weights: Sequence[int]) -> int | None:
        """Return the first value up to which the part of the rows is reached."""
        found, total = 0, sum(weights)
        for value, weight in sorted(zip(values, weights, strict=True)):
            found += weight
            if found >= self.rank * total:
                return value
        return None


@dataclass(frozen=True, slots=True)
class Largest:
    """The largest value."""

    axis: Axis

    def pick(self, group: PlacedGroup, mechanism: Mechanism, noise: Noise) -> Picked:
        """Return an extreme value: the middle first, then how far from it the end is.

        Guarantee: ε-private (proofs.md, theorems V3 and V4).
        """
        epsilon, (public, _) = mechanism.epsilon, group.rows.public()
        floor = int(public.max()) if len(public) else None
        middle = group.covering().middle(epsilon, self.axis, noise)
        if middle is None:
            return Picked(floor, 1 / epsilon)
        largest = int(group.rows.values.max(initial=-(2**LARGEST)))
        prior = FromMiddle(self.axis, middle)
        rest = REST_SHARE * epsilon
        return Picked(draw_largest(rest, prior, largest, floor, group.covers(), noise), 1 / rest)

    def exactly(self, values: Sequence[int], _: Sequence[int]) -> int | None:
        """Return the largest value."""
        return max(values, default=None)


@dataclass(frozen=True, slots=True)
class MostFrequent:
    """The value that most rows have, of the whole numbers below `count`."""

    count: int

    def pick(self, group: PlacedGroup, mechanism: Mechanism, noise: Noise) -> Picked:
        """Return a value with probability proportional to e^{ε2 X_v(τ)/τ(1+2η)}, exactly.

        Guarantee: (ε1 + ε2)-private (proofs.md, theorem V5).
        """
        choosing = mechanism.in_two_steps()
        weighing = group.counting(choosing.choose(group.whole.signs, noise))
        rate = choosing.answer_epsilon / (weighing.tau * (1 + 2 * SLACK))
        scores = [rate * weighing.weigh(weighing.values == value) for value in range(self.count)]
        most = max(scores)
        found = pick([Fraction(1)] * self.count, [most - score for score in scores], noise)
        return Picked(found, 1 / rate)

    def exactly(self, values: Sequence[int], weights: Sequence[int]) -> int | None:
        """Return the first of the most frequent values."""
        totals: Counter[int] = Counter()
        for value, weight in zip(values, weights, strict=True):
            totals[value] += weight
        return min(totals, key=lambda value: (-totals[value], value), default=None)


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
        return [part for group in self.groups for part in group.whole.signs]

    def constants(self) -> list[int | None]:
        return [self._exactly(*group.rows.public()) for group in self.groups]

    def true_answers(self) -> list[int | None]:
        return [self._exactly(group.rows.values, group.rows.tuples.weights) for group in self.groups]

    def _exactly(self, values: NDArray[Any], weights: NDArray[Any]) -> int | None:
        found = self.picker.exactly(values.tolist(), weights.tolist())
        return None if found is None else self.sign * found
