"""Keys that are found among private rows, with (ε, δ): which of the candidates are told.

A candidate is a key that some row has. Its score is the cover number W of its rows: how many withdrawals take
all of them. It moves by at most 1 with a participant more, and a key that is there only through one
participant has W ≤ 1. So a key that many have is told, and one that only a single participant has is told
with probability δ at most, whatever else is known.

OneKeyEach     nobody has two keys: every key by its noisy W
OwnersKeys     every row has one owner: each owner's keys share a weight of 1
MostCovered    otherwise: a few keys of largest W, drawn one after another
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from math import ceil
from os import urandom
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from recuse.exponential import exponential, logarithm
from recuse.krelation.relation import Integers
from recuse.mechanism.parameters import INDEX_GRID, SLACK
from recuse.mechanism.pick import pick
from recuse.noise import Noise, round_up
from recuse.privacy import Delta, Epsilon

MOST_KEYS = 128
"""C: how many keys of an owner have a part in it; it enters the threshold by its logarithm only"""
OWNER_GRID = 2**20
"""steps in an owner's weight of 1"""
DRAWN = 20
"""how many keys are drawn one after another at most"""
POOL = 100
"""k̄: how many keys of largest W are drawn from"""
DIGITS = 40
LOG_GRID = Fraction(2**20)
ONE = Fraction(1)


class KeyFinder(Protocol):
    """The candidates of a question, and which of them are told."""

    def find(self, epsilon: Epsilon, delta: Delta, noise: Noise) -> list[int]:
        """Return the candidates that are told, the surest first.

        Guarantee: (ε, δ)-private.
        """


def steps_beyond(scale: Fraction, times: int, delta: Fraction) -> int:
    """Return the smallest n with `times`·P(i ≥ n) ≤ δ for discrete Laplace noise i of a scale as it is drawn.

    P(i ≥ n) = q^n/(1+q), q = exp(-1/s) with s the double that the sampler takes: more than half of q^n. It is
    compared in numbers that enclose it, not in doubles.
    """
    drawn = Fraction(round_up(scale))

    def is_enough(n: int) -> bool:
        _, high = exponential(-Fraction(n) / drawn, DIGITS)
        low, _ = exponential(-1 / drawn, DIGITS)
        return times * high / (1 + low) <= delta

    most = 1
    while not is_enough(most):
        most *= 2
    least = most // 2
    while most - least > 1:
        middle = (most + least) // 2
        least, most = (least, middle) if is_enough(middle) else (middle, most)
    return most


def refuse_coarse(epsilon: Fraction, delta: Fraction) -> None:
    """Refuse a δ that theorem K1 does not allow beside an ε: it needs δ ≤ 1 - exp(-ε/2)."""
    if delta > min(ONE, epsilon) / 4:
        raise ValueError("delta must be far below epsilon")


CoversOf = Callable[[Sequence[int]], Sequence[Fraction]]
"""candidates → for each a number between W and W + η"""


@dataclass(frozen=True, slots=True, eq=False)
class OneKeyEach:
    """Candidates of which nobody has two: `bounds` are numbers that W does not exceed."""

    bounds: Integers
    covers: CoversOf

    def find(self, epsilon: Epsilon, delta: Delta, noise: Noise) -> list[int]:
        """Return the keys whose noisy W reaches the threshold.

        Noise is drawn first: where even the bound does not reach it, W need not be known.

        Guarantee: (ε, δ)-private if nobody has two keys (proofs.md, theorem K1).
        """
        refuse_coarse(epsilon.value, delta.value)
        moves = INDEX_GRID + ceil(INDEX_GRID * SLACK)
        scale = moves / epsilon.value
        threshold = moves + steps_beyond(scale, 1, delta.value)
        drawn = np.array(noise.laplaces(scale, len(self.bounds)), np.int64)
        most = np.minimum(self.bounds, 2**40) * INDEX_GRID + ceil(INDEX_GRID * SLACK)
        possible = np.flatnonzero(most + drawn >= threshold)
        covers = np.array([ceil(INDEX_GRID * cover) for cover in self.covers(possible.tolist())], np.int64)
        noisy = covers + drawn[possible]
        return _surest(possible, noisy, threshold)


@dataclass(frozen=True, slots=True, eq=False)
class OwnersKeys:
    """Candidates of rows with one owner: `owners[i]` has the key `keys[i]`."""

    owners: Integers
    keys: Integers
    count: int

    def find(self, epsilon: Epsilon, delta: Delta, noise: Noise) -> list[int]:
        """Return the keys whose noisy weight reaches the threshold.

        An owner of m keys gives each 1/m; of more than C keys a random C, chosen among the owner's own.

        Guarantee: (ε, δ)-private (proofs.md, theorem K2).
        """
        refuse_coarse(epsilon.value, delta.value)
        scale = OWNER_GRID / epsilon.value
        owners, keys = kept(self.owners, self.keys, MOST_KEYS)
        _, place, numbers = np.unique(owners, return_inverse=True, return_counts=True)
        weights = OWNER_GRID // numbers[place] if len(owners) else np.empty(0, np.int64)
        totals = np.zeros(self.count, np.int64)
        np.add.at(totals, keys, weights)
        drawn = np.array(noise.laplaces(scale, self.count), np.int64)
        threshold = owners_threshold(epsilon.value, delta.value)
        return _surest(np.arange(self.count), totals + drawn, threshold)


@lru_cache(maxsize=64)
def owners_threshold(epsilon: Fraction, delta: Fraction) -> int:
    """Return the steps from which a key is told: all of one owner alone are with δ at most."""
    scale = OWNER_GRID / epsilon
    return max(
        OWNER_GRID // number + steps_beyond(scale, number, delta) for number in range(1, MOST_KEYS + 1)
    )


def kept(owners: Integers, keys: Integers, most: int) -> tuple[Integers, Integers]:
    """Return the pairs, each once, of owners with at most so many keys: random ones where they have more.

    Guarantee: which pairs of an owner are kept is a function of the owner's own pairs and of random numbers
    of theirs.
    """
    pairs = np.unique(np.stack([owners, keys]), axis=1)
    owners, keys = pairs[0], pairs[1]
    order = np.lexsort((secure_numbers(len(owners)), owners))
    owners, keys = owners[order], keys[order]
    starts = np.flatnonzero(np.diff(owners, prepend=-1))
    ranks = np.arange(len(owners)) - np.repeat(starts, np.diff(np.append(starts, len(owners))))
    return owners[ranks < most], keys[ranks < most]


def secure_numbers(count: int) -> NDArray[np.uint64]:
    """Return random numbers of the operating system."""
    return np.frombuffer(urandom(8 * count), np.uint64)


@dataclass(frozen=True, slots=True, eq=False)
class MostCovered:
    """Candidates of any rows: `bounds` are numbers that W does not exceed."""

    bounds: Integers
    covers: CoversOf

    def find(self, epsilon: Epsilon, delta: Delta, noise: Noise) -> list[int]:
        """Return keys drawn one after another by their W, until nothing is drawn.

        Guarantee: (ε, δ)-private (proofs.md, theorem K3).
        """
        draws = KeyDraws.of(epsilon.value, delta.value)
        pool = self._pool()
        beyond = pool[POOL][1] if len(pool) > POOL else Fraction(0)
        told: list[int] = []
        left = pool[:POOL]
        while left and len(told) < DRAWN:
            scores = [score for _, score in left]
            place = pick(
                [ONE] * (len(left) + 1),
                [-draws.rate * score for score in (*scores, beyond + draws.margin)],
                noise,
            )
            if place == len(left):
                break
            told.append(left.pop(place)[0])
        return told

    def _pool(self) -> list[tuple[int, Fraction]]:
        """Return the POOL + 1 keys of largest W', found by their bounds first."""
        order = np.argsort(-self.bounds, kind="stable").tolist()
        found: list[tuple[int, Fraction]] = []
        for batch in _batches(order, POOL):
            if len(found) > POOL and found[POOL][1] >= self.bounds[batch[0]] + SLACK:
                break
            found += zip(batch, self.covers(batch), strict=True)
            found.sort(key=lambda one: -one[1])
            del found[POOL + 1 :]
        return found


@dataclass(frozen=True, slots=True)
class KeyDraws:
    """What each of the draws may cost, and by how much W must exceed that of all that is not drawn from."""

    rate: Fraction
    margin: Fraction

    @classmethod
    def of(cls, epsilon: Fraction, delta: Fraction) -> KeyDraws:
        """Return the parameters of DRAWN draws that are (ε, δ)-private together."""
        each = epsilon / DRAWN
        rate = each / (1 + 2 * SLACK)
        _, growth = exponential(each, DIGITS)
        chance = delta / (DRAWN * (1 + growth))
        ahead = ceil(logarithm(POOL / chance, DIGITS)[1] * LOG_GRID) / LOG_GRID
        return cls(rate, 1 + 2 * SLACK + ahead / rate)


def _batches(order: Sequence[int], size: int) -> Iterator[list[int]]:
    waiting = iter(order)
    while batch := list(islice(waiting, size)):
        yield batch


def _surest(keys: Integers, noisy: Integers, threshold: int) -> list[int]:
    told = np.flatnonzero(noisy >= threshold)
    return [int(key) for key in keys[told[np.argsort(-noisy[told], kind="stable")]]]
