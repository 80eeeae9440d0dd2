"""Lemma K: the certified number of the second stage may depend on the draws of the first.

On a finite model every choice of admissible numbers is allowed, also one that knows the draws; the exact
distributions of (level, answer) are compared. In the race it may not: X knows nothing of what was asked.
"""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse.annotation import Participant, conjunction
from recuse.graphs.choices import k_stars
from recuse.graphs.protect import Protected
from recuse.krelation.build import from_expressions
from recuse.krelation.relation import Shape
from recuse.mechanism.parameters import SLACK
from recuse.noise import round_down
from recuse.solver.choices.programs import choice_programs
from recuse.solver.fast import fast_programs
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


def test_what_was_asked_before_does_not_show():
    """The race needs X' to be a function of relation and τ: whatever was solved before, it is the same."""
    random = np.random.default_rng(3)
    for _ in range(6):
        edges = sorted({tuple(sorted(random.choice(25, 2, replace=False).tolist())) for _ in range(90)})
        aggregate = k_stars(graph_of(25, edges), 3, Protected.NODE)
        tau, width = 20.0, round_down(SLACK * 20)
        asked = choice_programs(aggregate)
        for earlier in (80.0, 40.0, 3.0):
            asked.truncated(earlier, round_down(SLACK * int(earlier)))
        assert choice_programs(aggregate).truncated(tau, width) == asked.truncated(tau, width)


def test_an_answer_of_listed_tuples_does_not_know_what_was_counted_before():
    """Cuts of N and N_s, and who was invited into a focus, are remembered; X' does not look at them."""
    random = np.random.default_rng(4)
    for _ in range(6):
        rows = [
            (conjunction(*(Participant(int(p)) for p in random.choice(14, 3, replace=False))), 1)
            for _ in range(60)
        ]
        part, people = from_expressions(rows, Shape.CONJUNCTIONS, signed=False).positive, 14
        asked = fast_programs(part, people)
        for tau in (9.0, 6.0, 2.0):
            asked.strict_withdrawals(tau, 0.01)
            asked.withdrawals(tau, 0.01)
            asked.truncated(tau, 0.01)
        assert asked.truncated(4.0, 0.04) == fast_programs(part, people).truncated(4.0, 0.04)
