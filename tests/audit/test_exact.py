"""The privacy audit, exactly: the whole output distribution of every mechanism on tiny relations.

A release is a choice of τ and a number on the grid of τ. Both have known distributions, so the worst
log-ratio of a pair of neighbours is a sum of two maxima, computed without sampling.
"""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings

from distributions import worst_log_ratio
from neighbours import PAIRS, level_distribution
from recuse.krelation.build import without
from recuse.krelation.relation import KRelation, Shape
from recuse.mechanism import presets
from recuse.mechanism.framework import bound
from recuse.mechanism.parameters import ANSWER_GRID, INDEX_GRID, Doublings, Exponent, Score
from recuse.mechanism.prepared import prepare, truncated
from recuse.mechanism.recursive import index_steps
from recuse.noise import low_part
from recuse.privacy import Epsilon
from recuse.solver.reference import reference
from recuse.solver.remember import remembering
from sources import NoNoise
from strategies import relations

ONE = Epsilon.of(1)
LEVELS = 12


def answer_loss(one: KRelation, other: KRelation, tau: Fraction, parameters) -> float:
    """Return the worst log-ratio of the answers' distributions for one τ."""
    steps, slack = [], Fraction(0)
    for relation in (one, other):
        value, slack = truncated(prepare(relation, remembering(reference)), tau)
        steps.append(math.ceil(value / (tau / ANSWER_GRID)))
    move = abs(steps[0] - steps[1])
    sensitivity = ANSWER_GRID + math.ceil(ANSWER_GRID * slack)
    epsilon = parameters.answer_epsilon
    if isinstance(parameters.rule, Doublings) and parameters.rule.score is Score.WITHDRAWALS:
        return float(epsilon) * max(
            abs(level(i + move, epsilon, sensitivity) - level(i, epsilon, sensitivity))
            for i in range(-3 * sensitivity, 3 * sensitivity)
        )
    return float(epsilon) * move / sensitivity


def level(i: int, epsilon: Fraction, sensitivity: int) -> int:
    return abs(i) // sensitivity + (abs(i) % sensitivity >= low_part(epsilon, sensitivity))


def exact_loss(one: KRelation, other: KRelation, parameters) -> float:
    """Return the worst log-ratio over all releases of the two relations."""
    rule = parameters.rule
    if isinstance(rule, Exponent):
        ours, sensitivity = index_steps(prepare(one, reference).signs, parameters)
        theirs, _ = index_steps(prepare(other, reference).signs, parameters)
        choice = abs(ours - theirs) / float(sensitivity) * float(parameters.choice_epsilon)
        taus = [bound(Fraction(step, INDEX_GRID), parameters) for step in range(-500, 4000, 500)]
    else:
        choice = worst_log_ratio(
            level_distribution(one, parameters, LEVELS), level_distribution(other, parameters, LEVELS)
        )
        taus = [rule.stretch * Fraction(2) ** k for k in range(rule.first, rule.first + LEVELS)]
    return choice + max(answer_loss(one, other, Fraction(float(tau)), parameters) for tau in taus)


MECHANISMS = {
    "paper": presets.paper(ONE),
    "tuned": presets.tuned(ONE),
    "withdrawals": presets.by_withdrawals(ONE),
    "deficit": presets.by_deficit(ONE),
}


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("name", MECHANISMS)
def test_neighbours_are_indistinguishable(pair, name):
    one, other = PAIRS[pair]
    assert exact_loss(one, other, MECHANISMS[name]) <= 1 + 1e-9


@pytest.mark.parametrize("name", MECHANISMS)
def test_any_small_relation(name):
    shapes = (Shape.CONJUNCTIONS,) if name == "withdrawals" else tuple(Shape)

    @settings(max_examples=8)
    @given(relations(*shapes, signed=True, largest=25, rows=4))
    def law(relation):
        for leaver in relation.names:
            assert exact_loss(relation, without(relation, leaver), MECHANISMS[name]) <= 1 + 1e-9

    law()


def test_nothing_is_released_off_the_grid():
    """The set of reachable numbers is the same for neighbours: whole multiples of τ/k'."""
    from recuse.mechanism.answer import answer_at

    parameters = MECHANISMS["tuned"]
    for one, other in PAIRS.values():
        for relation in (one, other):
            tau = Fraction(7)
            answer = answer_at(prepare(relation, reference), tau, parameters, NoNoise())
            assert (answer.value / (tau / ANSWER_GRID)).denominator == 1
