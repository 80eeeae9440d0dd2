"""Lower ends from cuts, with outward rounding: arithmetic that trusts no solver."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from recuse.krelation.relation import Floats
from recuse.solver.cuts.tangents import Slopes
from recuse.solver.interval import Interval
from recuse.solver.lp.program import LinearProgram

UNIT = 2.0**-52
"""Twice the rounding error of one operation: leaves room for second-order terms."""


def up(value: float) -> float:
    """Return the next double above."""
    return math.nextafter(value, math.inf)


def down(value: float) -> float:
    """Return the next double below."""
    return math.nextafter(value, -math.inf)


def log_ratio(numerator: float, denominator: float) -> Interval:
    """Return an interval that holds ln(numerator / denominator) of two positive doubles."""
    near = math.log(numerator / denominator)
    slack = 4 * UNIT * (1.0 + abs(near))
    return Interval(near - slack, near + slack)


def dual_bound(program: LinearProgram, y: Floats) -> float:
    """Return a proven lower bound on the program's optimum, for any multipliers (negative ones are clipped).

    Guarantee: weak duality in outward-rounded arithmetic (proofs.md, certificates).
    """
    y = np.maximum(0.0, np.nan_to_num(y))
    columns = program.rows.T.tocsr()
    reduced = program.cost - columns @ y
    terms = np.diff(columns.indptr) + 2
    slack = UNIT * terms * (np.abs(program.cost) + abs(columns) @ y)
    low, high = reduced - slack, reduced + slack
    corners = (low * program.lower, low * program.upper, high * program.lower, high * program.upper)
    boxed = np.minimum.reduce(corners)
    return down(enclosed_sum(np.concatenate((program.right * y, boxed))).low)


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """A proven inequality: (some weighted sum) ≥ constant - slope·h for all withdrawals h.

    `terms` is what each clause counts for in it: a participant left out of clause j has slope terms_j there.
    """

    constant: float
    slope: Floats
    terms: Floats

    @classmethod
    def nothing(cls, participants: int, terms: int) -> Self:
        """Return the inequality 0 ≥ 0."""
        return cls(0.0, np.zeros(participants), np.zeros(terms))

    def __add__(self, other: Cut) -> Cut:
        constant = down(self.constant + other.constant)
        return Cut(constant, (self.slope + other.slope) * (1 + UNIT), (self.terms + other.terms) * (1 + UNIT))


def weighted_cut(slopes: Slopes, multipliers: Floats) -> Cut:
    """Return the cut that non-negative multipliers of the owners make of their minorants.

    A term may count for less, never for more: what it bounds is not negative.
    """
    shared = np.bincount(slopes.owners.indices, minlength=1).max()
    terms = (slopes.owners.T @ multipliers) * slopes.active * (1 - UNIT * (shared + 4))
    slack = UNIT * (np.bincount(slopes.rows.indices, minlength=slopes.rows.shape[1]) + 4)
    return Cut(enclosed_sum(terms * slopes.constants).low, (slopes.rows.T @ terms) * (1 + slack), terms)


def withdrawals_low(cut: Cut, multipliers: Floats, tau: float | Floats) -> float:
    """Return what a cut of Σ_p ν_p ℓ_p proves of N(τ): Σ_p ν_p (ℓ_p - τ) ≤ 0 in every feasible point.

    With prices τ is everybody's own bound, here and below.

    `multipliers` has one row for every cut that was added up.
    """
    spent = enclosed_sum((multipliers * tau).ravel()).high
    return down(down(cut.constant - spent) - enclosed_sum(excess_above(cut.slope, 1.0)).high)


def strict_withdrawals_low(cut: Cut, multipliers: Floats, tau: float | Floats) -> float:
    """Return what it proves of N_s(τ): Σ_p ν_p (ℓ_p - τ(1-g_p)) ≤ 0 in every feasible point."""
    spent = enclosed_sum((multipliers * tau).ravel()).high
    own = multipliers.sum(axis=0) * tau * (1 - UNIT * (len(multipliers) + 2))
    return down(down(cut.constant - spent) - enclosed_sum(excess_above(cut.slope, 1.0 + own)).high)


def loads_low(loads: Floats, bounds: Floats, most: int, strictness: float) -> float:
    """Return what loads alone prove of N (strictness 0) or N_s (1) of conjunctions of `most` owners at most.

    The loads are exact. Guarantee: a lower bound for every multiplier (proofs.md, lemma D); the best one is
    where the people charged more than 1 have slopes that add up to all that is above.
    """
    over = loads > bounds
    above = np.where(over, loads - bounds, 0.0)
    slope, own = np.where(over, most, most - 1) * loads, np.where(over, strictness * bounds, 0.0)
    charged = np.sort(slope - own)[::-1]
    place = min(int(np.searchsorted(np.cumsum(charged), above.sum())), len(charged) - 1)
    if place < 0 or not charged[place] > 0:
        return 0.0
    times = 1.0 / float(charged[place])
    excess = excess_above(times * slope * (1 + 4 * UNIT), 1.0 + times * own * (1 - 4 * UNIT))
    return down(down(times * enclosed_sum(above).low * (1 - UNIT)) - enclosed_sum(excess).high)


def truncated_low(cut: Cut, bounds: Floats, rest: int) -> float:
    """Return what a cut of F proves of X(τ), `rest` being the weight of tuples that the cut leaves out."""
    within = down(cut.constant - enclosed_sum(excess_above(cut.slope, bounds)).high)
    return down(within + down(float(rest)))


def excess_above(slope: Floats, allowed: Floats | float) -> Floats:
    """Return doubles not below (slope - allowed)⁺."""
    return np.maximum(0.0, (slope - allowed) + UNIT * (slope + allowed))


def enclosed_sum(values: Floats) -> Interval:
    """Return an interval that holds the sum; each value may itself be one rounding off.

    Summed in √n blocks of √n, so that the proven error grows with √n only.
    """
    side = math.isqrt(len(values)) + 1
    padded = np.zeros(side * side)
    padded[: len(values)] = values
    total = float(padded.reshape(side, side).sum(axis=1).sum())
    error = UNIT * (2 * side + 4) * float(np.abs(padded).sum())
    return Interval(total - error, total + error)


def integer_ratios(values: Floats) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return doubles, few of them different, as exact numerators and denominators."""
    table, which = np.unique(values, return_inverse=True)
    ratios = np.array([value.as_integer_ratio() for value in table.tolist()], dtype=object).reshape(-1, 2)
    return ratios[which, 0], ratios[which, 1]
