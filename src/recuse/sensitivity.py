"""The paper's notions of sensitivity, by definition: equivalence, impact, and the empirical sensitivities.

All are exponential in the number of participants and meant for small relations: they are what the laws
are stated in, and what `mechanism.general` calibrates its noise to.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import combinations

import numpy as np
from scipy.optimize import linprog

from recuse.annotation import Annotation, Real, holds, withdraw
from recuse.primes import Derivation, derivations

Subset = frozenset[Hashable]
SetQuery = Callable[[Subset], Real]
"""A query on a sensitive database: its answer when only this subset takes part."""


def equivalent(left: Annotation, right: Annotation) -> bool:
    """Return whether φ is the same function for both.

    φ is the largest of the truncated planes (1 - m·f̄)⁺ of its derivations m, so the two are equal iff each
    derivation of one is dominated by a convex combination of the other's.
    """
    ours, theirs = derivations(left), derivations(right)
    return all(_dominated(m, theirs) for m in ours) and all(_dominated(m, ours) for m in theirs)


def _dominated(m: Derivation, others: list[Derivation]) -> bool:
    """Return whether some convex combination of `others` is at most `m` everywhere."""
    if any(all(other[name] <= m[name] for name in other) for other in others):
        return True
    if len(others) < 2:
        return False
    names = sorted({name for other in [m, *others] for name in other}, key=repr)
    table = np.array([[other[name] for other in others] for name in names], float)
    found = linprog(
        np.zeros(len(others)),
        A_ub=table,
        b_ub=np.array([m[name] for name in names], float),
        A_eq=np.ones((1, len(others))),
        b_eq=[1.0],
        method="highs",
    )
    return bool(found.status == 0)


def impact(rows: Mapping[Hashable, Annotation], participant: Hashable) -> frozenset[Hashable]:
    """Return the tuples whose annotation changes when the participant leaves."""
    return frozenset(t for t, k in rows.items() if not equivalent(k, withdraw(k, participant)))


def universal(
    rows: Mapping[Hashable, Annotation], weights: Mapping[Hashable, Real], people: Iterable[Hashable]
) -> Real:
    """Return the universal empirical sensitivity: the largest weight of anybody's impact."""
    return max((sum((weights[t] for t in impact(rows, p)), start=0) for p in people), default=0)


def local(query: SetQuery, people: Subset) -> Real:
    """Return the local empirical sensitivity: the largest change when one of `people` leaves."""
    whole = Fraction(query(people))
    return max((abs(whole - Fraction(query(people - {p}))) for p in people), default=0)


def global_(query: SetQuery, people: Subset) -> Real:
    """Return the global empirical sensitivity: the largest local one over all subsets."""
    return max(local(query, subset) for subset in subsets(people))


def subsets(people: Iterable[Hashable]) -> Iterator[Subset]:
    """Yield every subset, smaller ones first."""
    listed = sorted(people, key=repr)
    for size in range(len(listed) + 1):
        yield from map(frozenset, combinations(listed, size))


def linear_query(rows: Mapping[Hashable, Annotation], weights: Mapping[Hashable, Real]) -> SetQuery:
    """Return the query that sums the weights of the tuples that are present."""

    def answer(present: Subset) -> Real:
        return sum((weights[t] for t, k in rows.items() if holds(k, present)), start=Fraction(0))

    return answer
