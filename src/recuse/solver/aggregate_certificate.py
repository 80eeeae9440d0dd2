"""Certificates for aggregates: loads, and both ends of X(τ), derived from the groups. Trusts no solver.

A withdrawal is snapped to multiples of 2⁻³⁰, where everything that X(τ) is made of is an integer.
"""

from __future__ import annotations

import math
from fractions import Fraction
from math import comb

import numpy as np

from recuse.graphs.aggregate import Aggregate
from recuse.krelation.relation import Floats, Integers
from recuse.solver.aggregate_focus import Focus
from recuse.solver.aggregate_table import Table
from recuse.solver.certificate import UNIT, up

PARTS = 2**30
"""Withdrawals are multiples of one over this."""


def initial_loads(aggregate: Aggregate) -> Floats:
    """Return doubles not below how many choices hold each participant, equal where all are below 2⁵³.

    A group's owner is in all C(m, k), who else owns a unit in C(m-1, k-1) of them (docs/proofs.md, lemma A2).
    """
    k, sizes = aggregate.k, aggregate.sizes()
    most = int(sizes.max(initial=0))
    whole = _upwards([comb(m, k) for m in range(most + 1)])
    through = _upwards([comb(m - 1, k - 1) if m else 0 for m in range(most + 1)])
    group, unit = aggregate.places.T
    loads, terms = np.zeros(aggregate.participants), np.zeros(aggregate.participants)

    def add(people: Integers, weights: Floats) -> None:
        nonlocal loads, terms
        loads = loads + np.bincount(people, weights=weights, minlength=len(loads))
        terms = terms + np.bincount(people, minlength=len(loads))

    for owners in aggregate.group_owners.T:
        add(owners, whole[sizes])
    for owners in aggregate.unit_owners[unit].T:
        other = (aggregate.group_owners[group] != owners[:, None]).all(axis=1)
        add(owners[other], through[sizes[group[other]]])
    return loads if loads.max(initial=0.0) < 2.0**53 else loads * (1 + UNIT * (terms + 4))


def _upwards(numbers: list[int]) -> Floats:
    """Return doubles not below some integers, equal where they are small."""
    near = [min(float(number), math.inf) for number in numbers]
    return np.array([n if int(n) >= number else up(n) for n, number in zip(near, numbers, strict=True)])


def snapped(g: Floats) -> Integers:
    """Return withdrawals in parts of PARTS."""
    return np.round(np.clip(np.nan_to_num(g), 0.0, 1.0) * PARTS).astype(np.int64)


def truncated_high(focus: Focus, table: Table, tau: float, parts: Integers) -> float:
    """Return an upper end for X(τ): F(g) + τ|g| of a snapped g, in integers until the last step.

    A group counts t·B(y/t) = B(j)·t + s_j·(y - j·t), j = ⌊y/t⌋ (docs/proofs.md, theorem A1).
    """
    lost = np.append(parts, 0)
    t = np.maximum(0, PARTS - lost[focus.group_owners].sum(axis=1))
    z = np.maximum(0, t[focus.petal_group] - lost[focus.petal_owners].sum(axis=1))
    y = focus.fixed * t
    np.add.at(y, focus.petal_group, z)
    j = y // np.maximum(1, t)
    whole, partial = np.zeros((2, len(table.values)), np.int64)
    np.add.at(whole, j, t)
    np.add.at(partial, j, y - j * t)
    kept = sum(
        table.values[at] * int(whole[at]) + table.slopes[at] * int(partial[at])
        for at in np.unique(j).tolist()
    )
    return up(float(Fraction(kept, PARTS) + Fraction(tau) * int(parts.sum()) / PARTS + focus.rest))
