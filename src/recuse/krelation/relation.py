"""The columnar K-relation: weights, alternatives and participants as arrays.

An annotation is stored in levels that alternate OR, AND, OR, AND, …, each a pointer array in the manner
of a compressed sparse row; the last level is an AND over participants. So

    two levels     tuple → clauses → participants     conjunctions (one clause each) and clause sets
    four levels    tuple → OR of ANDs of ORs of ANDs  a product of ORs, and so on for deeper nesting

With thresholds every OR level has `Quorums`: what its children weigh, and how much of it a node needs.

Which shape a relation has follows from the query and the policy only (proofs.md, theorem A).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


class Shape(Enum):
    """The form of all annotations of a relation."""

    CONJUNCTIONS = "conjunctions"
    """one clause a tuple, a set of participants"""
    CLAUSES = "clauses"
    """a set of clauses a tuple, duplicates removed, never absorbed"""
    TREES = "trees"
    """syntactic trees, straight from the algebra"""
    THRESHOLDS = "thresholds"
    """syntactic trees in which a node may need several of its children"""


SYNTACTIC = (Shape.TREES, Shape.THRESHOLDS)
"""the shapes whose annotations are kept as the algebra writes them"""


@dataclass(frozen=True, slots=True)
class Growth:
    """What an aggregate has instead of annotations: the doublings of its loads when groups grow by about √2.

    It follows from the pattern and from who is protected, as a shape follows from query and policy.
    """

    doublings: int


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array, made read-only."""
    array.flags.writeable = False
    return array


def exact_sum(weights: NDArray[Any]) -> int:
    """Return the sum of integers, exactly: in 64 bits where it surely fits."""
    if weights.dtype != object and float(np.abs(weights).max(initial=0)) * len(weights) < 2.0**62:
        return int(weights.sum())
    return sum(weights.tolist())


def narrowed(weights: NDArray[Any]) -> NDArray[Any]:
    """Return the weights as int64 where they fit: their type must not tell of other groups' weights."""
    fits = weights.dtype == object and len(weights) and max(weights) < 2**62
    return weights.astype(np.int64) if fits else weights


HEAVIEST_CHILD = 2**50
"""The largest `least` of a threshold: with it every weight of a child is exact in doubles."""


@dataclass(frozen=True, slots=True, eq=False)
class Quorums:
    """The thresholds of one level: how much each node needs of what its children weigh. 1 and 1s: an OR."""

    least: Integers
    weights: Integers

    @classmethod
    def of_ors(cls, level: Integers) -> Self:
        """Return the quorums of a level of plain ORs."""
        return cls(np.ones(len(level) - 1, np.int64), np.ones(int(level[-1]), np.int64))

    def fit(self, level: Integers) -> bool:
        """Return whether these are numbers for the nodes and children of a level, and no node is FALSE."""
        if (len(self.least), len(self.weights)) != (len(level) - 1, level[-1]):
            return False
        if len(self.least) == 0:
            return True
        small = self.least.min() >= 1 and self.weights.min() >= 1 and self.weights.max() <= HEAVIEST_CHILD
        return bool(small and (self.totals(level) >= self.least).all())

    def totals(self, level: Integers) -> NDArray[Any]:
        """Return what all children of each node weigh together, exactly."""
        found: NDArray[Any] = np.add.reduceat(self.exact_weights(), level[:-1])
        return found

    def exact_weights(self) -> NDArray[Any]:
        """Return the weights in a type in which the sum of all of them fits."""
        fits = float(self.weights.max(initial=0)) * len(self.weights) < 2.0**62
        return self.weights if fits else self.weights.astype(object)


@dataclass(frozen=True, slots=True, eq=False)
class Tuples:
    """The tuples of one sign: positive integer weights and their annotations.

    `weights` is int64, or Python integers where a sum does not fit. Every segment of every level is
    non-empty: TRUE tuples are constants of the relation, FALSE ones are not stored.
    """

    weights: NDArray[Any]
    levels: tuple[Integers, ...]
    members: Integers
    quorums: tuple[Quorums, ...] = ()
    """of every OR level; nothing: plain ORs"""

    def __post_init__(self) -> None:
        sizes = [len(self.weights), *(len(level) - 1 for level in self.levels[1:]), len(self.members)]
        if len(self.levels) < 2 or len(self.levels) % 2:
            raise ValueError("levels alternate OR and AND, and end with AND")
        for level, above, below in zip(self.levels, sizes[:-1], sizes[1:], strict=True):
            if len(level) != above + 1 or level[0] != 0 or level[-1] != below:
                raise ValueError("a level's pointers do not fit its neighbours")
            if not (level[1:] > level[:-1]).all():
                raise ValueError("an empty segment: fold constants first")
        if len(self.weights) and self.weights.min() <= 0:
            raise ValueError("weights must be positive: split by sign first")
        if self.quorums and not all(
            quorums.fit(level) for quorums, level in zip(self.quorums, self.levels[::2], strict=True)
        ):
            raise ValueError("a threshold that does not fit its children, or that they cannot reach")
        for array in (self.weights, *self.levels, self.members):
            frozen(array)

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def clauses(self) -> Integers:
        """The pointers of the lowest ANDs into `members`."""
        return self.levels[-1]

    def alternatives(self) -> Integers:
        """Return how many lowest ANDs each tuple has: one member of each withdrawn, and the tuple is gone."""
        first = self.levels[0]
        for level in self.levels[1:-1]:
            first = level[first]
        return np.diff(first)

    def total(self) -> int:
        """Return the sum of the weights, exactly."""
        return exact_sum(self.weights)

    def weights_down(self) -> Floats:
        """Return the largest doubles that do not exceed the weights."""
        return _toward(self.weights, -np.inf)

    def weights_up(self) -> Floats:
        """Return the smallest doubles that the weights do not exceed."""
        return _toward(self.weights, np.inf)


def nearest_doubles(weights: NDArray[Any]) -> Floats:
    """Return the doubles nearest to integers, infinite beyond all of them."""
    try:
        return weights.astype(np.float64)
    except OverflowError:
        return np.array([float(q) if q < 2**1023 else np.inf for q in weights.tolist()])


def doubles_around(weights: NDArray[Any]) -> tuple[Floats, Floats]:
    """Return the nearest doubles below and above whole numbers, or themselves."""
    return _toward(weights, -np.inf), _toward(weights, np.inf)


def _toward(weights: NDArray[Any], direction: float) -> Floats:
    near = nearest_doubles(weights)
    if len(weights) == 0 or weights.max() <= 2**53:
        return near
    beyond = [  # Python compares a double with an integer exactly
        value > exact if direction < 0 else value < exact
        for value, exact in zip(near.tolist(), weights.tolist(), strict=True)
    ]
    return np.where(beyond, np.nextafter(near, direction), near)


NO_TUPLES = Tuples(
    weights=np.empty(0, np.int64),
    levels=(np.zeros(1, np.int64), np.zeros(1, np.int64)),
    members=np.empty(0, np.int64),
)


@dataclass(frozen=True, slots=True, eq=False)
class KRelation:
    """An annotated relation with integer weights: what a query is to its participants.

    The answer of the query is `constant` (tuples that nobody can withdraw) plus the positive minus the
    negative tuples' weights. Whether it is `signed` follows from the query: a count is not, a sum is.
    `names` says which participant an index stands for.
    """

    shape: Shape
    positive: Tuples
    negative: Tuples = NO_TUPLES
    constant: int = 0
    signed: bool = True
    names: Sequence[Hashable] = field(default=(), repr=False)
    participants: int = 0

    def __post_init__(self) -> None:
        if not self.signed and len(self.negative):
            raise ValueError("a relation without a sign has no negative tuples")
        for part in self.signs:
            if len(part) and not 0 <= part.members.min() <= part.members.max() < self.participants:
                raise ValueError("a member is not a participant")
            conjunctive = len(part.levels) == 2 and len(part.levels[0]) == len(part.levels[1])
            if self.shape is Shape.CONJUNCTIONS and not conjunctive:
                raise ValueError("a conjunction has one clause")
            if len(part) and bool(part.quorums) != (self.shape is Shape.THRESHOLDS):
                raise ValueError("thresholds are a shape of their own")
            if self.shape is Shape.CLAUSES and len(part.levels) != 2:
                raise ValueError("clause sets have two levels")

    @property
    def signs(self) -> tuple[Tuples, Tuples]:
        """The positive and the negative tuples."""
        return self.positive, self.negative

    def true_answer(self) -> int:
        """Return the answer without noise. Never release it; tests and demonstrations only."""
        return self.constant + self.positive.total() - self.negative.total()
