"""Certificates for aggregates: loads, and both ends of X(τ), derived from the groups. Trusts no solver.

A withdrawal is snapped to multiples of 2⁻³⁰, where everything that F is made of is an integer. From below, F
is held by cuts: the slope that a group meets at some withdrawal and the petals it has left there make a
linear function that is nowhere above the group's count (proofs.md, lemma A5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Self

import numpy as np
from numpy.typing import NDArray

from recuse.krelation.choices import Choices
from recuse.krelation.relation import Floats, Integers
from recuse.solver.bounds import UNIT, down, enclosed_sum, up
from recuse.solver.choices.binomials import Binomials
from recuse.solver.choices.restriction import ChoiceFocus, totals
from recuse.solver.interval import enclosed, nearest

PARTS = 2**30
"""Withdrawals are multiples of one over this."""


def initial_loads(choices: Choices) -> Floats:
    """Return doubles not below how many choices hold each participant, equal where all are below 2⁵³.

    Infinite beyond all doubles.

    A group's owner is in all C(m, k), who else owns a unit in C(m-1, k-1) of them (proofs.md, lemma A2).
    """
    k, sizes = choices.k, choices.sizes()
    there = np.unique(sizes)
    whole, through = np.zeros((2, int(sizes.max(initial=0)) + 1))
    whole[there] = [enclosed(comb(m, k)).high for m in there.tolist()]
    through[there] = [enclosed(comb(m - 1, k - 1) if m else 0).high for m in there.tolist()]
    group, unit = choices.places.T
    people = [choices.group_owners.T.ravel()]
    weights = [np.tile(whole[sizes], choices.group_owners.shape[1])]
    for owners in choices.unit_owners[unit].T:
        other = np.all(choices.group_owners[group] != owners[:, None], axis=1)
        people.append(owners[other])
        weights.append(through[sizes[group[other]]])
    holders = np.concatenate(people)
    loads = totals(holders, np.concatenate(weights), choices.participants)
    terms = np.bincount(holders, minlength=choices.participants)
    return loads if loads.max(initial=0.0) < 2.0**53 else loads * (1 + UNIT * (terms + 4))


def snapped(g: Floats) -> Integers:
    """Return withdrawals in parts of PARTS."""
    return np.round(np.clip(np.nan_to_num(g), 0.0, 1.0) * PARTS).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """What a snapped withdrawal leaves, in parts: t of groups, what petals lose of it, y of all units.

    `left` is t before it is cut at zero: two owners may withdraw more than a group has.
    """

    left: Integers
    t: Integers
    lost: Integers
    y: Integers

    @classmethod
    def of(cls, focus: ChoiceFocus, parts: Integers) -> Self:
        padded = np.append(parts, 0)  # NOBODY is the last
        left = PARTS - padded[focus.group_owners].sum(axis=1)
        t = np.maximum(0, left)
        lost = padded[focus.petal_owners].sum(axis=1)
        y = focus.fixed * t
        np.add.at(y, focus.petal_group, np.maximum(0, t[focus.petal_group] - lost))
        return cls(left, t, lost, y)


def truncated_high(focus: ChoiceFocus, table: Binomials, tau: float, parts: Integers) -> float:
    """Return an upper end for X(τ): F(g) + τ|g| of a snapped g, in integers until the last step.

    A group counts t·B(y/t) = B(j)·t + s_j·(y - j·t), j = ⌊y/t⌋ (proofs.md, theorem A1).
    """
    kept = Kept.of(focus, parts)
    j = kept.y // np.maximum(1, kept.t)
    whole, partial = np.zeros((2, len(table.values)), np.int64)
    np.add.at(whole, j, kept.t)
    np.add.at(partial, j, kept.y - j * kept.t)
    count = sum(
        table.values[at] * int(whole[at]) + table.slopes[at] * int(partial[at])
        for at in np.unique(j).tolist()
    )
    total = Fraction(count, PARTS) + Fraction(tau) * int(parts.sum()) / PARTS + focus.rest
    return up(nearest(total))


@dataclass(frozen=True, slots=True, eq=False)
class ChoiceCut:
    """For every group  F ≥ K·(1 - Σ g of its owners) - s·Σ g of its active petals' owners,  in units of τ.

    `slope` is not below s, `low` and `high` enclose K.
    """

    active: NDArray[np.bool_]
    slope: Floats
    low: Floats
    high: Floats

    @classmethod
    def at(cls, focus: ChoiceFocus, table: Binomials, parts: Integers) -> Self:
        """Return the cut that touches F at a snapped g.

        Guarantee: any petals and any slope s_j with j ≤ petals make a valid cut, K = s_j·(petals - j) + B(j),
        and so does zero (proofs.md, lemma A5).
        """
        kept = Kept.of(focus, parts)
        active = (kept.lost < kept.t[focus.petal_group]) | (kept.lost == 0)
        count = focus.fixed + np.bincount(focus.petal_group[active], minlength=len(focus.fixed))
        ceiling = np.where(kept.t > 0, -(-kept.y // np.maximum(1, kept.t)), count)
        j = np.maximum(0, ceiling - 1)
        there = kept.left >= 0  # beyond, a group counts nothing, and the cut that touches it is zero
        slope = np.where(there, table.low_slopes[j], 0.0)
        value = np.where(there, table.low_values[j], 0.0)
        low = (slope * np.maximum(0, count - j) + value) * (1 - 4 * UNIT)
        return cls(active, slope * (1 + 4 * UNIT), low, low * (1 + 16 * UNIT))


def slopes(focus: ChoiceFocus, cuts: Sequence[ChoiceCut], portions: Floats) -> Floats:
    """Return doubles not below Σ portions·(what each participant's withdrawal takes of the cuts)."""
    people: list[Integers] = []
    weights: list[Floats] = []
    through = np.zeros(len(focus.petal_group))
    whole = np.zeros(len(focus.fixed))
    for cut, portion in zip(cuts, portions, strict=True):
        whole += portion * cut.high
        through += (portion * cut.slope)[focus.petal_group] * cut.active
    for owners, weight in ((focus.group_owners, whole), (focus.petal_owners, through)):
        for column in owners.T:
            people.append(column)
            weights.append(weight)
    holders = np.concatenate(people)
    total = totals(holders, np.concatenate(weights), len(focus.people))
    terms = totals(holders, np.ones(len(holders)), len(focus.people))
    return total * (1 + UNIT * (terms + len(cuts) + 8))


def truncated_low(focus: ChoiceFocus, tau: float, cuts: Sequence[ChoiceCut], portions: Floats) -> float:
    """Return a lower end for X(τ) from cuts, a portion of each for each group.

    Guarantee: portions are clipped to be no less than zero and no more than one together; any such portions
    prove X ≥ Σ K - Σ_p (slope_p - τ)⁺ (proofs.md, lemma A5).
    """
    portions = np.maximum(0.0, np.nan_to_num(portions))
    portions = portions * ((1 - UNIT * (len(cuts) + 8)) / np.maximum(1.0, portions.sum(axis=0)))
    constant = enclosed_sum(np.concatenate([p * cut.low for p, cut in zip(portions, cuts, strict=True)])).low
    excess = np.maximum(0.0, slopes(focus, cuts, portions) - 1.0)
    return down(down(down(constant - enclosed_sum(excess).high) * tau) + enclosed(focus.rest).low)
