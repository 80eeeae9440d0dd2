"""The largest value: covers move by one at most, the grid is public, and too few people give no number."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse.annotation import Participant
from recuse.krelation.build import expressions, from_expressions, without
from recuse.krelation.relation import Shape
from recuse.mechanism import extreme
from recuse.mechanism.axis import DAYS, LARGEST, NUMBERS, Middle
from recuse.mechanism.extreme import Covers, FromMiddle, distances, draw_largest, grid
from recuse.mechanism.parameters import SLACK
from recuse.mechanism.valued import OR_WEIGHT
from recuse.solver.interval import Interval
from recuse.solver.reference import reference
from support.distributions import winning_probabilities, worst_log_ratio
from support.noise import Seeded
from support.profiles import examples
from support.strategies import BY_SHAPE

placed = st.sampled_from([shape for shape in Shape if shape is not Shape.THRESHOLDS]).flatmap(
    lambda shape: st.tuples(
        st.just(shape), st.lists(st.tuples(BY_SHAPE[shape], st.integers(0, 3)), min_size=1, max_size=5)
    )
)


def cover(shape, rows, t) -> Fraction:
    weight = 1 if shape is Shape.CONJUNCTIONS else OR_WEIGHT
    relation = from_expressions([(k, weight) for k, v in rows if v > t], shape, signed=False)
    return Fraction(reference(relation.positive, relation.participants).truncated(1.0, 1e-6).high)


@settings(max_examples=examples(20))
@given(placed)
def test_a_participant_moves_every_cover_by_one_at_most_and_one_way(found):
    shape, rows = found
    people = from_expressions([(k, 1) for k, _ in rows], shape, signed=False).names
    for leaver in people:
        fewer = []
        for k, v in rows:
            kept = without(from_expressions([(k, 1)], shape, signed=False), leaver)
            fewer += [(expressions(kept)[0][0], v)] if len(kept.positive) else []
        for t in range(-1, 4):
            move = cover(shape, rows, t) - cover(shape, fewer, t)
            assert -1e-5 <= move <= 1 + 1e-5
            assert (cover(shape, rows, t) > 0.5) == any(v > t for _, v in rows)


def test_the_cover_of_one_owner_rows_is_how_many_people_are_above():
    rows = [(Participant(p), v) for p, v in ((0, 1), (0, 3), (1, 3), (2, 2), (3, 0))]
    assert [round(cover(Shape.CONJUNCTIONS, rows, t)) for t in range(-1, 4)] == [4, 3, 3, 2, 0]


MIDDLES = [Middle(0, 0), Middle(4_200, 900), Middle(-4_200, 900), Middle(2**61 - 1, 2**62 - 1)]


@pytest.mark.parametrize("middle", MIDDLES)
@pytest.mark.parametrize("axis", [NUMBERS, DAYS])
def test_the_grid_is_ascending_and_the_priors_fall_nowhere(axis, middle):
    numbers = grid(axis, middle)
    assert list(numbers) == sorted(set(numbers))
    assert numbers[-1] == 2**LARGEST
    assert numbers[0] < middle.at
    prior = FromMiddle(axis, middle)
    costs = [prior.prior(level) for level in range(len(numbers))]
    assert costs == sorted(costs)
    assert costs[numbers.index(middle.at)] == 0


def test_a_grid_of_days_is_as_fine_anywhere():
    early, late = (grid(DAYS, Middle(at, 300)) for at in (0, 9_000))
    assert [number + 9_000 for number in early][: len(late) - 1] == list(late)[:-1]
    assert distances()[:50] == tuple(range(1, 51))


@given(st.lists(st.integers(-50, 50), min_size=1), st.lists(st.integers(-60, 60), max_size=8))
def test_covers_agree_with_what_is_solved_at_every_place(values, asked):
    exact = {t: sum(v > t for v in values) for t in range(-60, 61)}
    solved = []

    def solve(t):
        solved.append(t)
        found = float(len(values) if t is None else exact[t])
        return Interval(found, found)

    covers = Covers(np.unique(values), solve)
    for t in asked:
        found = covers(t)
        assert found.low - 1e-9 <= exact[t] <= found.high + SLACK
    assert len(solved) == len(set(solved)), "nothing is solved twice"


def drawn(people: int, largest: int, seed: int = 0, epsilon: int = 1) -> int:
    values = np.linspace(largest / 4, largest, people).astype(int)

    def solve(t):
        found = float(people if t is None else (values > t).sum())
        return Interval(found, found)

    covers = Covers(np.unique(values), solve)
    middle = Middle(int(np.median(values)), int(np.median(abs(values - np.median(values)))))
    prior = FromMiddle(NUMBERS, middle)
    return draw_largest(Fraction(epsilon), prior, int(values.max()), None, covers, Seeded(seed))


def test_the_largest_of_many_is_found():
    found = [drawn(2_000, 1_000_000, seed=seed) for seed in range(30)]
    errors = sorted(abs(value / 1_000_000 - 1) for value in found)
    assert errors[15] < 0.2
    assert errors[27] < 0.6


def test_what_nobody_owns_is_a_floor():
    for seed in range(10):
        prior = FromMiddle(NUMBERS, Middle(5, 3))
        found = draw_largest(Fraction(1), prior, 10, 1_000, lambda _: Interval(0.0, 0.0), Seeded(seed))
        assert found >= 1_000


def weight_of(epsilon: Fraction, monkeypatch) -> Fraction:
    """Return what a cover weighs where a largest value is drawn."""
    weights = []

    def noted(prior, levels, top, weight, penalty, noise):
        weights.append(weight)
        return levels[0]

    with monkeypatch.context() as patch:
        patch.setattr(extreme, "noisy_maximum", noted)
        prior = FromMiddle(NUMBERS, Middle(5, 3))
        draw_largest(epsilon, prior, 10, None, lambda _: Interval(0.0, 0.0), Seeded(1))
    (weight,) = weights
    return weight


@pytest.mark.parametrize(("factor", "safe"), [(1, True), (2, False)])
def test_neighbours_choose_alike_exactly(factor, safe, monkeypatch):
    """The audit on a small part of the grid; a twin that weighs covers twice is caught."""
    middle, epsilon = Middle(5, 3), 1.0
    numbers, prior = grid(NUMBERS, middle), FromMiddle(NUMBERS, middle)
    levels = range(numbers.index(0), numbers.index(0) + 14)
    weight = factor * float(weight_of(Fraction(epsilon), monkeypatch))
    people = [3, 3, 5, 9, 9, 12]

    def distribution(values):
        return winning_probabilities(
            [
                -weight * sum(v > numbers[k] for v in values) - float(prior.prior(k)) * math.log(2)
                for k in levels
            ]
        )

    losses = [
        worst_log_ratio(distribution(people), distribution(people[:i] + people[i + 1 :])) for i in range(6)
    ]
    assert (max(losses) <= epsilon) is safe
