"""Lemma K: the certified number of the second stage may depend on the draws of the first.

On a finite model every choice of admissible numbers is allowed, also one that knows the draws; the exact
distributions of (level, answer) are compared. And solvers do have a memory: what was asked before shows.
"""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse.graphs.choices import k_stars
from recuse.graphs.protect import Protected
from recuse.mechanism.parameters import SLACK
from recuse.noise import round_down
from recuse.solver.choices.programs import choice_programs
from support.judges.choices import graph_of
from support.profiles import examples

DRAWS, LEVELS = 6, 2
MOVE, SLACK_STEPS = 4, 2  # X moves by at most 4 steps, and is certified to 2
EPSILON = 1.0
REACH = 60


def noise(size: int) -> np.ndarray:
    """Return discrete Laplace probabilities for a sensitivity of MOVE + SLACK_STEPS, ends far out."""
    weights = np.exp(-EPSILON / (MOVE + SLACK_STEPS) * np.abs(np.arange(-size, size + 1)))
    return weights / weights.sum()


def distribution(levels: list[int], answers: list[int]) -> np.ndarray:
    """Return P(level, answer); each of the draws, all as likely, has a level and a number to add noise to."""
    found, added = np.zeros((LEVELS, 2 * REACH + 20)), noise(REACH)
    for level, answer in zip(levels, answers, strict=True):
        found[level, answer : answer + len(added)] += added / DRAWS
    return found


def loss(one: np.ndarray, other: np.ndarray) -> float:
    """Return the worst log-ratio where the ends of the table play no part."""
    inner = slice(20, -20)
    return float(np.abs(np.log(one[:, inner]) - np.log(other[:, inner])).max())


pairs = st.integers(0, 8).flatmap(
    lambda x: st.tuples(st.just(x), st.integers(max(0, x - MOVE), min(8, x + MOVE)))
)
choices = st.lists(st.integers(0, LEVELS - 1), min_size=DRAWS, max_size=DRAWS).filter(
    lambda c: len(set(c)) == LEVELS
)


def of_levels(one: list[int], other: list[int]) -> float:
    return max(abs(math.log(one.count(k) / other.count(k))) for k in range(LEVELS))


@settings(max_examples=examples(150))
@given(choices, choices, st.tuples(pairs, pairs), st.data())
def test_numbers_that_know_the_draws_cost_no_more(one, other, exact, data):
    """`exact` has X of both databases at both levels; each draw has its own admissible number."""
    off = st.lists(st.integers(0, SLACK_STEPS), min_size=DRAWS, max_size=DRAWS)
    answers = [
        [exact[level][which] + more for level, more in zip(levels, data.draw(off), strict=True)]
        for which, levels in enumerate((one, other))
    ]
    found = loss(distribution(one, answers[0]), distribution(other, answers[1]))
    assert found <= of_levels(one, other) + EPSILON + 1e-9


def test_numbers_that_leave_their_interval_cost_more():
    """The twin: the draw is written into the number itself, beyond what is certified."""
    levels = [0, 0, 0, 1, 1, 1]
    one = distribution(levels, [0, 0, 0, 0, 0, 0])
    other = distribution(levels, [9, 9, 9, 9, 9, 9])
    assert loss(one, other) > EPSILON


def test_what_was_asked_before_shows_and_stays_within_the_slack():
    """An aggregate's solver starts from the last withdrawal: cold and warm, X' differs and is admissible."""
    random, different = np.random.default_rng(3), 0
    for _ in range(12):
        edges = sorted({tuple(sorted(random.choice(25, 2, replace=False).tolist())) for _ in range(90)})
        aggregate = k_stars(graph_of(25, edges), 3, Protected.NODE)
        tau = 20.0
        width = round_down(SLACK * 20)
        cold = choice_programs(aggregate).truncated(tau, width)
        warm_programs = choice_programs(aggregate)
        for earlier in (80.0, 40.0):
            warm_programs.truncated(earlier, round_down(SLACK * int(earlier)))
        warm = warm_programs.truncated(tau, width)
        exact = choice_programs(aggregate).truncated(tau, 1e-6)
        for found in (cold, warm):
            assert exact.low <= found.high <= exact.high + float(SLACK) * tau
        different += cold.high != warm.high
    assert different
