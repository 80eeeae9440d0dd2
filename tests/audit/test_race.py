"""The privacy audit of the race, exactly: the joint distribution of level and answer on tiny neighbours.

The noise that is released took part in the choice, so nothing composes: what is compared is the pair.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from recuse.errors import ParameterError
from recuse.krelation.build import without
from recuse.krelation.relation import Shape
from recuse.mechanism import presets
from recuse.mechanism.cell import Laplace
from recuse.mechanism.foreknown import Foreknown
from recuse.mechanism.racing import Dial, Racing
from recuse.privacy import Epsilon
from support.neighbours import PAIRS, SIGNED, star
from support.profiles import examples
from support.races import Twin, joint_loss
from support.strategies import relations

LEVELS = {"withdrawals": 8, "deficit": 5}
"""how many: above, nobody wins; those of the deficit are two doublings apart"""
ONE = Epsilon.of(1)
STAR = PAIRS["star"]
BY = {"withdrawals": presets.race_by_withdrawals, "deficit": presets.race_by_deficit}
KINDS = [("withdrawals", "star"), ("withdrawals", "clique"), *(("deficit", pair) for pair in PAIRS | SIGNED)]
ALLOWED = 1 + 1e-6
"""the integrals err by less"""


def dialled(mechanism: Racing, answer: str, boost: str) -> Racing:
    return replace(mechanism, dials=((1, Dial(Fraction(answer), Fraction(boost))),))


@pytest.mark.parametrize("epsilon", ["0.5", "1", "2"])
@pytest.mark.parametrize(("name", "pair"), KINDS)
def test_neighbours_are_indistinguishable(pair, name, epsilon):
    one, other = (PAIRS | SIGNED)[pair]
    assert joint_loss(one, other, BY[name](Epsilon.of(epsilon)), LEVELS[name]) <= ALLOWED * float(epsilon)


@pytest.mark.parametrize("name", BY)
def test_the_audit_has_power(name):
    """Nearly the whole of ε is lost somewhere: no smaller bound holds."""
    loss = joint_loss(*STAR, BY[name](Epsilon.of(2)), LEVELS[name])
    assert 0.99 * 2 < loss <= ALLOWED * 2


@pytest.mark.parametrize(("answer", "boost"), [("0.8", "0.5"), ("0.7", "0"), ("1", "0.3"), ("0.9", "1")])
def test_the_dial_is_private_wherever_it_stands(answer, boost):
    """Theorem R with ε_a and ρ."""
    assert joint_loss(*STAR, dialled(BY["withdrawals"](ONE), answer, boost), LEVELS["withdrawals"]) <= ALLOWED


@pytest.mark.parametrize("name", BY)
@pytest.mark.parametrize("known", [Foreknown(unit=Fraction(30)), Foreknown(single=True), Foreknown(bound=8)])
def test_what_is_public_costs_nothing(name, known):
    """Theorems R0 and R10, whether or not it is true of the data."""
    race = known.told(BY[name](ONE))
    assert joint_loss(*STAR, race, min(LEVELS[name], len(race.levels.ladder.taus))) <= ALLOWED


def test_laplace_noise_takes_part_as_well():
    half = LEVELS["withdrawals"] // 2
    loss = joint_loss(*STAR, replace(BY["withdrawals"](ONE), cell=Laplace), half)
    assert 0.95 < loss <= 1 + 1e-4


def test_any_small_relation():
    @settings(max_examples=examples(4))
    @given(relations(Shape.CONJUNCTIONS, signed=True, largest=25, rows=4))
    def by_withdrawals(relation):
        for leaver in relation.names:
            assert (
                joint_loss(relation, without(relation, leaver), BY["withdrawals"](ONE), LEVELS["withdrawals"])
                <= ALLOWED
            )

    @settings(max_examples=examples(4))
    @given(relations(signed=True, largest=25, rows=4))
    def by_deficit(relation):
        for leaver in relation.names:
            assert (
                joint_loss(relation, without(relation, leaver), BY["deficit"](ONE), LEVELS["deficit"])
                <= ALLOWED
            )

    by_withdrawals()
    by_deficit()


# ------------------------------------------------------------------ the broken twins


def saturated(losses):
    """The boost of a large noise is held back."""
    return np.minimum(losses, 1.0)


TWINS = {
    "one noise for all levels": Twin(shared=True),
    "a boost that saturates": Twin(boost=saturated),
    "scores that move by a third more": Twin(weight=4 / 3),
    "a boost that is larger than the noise": Twin(boost=lambda losses: 1.5 * losses),
}


@pytest.mark.parametrize("twin", TWINS)
def test_a_broken_race_is_caught(twin):
    assert joint_loss(*STAR, BY["withdrawals"](ONE), LEVELS["withdrawals"], TWINS[twin]) > 1.05


def test_an_answer_that_knows_the_draws_is_caught():
    """X' stays within its certificate, but lies higher where the noise is large: some numbers never occur."""
    moved = Twin(moved=lambda levels: np.where(levels >= 1, 10, 0))
    still = Twin(moved=lambda levels: np.zeros(len(levels)))
    assert joint_loss(*STAR, BY["withdrawals"](ONE), LEVELS["withdrawals"], still) <= ALLOWED
    assert joint_loss(*STAR, BY["withdrawals"](ONE), LEVELS["withdrawals"], still, moved) > 1.05


def test_a_prior_that_knows_the_data_is_caught():
    """It begins at what the largest owner has, and a leaver moves it."""
    with_hub, without_hub = Twin(start=4), Twin(start=1)
    assert joint_loss(*STAR, BY["withdrawals"](ONE), LEVELS["withdrawals"], with_hub) <= ALLOWED
    assert joint_loss(*STAR, BY["withdrawals"](ONE), LEVELS["withdrawals"], with_hub, without_hub) > 1.05


def test_a_dial_that_boosts_more_than_the_noise_is_refused():
    for answer, boost in ((1, Fraction(5, 4)), (Fraction(3, 2), 1), (0, 1), (1, 0)):
        with pytest.raises(ParameterError, match="one epsilon"):
            Dial(Fraction(answer), Fraction(boost))


def test_a_weight_that_forgets_the_dial_is_caught():
    """At ε_a = 0.8, ρ = 0.5 a penalty may weigh 0.6 ε: with 0.8 ε the loss is 1.2 ε."""
    mechanism = dialled(BY["withdrawals"](ONE), "0.8", "0.5")
    assert (
        joint_loss(star(40), without(star(40), "hub"), mechanism, LEVELS["withdrawals"], Twin(weight=8 / 6))
        > 1.1
    )
