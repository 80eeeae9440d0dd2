"""Groups whose answer is one of their values: the largest, the smallest, a quantile.

Where participants may touch several groups, each is answered by a mechanism of a part of ε; but where every
row has one owner, all have the whole of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

from numpy.typing import NDArray

from recuse.mechanism.axis import LARGEST, Axis, is_nothing
from recuse.mechanism.extreme import FromMiddle, draw_largest
from recuse.mechanism.middle import REST_SHARE, Weighing
from recuse.mechanism.parameters import SLACK
from recuse.mechanism.pick import pick
from recuse.mechanism.quantile import draw_quantile
from recuse.mechanism.release import Release
from recuse.mechanism.truncating import Mechanism
from recuse.mechanism.valued import ValuedGroup
from recuse.noise import Noise
from recuse.solver.programs import TruncationPrograms

CENTRAL = (Fraction(1, 4), Fraction(3, 4))
"""ranks that enough rows lie beyond on both sides: they are looked for without a middle"""


class Picker(Protocol):
    """How a value of a group is picked."""

    def ready(
        self, mechanism: Mechanism, programs: Sequence[TruncationPrograms], noise: Noise
    ) -> Callable[[ValuedGroup], Picked]:
        """Return how the private answer of a group is found; these programs choose the τ that it needs."""

    def exactly(self, values: Sequence[int], weights: Sequence[int]) -> int | None:
        """Return the answer for values that are public; None if there are none."""


@dataclass(frozen=True, slots=True)
class Picked:
    """A value in granules (None: too few people to say one), and how coarse the choice was, in rows."""

    value: int | None
    scale: Fraction


def _at_one_level(
    pick: Callable[[Weighing, Fraction, Noise], Picked],
    mechanism: Mechanism,
    programs: Sequence[TruncationPrograms],
    noise: Noise,
) -> Callable[[ValuedGroup], Picked]:
    """Return how a value of any group is picked once τ is chosen, for what choosing it leaves of ε.

    Guarantee: as `pick`, for all of ε (proofs.md, theorem V6).
    """
    choosing = mechanism.before_picking()
    tau, epsilon = choosing.choose(programs, noise), choosing.answer_epsilon
    return lambda group: pick(group.counting(tau), epsilon, noise)


@dataclass(frozen=True, slots=True)
class AtRank:
    """The value below which a part `rank` of the rows lies."""

    rank: Fraction
    axis: Axis

    def ready(
        self, mechanism: Mechanism, programs: Sequence[TruncationPrograms], noise: Noise
    ) -> Callable[[ValuedGroup], Picked]:
        return _at_one_level(self.pick, mechanism, programs, noise)

    def pick(self, weighing: Weighing, epsilon: Fraction, noise: Noise) -> Picked:
        """Return a quantile: a central one at once, another near the middle, which is found first.

        Guarantee: ε-private for given τ (proofs.md, theorems V1 and V4).
        """
        pieces = self.axis.far()
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

    def ready(
        self, mechanism: Mechanism, _: Sequence[TruncationPrograms], noise: Noise
    ) -> Callable[[ValuedGroup], Picked]:
        return lambda group: self.pick(group, mechanism.epsilon, noise)

    def pick(self, group: ValuedGroup, epsilon: Fraction, noise: Noise) -> Picked:
        """Return an extreme value: the middle first, then how far from it the end is.

        Guarantee: ε-private (proofs.md, theorems V3 and V4).
        """
        public, _ = group.public()
        floor = int(public.max()) if len(public) else None
        middle = group.covering().middle(epsilon, self.axis, noise)
        if middle is None:
            return Picked(floor, 1 / epsilon)
        largest = int(group.values.max(initial=-(2**LARGEST)))
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

    def ready(
        self, mechanism: Mechanism, programs: Sequence[TruncationPrograms], noise: Noise
    ) -> Callable[[ValuedGroup], Picked]:
        return _at_one_level(self.pick, mechanism, programs, noise)

    def pick(self, weighing: Weighing, epsilon: Fraction, noise: Noise) -> Picked:
        """Return a value with probability proportional to e^{ε X_v(τ)/τ(1+2η)}, exactly.

        Guarantee: ε-private for given τ (proofs.md, theorem V5).
        """
        rate = epsilon / (weighing.tau * (1 + 2 * SLACK))
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
    groups a participant may touch: the mechanism is one for ε/share. `everybody` are the programs of what
    people with one owner a row have in all groups, if τ is chosen by that, once, and `share` is 1.
    """

    groups: Sequence[ValuedGroup]
    picker: Picker
    sign: int
    share: int = 1
    everybody: Sequence[TruncationPrograms] | None = None

    def release(self, mechanism: Mechanism, noise: Noise) -> list[Release]:
        """Return the answers: all groups together cost `share` times the mechanism's ε.

        Guarantee: private with that ε, if no participant touches more than `share` groups (proofs.md,
        theorems V1 and V3, and theorem R7's side by side), or if all share what people have (theorem V6).
        """
        if self.everybody is not None:
            pick = self.picker.ready(mechanism, self.everybody, noise)
            return [self._released(pick(group), mechanism) for group in self.groups]
        return [
            self._released(self.picker.ready(mechanism, group.signs, noise)(group), mechanism)
            for group in self.groups
        ]

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
        if self.everybody is not None:
            return self.everybody
        return [part for group in self.groups for part in group.signs]

    def constants(self) -> list[int | None]:
        return [self._exactly(*group.public()) for group in self.groups]

    def true_answers(self) -> list[int | None]:
        return [self._exactly(group.values, group.weights) for group in self.groups]

    def _exactly(self, values: NDArray[Any], weights: NDArray[Any]) -> int | None:
        found = self.picker.exactly(values.tolist(), weights.tolist())
        return None if found is None else self.sign * found
