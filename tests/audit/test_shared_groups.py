"""The audit of groups whose rows have several owners, exactly, on tiny neighbours: loss of vector and choice.

For given τ the loss is the largest |log ratio| over all noises, found by enumeration of those near zero:
norms are piecewise linear, so that the worst is among them. The choice moves by what penalties move.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings

from recuse.mechanism.boxes import BoxLaplace, Norm
from recuse.mechanism.hull import HullGroups
from recuse.mechanism.prepared import prepare
from recuse.mechanism.priced import priced
from recuse.mechanism.vector import ManhattanLaplace
from recuse.noise import low_part
from recuse.solver.fast import fast_programs
from support.kinds import LIST, groups, leavers, leaves, sales
from support.profiles import examples

TAUS = [Fraction(1), Fraction(17, 6), Fraction(8)]


def norm(noise, points: np.ndarray) -> np.ndarray:
    """Return the sizes of points, one a row, as the noise's law has them."""
    if isinstance(noise, ManhattanLaplace):
        return np.abs(points).sum(axis=1)
    if noise.norm is Norm.CUBE:
        return np.abs(points).max(axis=1)
    return np.maximum(points.max(axis=1), 0) - np.minimum(points.min(axis=1), 0)


def corners(cells: int, sensitivity: int) -> np.ndarray:
    """Return points near zero: every cell 0 or ±3D, and the shift itself is added by the caller."""
    return np.array(list(product((-3 * sensitivity, 0, 3 * sensitivity), repeat=cells)), np.int64)


def loss(subject, other, tau) -> float:
    """Return the worst log-ratio of all groups' answers at a τ, in units of ε."""
    noise = subject.noise(Fraction(1), tau, None)
    shift = np.array(subject.at(tau), np.int64) - np.array(other.at(tau), np.int64)
    points = np.vstack([corners(len(shift), noise.sensitivity), -shift[None]])
    return float(np.abs(norm(noise, points + shift) - norm(noise, points)).max()) / noise.parts


def subjects(form, rows, leaver, *, signed):
    both = (groups(some, signed=signed) for some in (rows, leaves(rows, leaver)))
    if form == "priced":
        return [priced(found, LIST, fast_programs) for found in both]
    return [HullGroups([prepare(one, fast_programs) for one in found]) for found in both]


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("form", ["priced", "hull"])
@settings(max_examples=examples(25))
@given(rows=sales, leaver=leavers)
def test_neighbours_are_indistinguishable(form, signed, rows, leaver):
    one, other = subjects(form, rows, leaver, signed=signed)
    for tau in TAUS:
        assert loss(one, other, tau) <= 1


HEAVY = [(0, seller, year, 9) for seller in range(3) for year in range(2)]


@pytest.mark.parametrize("form", ["priced", "hull"])
def test_the_budget_is_used_and_no_more(form):
    one, other = subjects(form, HEAVY, ("buyer", 0), signed=False)
    assert 0.95 < loss(one, other, Fraction(1)) <= 1


def test_the_noise_of_the_hull_for_signs_is_caught():
    """The twin: groups move in both directions, and the norm of the hull pays for one."""
    rows = [(0, 0, 0, 9), (0, 1, 0, -9)]
    one, other = subjects("hull", rows, ("buyer", 0), signed=True)
    tau = Fraction(1)
    shift = np.array(one.at(tau)) - np.array(other.at(tau))
    wrong = BoxLaplace(Norm.HULL, Fraction(1), one.grid(tau).sensitivity, len(shift))
    assert loss(one, other, tau) <= 1
    assert norm(wrong, shift[None])[0] / wrong.parts > 1.9


def test_a_staircase_in_every_cell_is_caught():
    """The twin: a part of a step in each of six groups costs a whole level in each."""
    one, other = subjects("priced", HEAVY, ("buyer", 0), signed=False)
    tau, sensitivity = Fraction(1), one.grid(Fraction(1)).sensitivity
    low = low_part(Fraction(1), sensitivity)
    places = np.arange(-2 * sensitivity, 2 * sensitivity)

    def level(i: np.ndarray) -> np.ndarray:
        return np.abs(i) // sensitivity + (np.abs(i) % sensitivity >= low)

    shift = [a - b for a, b in zip(one.at(tau), other.at(tau), strict=True)]
    assert sum(np.abs(level(places + move) - level(places)).max() for move in shift) >= 6
    assert loss(one, other, tau) <= 1


@settings(max_examples=examples(25))
@given(rows=sales, leaver=leavers)
def test_what_the_choice_is_made_by_moves_within_one(rows, leaver):
    """N_s with prices, the largest over groups: lemma 1' for everybody's own bound."""
    one, other = subjects("priced", rows, leaver, signed=False)
    for tau in map(float, TAUS):
        here, there = (
            max(part.strict_withdrawals(tau, 1e-3).high for part in found.signs) for found in (one, other)
        )
        assert -2e-3 <= here - there <= 1 + 2e-3


@settings(max_examples=examples(25))
@given(rows=sales, leaver=leavers)
def test_what_a_deficit_is_made_of_moves_within_tau(rows, leaver):
    """X in units of the largest price: without that a seller would move it three times as far."""
    one, other = subjects("priced", rows, leaver, signed=False)
    for here, there in zip(one.signs, other.signs, strict=True):
        for tau in map(float, TAUS):
            low, high = there.truncated(tau, 1e-3), here.truncated(tau, 1e-3)
            assert high.low - low.high <= tau


def test_a_deficit_without_the_price_is_caught():
    rows = [(buyer, 0, 0, 9) for buyer in range(4)]
    one, other = subjects("priced", rows, ("seller", 0), signed=False)
    raw, gone = one.relations[0].positive, other.relations[0].positive
    assert raw.truncated(1.0, 1e-3).low - gone.truncated(1.0, 1e-3).high > 2
