"""The privacy audit, exactly: the whole output distribution of every mechanism on tiny relations.

Where ε is split, a release is a choice of τ and a number on the grid of τ. Both have known distributions, so
the worst log-ratio of a pair of neighbours is a sum of two maxima, computed without sampling. The race, where
nothing composes, is in test_race.py.
"""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings

from recuse.annotation import Participant, threshold
from recuse.krelation.build import from_expressions, without
from recuse.krelation.relation import KRelation, Shape
from recuse.mechanism import presets
from recuse.mechanism.cell import Staircase
from recuse.mechanism.parameters import ANSWER_GRID, INDEX_GRID
from recuse.mechanism.prepared import truncated
from recuse.mechanism.recursive import Recursive, index_steps
from recuse.mechanism.selective import Selective
from recuse.noise import low_part
from recuse.privacy import Epsilon
from support.distributions import worst_log_ratio
from support.neighbours import PAIRS, SIGNED, level_distribution
from support.noise import NoNoise
from support.prepared import prepared
from support.profiles import examples, some
from support.strategies import LOADED, relations

ONE = Epsilon.of(1)
LEVELS = 12


def answer_loss(one: KRelation, other: KRelation, tau: Fraction, parameters) -> float:
    """Return the worst log-ratio of the answers' distributions for one τ."""
    steps, slack = [], Fraction(0)
    for relation in (one, other):
        value, slack = truncated(prepared(relation), tau)
        steps.append(math.ceil(value / (tau / ANSWER_GRID)))
    move = abs(steps[0] - steps[1])
    sensitivity = ANSWER_GRID + math.ceil(ANSWER_GRID * slack)
    epsilon = parameters.answer_epsilon
    if isinstance(parameters, Selective) and parameters.cell is Staircase:
        return float(epsilon) * max(
            abs(level(i + move, epsilon, sensitivity) - level(i, epsilon, sensitivity))
            for i in range(-3 * sensitivity, 3 * sensitivity)
        )
    return float(epsilon) * move / sensitivity


def level(i: int, epsilon: Fraction, sensitivity: int) -> int:
    return abs(i) // sensitivity + (abs(i) % sensitivity >= low_part(epsilon, sensitivity))


def exact_loss(one: KRelation, other: KRelation, parameters) -> float:
    """Return the worst log-ratio over all releases of the two relations."""
    rule = parameters
    if isinstance(rule, Recursive):
        ours, sensitivity = index_steps(prepared(one).signs, parameters)
        theirs, _ = index_steps(prepared(other).signs, parameters)
        choice = abs(ours - theirs) / float(sensitivity) * float(parameters.choice_epsilon)
        taus = [parameters.bound(Fraction(step, INDEX_GRID)) for step in range(-500, 4000, 500)]
    else:
        chances = (
            level_distribution(relation, rule.levels, rule.choice_epsilon, LEVELS)
            for relation in (one, other)
        )
        choice = worst_log_ratio(*chances)
        taus = [rule.stretch * tau for tau in rule.levels.ladder.taus[:LEVELS]]
    return choice + max(answer_loss(one, other, Fraction(float(tau)), parameters) for tau in taus)


MECHANISMS = {
    "paper": presets.paper(ONE),
    "tuned": presets.tuned(ONE),
    "withdrawals": presets.by_withdrawals(ONE),
    "deficit": presets.by_deficit(ONE),
}


@pytest.mark.parametrize("pair", PAIRS | SIGNED)
@pytest.mark.parametrize("name", MECHANISMS)
def test_neighbours_are_indistinguishable(pair, name):
    one, other = (PAIRS | SIGNED)[pair]
    assert exact_loss(one, other, MECHANISMS[name]) <= 1 + 1e-9


@pytest.mark.parametrize("name", MECHANISMS)
def test_any_small_relation(name):
    shapes = {"withdrawals": (Shape.CONJUNCTIONS,), "deficit": tuple(Shape)}.get(name, LOADED)

    @settings(max_examples=examples(8))
    @given(relations(*shapes, signed=True, largest=25, rows=4))
    def law(relation):
        for leaver in relation.names:
            assert exact_loss(relation, without(relation, leaver), MECHANISMS[name]) <= 1 + 1e-9

    law()


def two_of_three(names: str) -> KRelation:
    """Return what each two of three neighbours make, of those who are named."""
    rows = [
        (threshold([Participant(p) for p in group if p in names], [1] * sum(p in names for p in group), 2), 3)
        for group in ("abc", "bcd", "cda")
    ]
    return from_expressions(rows, Shape.THRESHOLDS, signed=False)


@pytest.mark.parametrize("leaver", some([*"abcd"], 0.5))
def test_neighbours_are_indistinguishable_by_thresholds(leaver):
    loss = exact_loss(two_of_three("abcd"), two_of_three("abcd".replace(leaver, "")), MECHANISMS["deficit"])
    assert 0 < loss <= 1 + 1e-9


def test_nothing_is_released_off_the_grid():
    """The set of reachable numbers is the same for neighbours: whole multiples of τ/k'."""
    from recuse.mechanism.answer import answers_at

    parameters = MECHANISMS["tuned"]
    for one, other in PAIRS.values():
        for relation in (one, other):
            tau = Fraction(7)
            answer = answers_at(prepared(relation), tau, parameters, NoNoise())[0]
            assert (answer.value / (tau / ANSWER_GRID)).denominator == 1
