"""Noise in the norms of the hull and of the cube: exactly P(i) ∝ exp(-ε‖i‖/D), for every ε and every G."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise, permutations, product

import numpy as np
import pytest
from scipy import stats

from recuse.exponential import FIRST_DIGITS
from recuse.mechanism import boxes
from recuse.mechanism import draws as draws_module
from recuse.mechanism import geometrics as geometrics_module
from recuse.mechanism.boxes import (
    BoxLaplace,
    Norm,
    box_sides,
    plain_descents,
    signed_descents,
    uniform,
)
from recuse.mechanism.geometrics import geometrics
from support.noise import Seeded


def hull(v) -> int:
    return max(0, *v) - min(0, *v)


def cube(v) -> int:
    return max(map(abs, v))


def manhattan(v) -> int:
    return sum(map(abs, v))


NORMS = {Norm.HULL: hull, Norm.CUBE: cube}
KINDS = pytest.mark.parametrize("made", NORMS, ids=lambda made: made.value)
RUNS = 20_000


def law(norm, rate: float, cells: int, far: int = 30) -> dict[tuple[int, ...], float]:
    """Return the probabilities of all points near zero, by enumeration."""
    weights = {v: math.exp(-rate * norm(v)) for v in product(range(-far, far + 1), repeat=cells)}
    whole = sum(weights.values())
    return {v: weight / whole for v, weight in weights.items()}


def fits(points, expected: dict[tuple[int, ...], float]) -> bool:
    """Return whether points have a law, by chi-square over what is expected often, and the rest."""
    seen = Counter(map(tuple, points))
    often = [v for v, p in expected.items() if p * len(points) >= 20]
    counts = [seen[v] for v in often]
    wanted = [expected[v] * len(points) for v in often]
    if (rest := len(points) - sum(wanted)) > 1:
        counts.append(len(points) - sum(counts))
        wanted.append(rest)
    return bool(stats.chisquare(counts, np.array(wanted) * (sum(counts) / sum(wanted))).pvalue > 1e-6)


def drawn(made, epsilon, sensitivity, cells, runs=RUNS):
    return BoxLaplace(made, Fraction(epsilon), sensitivity, cells).entries(runs, Seeded(5))


@KINDS
@pytest.mark.parametrize(("epsilon", "sensitivity"), [(2, 3), (Fraction(1, 2), 1), (3, 2)])
def test_every_point_has_its_probability(made, epsilon, sensitivity):
    found = drawn(made, epsilon, sensitivity, 2)
    expected = law(NORMS[made], float(Fraction(epsilon) / sensitivity), 2)
    assert fits(found.vectors.tolist(), expected)


@KINDS
@pytest.mark.parametrize("wrong", [0.7, 1.3])
def test_another_scale_is_caught(made, wrong):
    found = drawn(made, 2, 3, 2)
    assert not fits(found.vectors.tolist(), law(NORMS[made], wrong * 2 / 3, 2))


@pytest.mark.parametrize(("made", "other"), [(Norm.HULL, cube), (Norm.CUBE, hull), (Norm.HULL, manhattan)])
def test_another_norm_is_caught(made, other):
    assert not fits(drawn(made, 2, 3, 2).vectors.tolist(), law(other, 2 / 3, 2))


@KINDS
def test_sizes_are_norms(made):
    found = drawn(made, 1, 50, 4, 200)
    assert found.sizes.tolist() == [NORMS[made](v) for v in found.vectors.tolist()]
    assert found.point(3, Seeded(1)) == found.vectors[3].tolist()


@KINDS
def test_one_cell_is_discrete_laplace(made):
    assert fits(drawn(made, 1, 2, 1).vectors.tolist(), law(manhattan, 0.5, 1, 200))


def test_descents_have_the_law_of_permutations():
    exact = Counter(sum(a > b for a, b in pairwise(p)) for p in permutations(range(4)))
    expected = {(j,): n / 24 for j, n in exact.items()}
    assert fits([(j,) for j in plain_descents(4, RUNS, Seeded(1)).tolist()], expected)


def test_signed_descents_have_the_law_of_signed_permutations():
    exact: Counter[int] = Counter()
    for order, signs in product(permutations((1, 2, 3)), product((1, -1), repeat=3)):
        line = [0, *(a * s for a, s in zip(order, signs, strict=True))]
        exact[sum(a > b for a, b in pairwise(line))] += 1
    expected = {(j,): n / 48 for j, n in exact.items()}
    assert fits([(j,) for j in signed_descents(3, RUNS, Seeded(2)).tolist()], expected)


@pytest.mark.parametrize("signed", [False, True])
def test_sides_have_their_law(signed):
    weights = [math.exp(-0.8 * m) * ((2 * m + 1 if signed else m + 1) ** 3) for m in range(200)]
    expected = {(m,): weight / sum(weights) for m, weight in enumerate(weights)}
    found = box_sides(Fraction(4, 5), 3, RUNS, Seeded(3), signed=signed)
    assert fits([(m,) for m in found.tolist()], expected)


@pytest.mark.parametrize("rate", [Fraction(2), Fraction(1, 3), Fraction(1, 1 << 14)])
def test_geometric_numbers_have_their_law(rate):
    found = geometrics(rate, RUNS, Seeded(4))
    ends = [-math.log(1 - k / 20) / float(rate) for k in range(20)]
    edges = [*sorted({math.floor(end) for end in ends}), math.inf]
    expected = [
        math.exp(-float(rate) * low) - (0.0 if high == math.inf else math.exp(-float(rate) * high))
        for low, high in pairwise(edges)
    ]
    counts = np.histogram(found, bins=[*edges[:-1], found.max() + 1 + edges[-2]])[0]
    assert stats.chisquare(counts, np.array(expected) * RUNS).pvalue > 1e-6


def test_uniform_numbers_fill_their_box_and_no_more():
    found = uniform(np.array([0, 1, 5]), 5000, Seeded(6))
    assert [sorted(set(row)) for row in found.tolist()] == [[0], [0, 1], list(range(6))]


@KINDS
@pytest.mark.parametrize(
    ("epsilon", "cells"), [(Fraction(1, 10**6), 10_000), (1000, 2), (1, 12), (Fraction(1, 10), 175)]
)
def test_the_reach_holds_and_drawing_ends_for_every_epsilon(made, epsilon, cells):
    noise = BoxLaplace(made, Fraction(epsilon), 1020 * cells, cells)
    sizes = np.abs(noise.entries(40, Seeded(8)).vectors)
    assert (sizes <= noise.reach(0.95)).mean() > 0.9
    if epsilon != 1000:
        assert (sizes <= noise.reach(0.95)).mean() < 0.99, "and is not much too long"
        assert 0.7 < sizes.mean() / float(noise.spread()) < 1.4


@KINDS
def test_the_reach_is_that_of_the_exact_law(made):
    noise = BoxLaplace(made, Fraction(1), 4, 2)
    expected = law(NORMS[made], 0.25, 2, 80)
    for confidence in (0.5, 0.9, 0.95):
        reach = noise.reach(confidence)
        assert sum(p for v, p in expected.items() if abs(v[0]) <= reach) >= confidence - 1e-6


def test_numbers_that_tie_are_drawn_again(monkeypatch):
    """An order among equal numbers would not be a random one."""
    drawn = [np.array([8, 8, 16, 4], np.uint64), np.array([12, 4], np.uint64)]
    monkeypatch.setattr(boxes, "random_words", lambda count, noise: drawn.pop(0)[:count])
    assert boxes._distinct_words(2, 2, Seeded(1)).tolist() == [[3, 1], [4, 1]]
    assert drawn == []


def test_what_doubles_do_not_decide_has_the_same_law(monkeypatch):
    """Everything is left to exact arithmetic here."""
    monkeypatch.setattr(geometrics_module, "MARGIN", 100.0)
    rate = Fraction(1, 1 << 14)
    found = geometrics(rate, 400, Seeded(5))
    assert abs(found.mean() * float(rate) - 1) < 0.2


class Narrowing:
    """An Exp(1) number of which two digits say no more than that it lies between 0 and 2."""

    def __init__(self, number: Fraction) -> None:
        self.number = number

    def enclosure(self, place: int, digits: int) -> tuple[Fraction, Fraction]:
        off = Fraction(1) if digits == FIRST_DIGITS else Fraction(1, 100)
        return self.number - off, self.number + off


@pytest.mark.parametrize(("number", "above"), [(Fraction(9, 10), False), (Fraction(11, 10), True)])
def test_more_digits_are_drawn_until_they_decide(number, above):
    assert geometrics_module._exceeds(Narrowing(number), 0, Fraction(1)) is above
    floored = draws_module._floored(
        Fraction(1), lambda digits: (Fraction(0), Fraction(0)), Narrowing(number), 0
    )
    assert floored == int(above)
