"""The general mechanism of the paper's section 4.2: any monotone query, exponential time.

H_i is the smallest answer that i participants can give, G_i the smallest global empirical sensitivity
among them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from recuse.errors import ParameterError
from recuse.mechanism.framework import Sequences, release
from recuse.mechanism.recursive import Recursive
from recuse.mechanism.release import Release
from recuse.noise import Noise

LARGEST_LIST = 20
LARGEST_ANSWER = 2.0**500

SubsetQuery = Callable[[frozenset[Hashable]], float]
"""The answer of the query when only this subset of the list takes part."""


def general(
    query: SubsetQuery, participants: Sequence[Hashable], mechanism: Recursive, noise: Noise
) -> Release:
    """Return a private answer to `query` for everybody in `participants`.

    `participants` is public: everybody who might be in the data. Someone on it who is not in the data
    changes no answer. The query should be monotone, and `query(frozenset())` is public: it is what is
    known without any data. A query that raises is seen to raise: make it answer for every subset.

    Guarantee: (ε1 + ε2)-private whatever the query does (proofs.md, theorem R2): it is first made
    monotone, which leaves a monotone one as it is.
    """
    if len(set(participants)) != len(participants):
        raise ParameterError("the list of participants names somebody twice")
    if len(participants) > LARGEST_LIST:
        hint = "ask the question in SQL or as a graph pattern: the efficient mechanism has no such limit"
        found, accepted = f"{len(participants)} participants", f"at most {LARGEST_LIST}"
        problem = "the general mechanism looks at every subset of the list"
        raise ParameterError(problem, found=found, accepted=accepted, hint=hint)
    answers = subset_answers(query, participants)
    return release(sequences(answers - answers[0]), mechanism, noise, constant=Fraction(answers[0]))


def subset_answers(query: SubsetQuery, participants: Sequence[Hashable]) -> NDArray[np.float64]:
    """Return the answers of all subsets, by bit mask, made monotone; what is not finite counts as 0."""
    found = np.empty(2 ** len(participants))
    for mask in range(len(found)):
        found[mask] = finite(query(frozenset(p for i, p in enumerate(participants) if mask >> i & 1)))
    return _over_subsets(found)


def finite(answer: float) -> float:
    """Return the answer as a double of moderate size; what is not a number, or not finite, counts as 0."""
    try:
        value = float(answer)
    except OverflowError:
        return 0.0
    return max(-LARGEST_ANSWER, min(LARGEST_ANSWER, value)) if math.isfinite(value) else 0.0


def sequences(answers: NDArray[np.float64]) -> Sequences:
    """Return H and G of a monotone query given by its answers on all subsets."""
    people = len(answers).bit_length() - 1
    masks = np.arange(len(answers))
    size = np.zeros(len(answers), int)
    change = np.zeros(len(answers))
    for person in range(people):
        there = masks[masks >> person & 1 == 1]
        size[there] += 1
        change[there] = np.maximum(change[there], answers[there] - answers[there ^ (1 << person)])
    sensitivity = _over_subsets(change)
    by_size = [np.flatnonzero(size == i) for i in range(people + 1)]
    return Sequences(
        h=[float(answers[group].min()) for group in by_size],
        g=[float(sensitivity[group].min()) for group in by_size],
    )


def _over_subsets(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for every mask the largest value of its subsets."""
    best = values.copy()
    masks = np.arange(len(best))
    for person in range(len(best).bit_length() - 1):
        there = masks[masks >> person & 1 == 1]
        best[there] = np.maximum(best[there], best[there ^ (1 << person)])
    return best
