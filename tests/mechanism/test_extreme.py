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
from recuse.mechanism.extreme import NOTHING, PRIORS, Covers, draw_largest, grid
from recuse.mechanism.ordered import OR_WEIGHT
from recuse.mechanism.parameters import SLACK
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


@settings(max_examples=examples(40))
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


def test_the_grid_is_ascending_and_the_priors_fall_nowhere():
    numbers = grid()
    assert list(numbers) == sorted(set(numbers))
    assert numbers[0] == -(2**62)
    assert numbers[-1] == 2**62
    for prior in PRIORS.values():
        costs = [prior.prior(level) for level in range(len(numbers))]
        assert costs == sorted(costs)


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


def drawn(people: int, largest: int, sign: int = 1, seed: int = 0, epsilon: int = 1) -> int | None:
    values = np.linspace(largest / 4, largest, people).astype(int)

    def solve(t):
        found = float(people if t is None else (values > t).sum())
        return Interval(found, found)

    covers = Covers(np.unique(values), solve)
    return draw_largest(Fraction(epsilon), PRIORS[sign], int(values.max()), None, covers, Seeded(seed))


def test_the_largest_of_many_is_found():
    found = [drawn(2_000, 1_000_000, seed=seed) for seed in range(30)]
    errors = sorted(abs(value / 1_000_000 - 1) for value in found)
    assert errors[15] < 0.2
    assert errors[27] < 0.6


def test_too_few_people_give_no_number():
    found = [drawn(5, 1_000_000, seed=seed) for seed in range(20)]
    assert found.count(None) >= 18


def test_what_nobody_owns_is_a_floor():
    for seed in range(10):
        found = draw_largest(Fraction(1), PRIORS[1], 10, 1_000, lambda _: Interval(0.0, 0.0), Seeded(seed))
        assert found is not None
        assert found >= 1_000
    assert NOTHING < 0


@pytest.mark.parametrize(("factor", "safe"), [(1, True), (2, False)])
def test_neighbours_choose_alike_exactly(factor, safe):
    """The audit on a small part of the grid; a twin that weighs covers twice is caught."""
    numbers, epsilon = grid(), 1.0
    levels = range(len(numbers) // 2, len(numbers) // 2 + 14)
    weight = factor * epsilon / (1 + 2 * float(SLACK))
    people = [3, 3, 5, 9, 9, 12]

    def distribution(values):
        return winning_probabilities(
            [
                -weight * sum(v > numbers[k] for v in values) - float(PRIORS[1].prior(k)) * math.log(2)
                for k in levels
            ]
        )

    losses = [
        worst_log_ratio(distribution(people), distribution(people[:i] + people[i + 1 :])) for i in range(6)
    ]
    assert (max(losses) <= epsilon) is safe
