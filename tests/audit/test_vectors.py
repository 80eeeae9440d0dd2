"""The audit of groups that share people, exactly: the joint output of all groups on tiny neighbours.

What is released is a level and a vector on its grid. The loss of the choice is a maximum over levels, that of
the vector a maximum over shifts; for independent noise it adds up over the coordinates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse.krelation.contributions import Contributions, own_loads
from recuse.krelation.relation import KRelation
from recuse.mechanism import presets
from recuse.mechanism.clipped import clipped
from recuse.mechanism.racing import Dial, Racing
from recuse.noise import low_part
from recuse.privacy import Epsilon
from recuse.solver.fast import fast_programs
from support.distributions import worst_log_ratio
from support.neighbours import level_distribution
from support.profiles import examples
from support.races import Floats, Law, Spare, scores_of, winning

MECHANISM = presets.by_withdrawals(Epsilon.of(1))
LEVELS, RACE_LEVELS = 9, 5

rows = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1), st.integers(-20, 20)), max_size=8)


def of(rows) -> Contributions:
    columns = zip(*rows, strict=True) if rows else ((),) * 3
    owners, groups, weights = (np.array(column, np.int64) for column in columns)
    zeros = np.zeros(2, object)
    return Contributions.of(owners, groups, weights, participants=4, constants=zeros, signed=True)


def owned(found: Contributions) -> KRelation:
    return own_loads(found.loads[found.loads > 0])


def moves(one: Contributions, other: Contributions, level: int) -> tuple[list[int], int]:
    """Return how far every group moves on the grid of a level, and the sensitivity of all."""
    return moves_at(one, other, Fraction(2) ** level)


def moves_at(one: Contributions, other: Contributions, tau: Fraction) -> tuple[list[int], int]:
    subjects = [clipped(found, fast_programs) for found in (one, other)]
    ours, theirs = (subject.at(tau) for subject in subjects)
    return [b - a for a, b in zip(ours, theirs, strict=True)], subjects[0].grid(tau).sensitivity


def laplace_loss(shift: list[int], sensitivity: int) -> float:
    """Return the worst log-ratio of independent Laplace noise: every coordinate can lose its whole shift."""
    return float(MECHANISM.answer_epsilon) * sum(map(abs, shift)) / sensitivity


def staircase_loss(shift: list[int], sensitivity: int) -> float:
    """Return the worst log-ratio of independent staircase noise, coordinate by coordinate."""
    epsilon = MECHANISM.answer_epsilon
    low = low_part(epsilon, sensitivity)

    def level(i: int) -> int:
        return abs(i) // sensitivity + (abs(i) % sensitivity >= low)

    places = range(-2 * sensitivity, 2 * sensitivity)
    return float(epsilon) * sum(max(abs(level(i + move) - level(i)) for i in places) for move in shift)


def choice(one: Contributions, other: Contributions) -> float:
    levels, epsilon = MECHANISM.levels, MECHANISM.choice_epsilon
    distributions = [level_distribution(owned(found), levels, epsilon, LEVELS) for found in (one, other)]
    return worst_log_ratio(*distributions)


def joint_loss(one: Contributions, other: Contributions, loss=laplace_loss) -> float:
    return choice(one, other) + max(loss(*moves(one, other, level)) for level in range(LEVELS))


@settings(max_examples=examples(60))
@given(rows, st.integers(0, 3))
def test_neighbours_are_indistinguishable(rows, leaver):
    assert joint_loss(of(rows), of([row for row in rows if row[0] != leaver])) <= 1 + 1e-9


# ------------------------------------------------------------------ in the race


def race_loss(
    one: Contributions,
    other: Contributions,
    mechanism: Racing,
    weight: float = 1.0,
    counted: Sequence[Spare] = (float, float),
) -> float:
    """Return the worst log-ratio of level and vector together, over all norms that a noise can have.

    A vector's probability depends on its norm alone, and the shift moves that by what it moves the groups.
    `counted` says for each of the two what counts of a penalty.
    """
    rule, subject = mechanism.levels, clipped(one, fast_programs)
    dial = mechanism.dial_of(subject)
    share, taus = dial.answer * mechanism.epsilon, rule.ladder.taus[:RACE_LEVELS]
    laws = [Law.of(subject.noise(share, tau, mechanism.cell)) for tau in taus]
    weight *= float(dial.choice * mechanism.epsilon / rule.moves())
    norms = np.linspace(0, 8, 9)
    worst = 0.0

    def logs(found: Contributions, k: int, levels: Floats) -> Floats:
        sparing = counted[0] if found is one else counted[1]
        scores = scores_of(owned(found), rule, weight, RACE_LEVELS, sparing)
        chances = winning(scores, laws, lambda ls: float(dial.boost * share) * ls, k, levels)
        return np.log(chances) - float(share) * levels

    for k, tau in enumerate(taus):
        shift, sensitivity = moves_at(one, other, tau)
        move = sum(map(abs, shift)) / sensitivity
        for ours, theirs in ((norms, norms + move), (norms + move, norms)):
            worst = max(worst, float(np.abs(logs(one, k, ours) - logs(other, k, theirs)).max()))
    return worst


RACE = presets.race_by_withdrawals(Epsilon.of(2))


@pytest.mark.parametrize("boost", ["1", "0.577"])
def test_a_race_of_vectors_is_private(boost):
    one, other = of([(0, 0, 4), (0, 1, 4), (1, 0, 1), (2, 1, 1)]), of([(1, 0, 1), (2, 1, 1)])
    race = replace(RACE, dials=((1, Dial(Fraction(1), Fraction(boost))),))
    assert 0.9 * 2 < race_loss(one, other, race) <= 2 * (1 + 1e-6)
    assert race_loss(one, other, race, weight=1.5) > 2.1, "the twin with scores half as strong again"


MANY = [(0, 0, 4), (0, 1, 4), (1, 0, 3), (1, 1, 3), (2, 0, 9), (3, 1, 9)]


def spare(people: float) -> Spare:
    """Return what of a penalty counts, if so many people are truncated for nothing."""
    return lambda penalty: max(0.0, penalty - people)


@pytest.mark.parametrize("people", [0.5, 1, 2.25, 10])
def test_people_who_are_spared_cost_nothing(people):
    """Theorem R11, whoever leaves."""
    for leaver in range(4):
        rest = [row for row in MANY if row[0] != leaver]
        assert race_loss(of(MANY), of(rest), RACE, counted=[spare(people)] * 2) <= 2 * (1 + 1e-6)


def test_as_many_spared_as_the_rows_say_are_caught():
    """The twin: half of the people who are there; and the one that rewards levels which spare somebody."""
    rest = [row for row in MANY if row[0] != 0]
    assert race_loss(of(MANY), of(rest), RACE, counted=[spare(4), spare(1)]) > 2.05
    hub, nobody = of([(0, 0, 30), (0, 1, 30)]), of([])
    uncut = [lambda penalty: penalty - 3 if penalty else 0.0] * 2
    assert race_loss(hub, nobody, RACE, counted=uncut) > 2.05


CASES = {
    "one heavy participant in two groups": [(0, 0, 64), (0, 1, 64), (1, 0, 1), (2, 1, 1)],
    "both directions": [(0, 0, 10), (0, 1, -10), (1, 0, 3), (2, 1, 2), (3, 1, 9)],
    "below every level": [(0, 0, 1), (1, 1, 1)],
}


@pytest.mark.parametrize("case", CASES)
def test_known_cases_use_the_budget_and_no_more(case):
    one, other = of(CASES[case]), of(CASES[case][1:] if case == "below every level" else CASES[case][2:])
    assert joint_loss(one, other) <= 1 + 1e-9
    assert joint_loss(one, other) > float(MECHANISM.answer_epsilon) - 1e-9, (
        "the noise is not too large either"
    )


def test_staircase_noise_in_every_coordinate_is_caught():
    """The twin: a shift of half a step in each of two groups costs a whole level in each."""
    one, other = of(CASES["one heavy participant in two groups"]), of([(1, 0, 1), (2, 1, 1)])
    assert joint_loss(one, other, staircase_loss) > 1 + 0.5 * float(MECHANISM.answer_epsilon)


def test_a_choice_for_every_group_is_caught():
    """The twin that chooses τ in each group by itself with the whole ε1 pays for every group."""
    people = [(p, g, 2**p) for p, g in product(range(4), range(2))]
    gone = [row for row in people if row[0] != 3]
    together = choice(of(people), of(gone))
    apart = sum(
        choice(of([r for r in people if r[1] == g]), of([r for r in gone if r[1] == g])) for g in range(2)
    )
    limit = float(MECHANISM.choice_epsilon)
    assert together <= limit + 1e-9
    assert apart > limit + 1e-3


def test_clipping_group_by_group_is_caught():
    """The twin that limits what a participant brings to each group, not to all of them."""
    tau = 8
    for_each = sum(min(tau, 64) for _ in range(2))
    shift, sensitivity = moves(
        of(CASES["one heavy participant in two groups"]), of([(1, 0, 1), (2, 1, 1)]), int(math.log2(tau))
    )
    assert sum(map(abs, shift)) <= sensitivity
    assert for_each > tau
