"""Parameters that are no parameters are refused when they are built."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from recuse.errors import ParameterError
from recuse.krelation.relation import Growth, Shape
from recuse.mechanism import presets
from recuse.mechanism.mechanisms import NAMES, mechanism_for
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
@pytest.mark.parametrize("name", NAMES)
def test_the_two_parts_are_the_whole(name, epsilon):
    for shape in LOADED:
        found = mechanism_for(name, Epsilon.of(epsilon), shape)
        assert found.choice_epsilon + found.answer_epsilon == found.epsilon == Fraction(epsilon)


def test_what_is_no_mechanism_is_refused():
    with pytest.raises(ParameterError, match="no such mechanism"):
        mechanism_for("perfect", ONE, Shape.CLAUSES)
    for shape in (Growth(2), Shape.THRESHOLDS):
        for name in ("tuned", "paper"):
            with pytest.raises(ParameterError, match="answered by one mechanism"):
                mechanism_for(name, ONE, shape)
    assert mechanism_for("selective", ONE, Growth(2)).doublings == Growth(2).doublings
