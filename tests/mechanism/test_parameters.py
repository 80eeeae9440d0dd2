"""Parameters that are no parameters are refused when they are built."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from recuse.errors import ParameterError
from recuse.krelation.relation import Growth, Shape
from recuse.mechanism import presets
from recuse.mechanism.mechanisms import DEFAULT, NAMES, mechanism_for
from recuse.privacy import Epsilon
from support.strategies import LOADED

ONE = Epsilon.of(1)


@pytest.mark.parametrize("field", ["choice_epsilon", "answer_epsilon", "theta"])
@pytest.mark.parametrize("value", [Fraction(0), Fraction(-1)])
def test_parts_of_epsilon_and_theta_are_positive(field, value):
    with pytest.raises(ParameterError, match="positive"):
        replace(presets.tuned(ONE), **{field: value})


@pytest.mark.parametrize("change", [{"beta": Fraction(0)}, {"mu": Fraction(-1)}, {"factor": 0}])
def test_a_rule_that_bounds_nothing_is_refused(change):
    with pytest.raises(ParameterError, match="beta must be positive"):
        replace(presets.paper(ONE), **change)


@pytest.mark.parametrize("epsilon", ["0.001", "0.1", "1", "3", "10"])
@pytest.mark.parametrize("name", [name for name in NAMES if name != DEFAULT])
def test_the_two_parts_are_the_whole(name, epsilon):
    for shape in LOADED:
        found = mechanism_for(name, Epsilon.of(epsilon), shape)
        assert found.choice_epsilon + found.answer_epsilon == found.epsilon == Fraction(epsilon)


@pytest.mark.parametrize("epsilon", ["0.001", "0.1", "1", "3", "10"])
def test_the_race_has_the_whole_epsilon_and_what_it_lends_has_it_too(epsilon):
    for shape in Shape:
        found = mechanism_for(DEFAULT, Epsilon.of(epsilon), shape)
        assert found.epsilon == found.in_two_steps().epsilon == Fraction(epsilon)
        assert (found.dial(1).answer, found.dial(1).boost, found.dial(1).choice) == (1, 1, 1)


def test_dials_of_more_cells_leave_a_penalty_its_part():
    race = presets.race_by_withdrawals(ONE)
    assert race.dial(3) != race.dial(1)
    assert race.dial(10**6) == race.dial(10**7)
    assert all(race.dial(cells).choice >= presets.LEAST_CHOICE for cells in (1, 2, 7, 100, 900))
    assert all(race.dial(cells).choice == race.dial(cells).boost for cells in (1024, 5000))


def test_what_is_no_mechanism_is_refused():
    with pytest.raises(ParameterError, match="no such mechanism"):
        mechanism_for("perfect", ONE, Shape.CLAUSES)
    for shape in (Growth(2), Shape.THRESHOLDS):
        for name in ("tuned", "paper"):
            with pytest.raises(ParameterError, match="answered by one mechanism"):
                mechanism_for(name, ONE, shape)
    assert mechanism_for("selective", ONE, Growth(2)).levels.ladder.ratio == 4
