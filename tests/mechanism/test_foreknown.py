"""What is public of loads steers which levels are cheap, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.errors import ParameterError
from recuse.krelation.relation import Growth, Shape
from recuse.lab.experiments.computed import Rows, race_errors
from recuse.mechanism import presets
from recuse.mechanism.foreknown import NOTHING, Foreknown
from recuse.mechanism.mechanisms import MECHANISMS, mechanism_for
from recuse.mechanism.reach import at_any_level
from recuse.privacy import Epsilon

SHAPES = [Shape.CONJUNCTIONS, Shape.CLAUSES, Growth(2)]
epsilons = st.fractions(Fraction(1, 20), 4).map(Epsilon)
units = st.fractions(Fraction(1, 100), 10**9).filter(bool)


@given(epsilons, st.sampled_from(SHAPES), units)
def test_levels_cost_more_the_higher_they_are(epsilon, shape, unit):
    levels = mechanism_for("selective", epsilon, shape, Foreknown(unit=unit)).levels
    costs = [levels.prior(k) for k in levels.ladder.levels]
    assert costs == sorted(costs)


@given(epsilons, units)
def test_from_the_unit_on_a_sum_is_as_dear_as_a_count(epsilon, unit):
    """At small ε dearer, or a unit that was stated too large would be overshot."""
    plain, told = (
        mechanism_for("selective", epsilon, Shape.CONJUNCTIONS, known).levels
        for known in (NOTHING, Foreknown(unit=unit))
    )
    if unit != 1:
        least, steep = (slope * presets.STRIDE for slope in presets.sum_slopes(epsilon.value))
        plain = replace(plain, gentle=max(plain.gentle, least), steep=steep)
    for k in range(8):
        assert told.prior(told.start + k) - told.prior(told.start) == plain.prior(k)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_count_is_as_it_was(shape):
    assert Foreknown(unit=Fraction(1)).told(presets.selective(Epsilon.of(1), shape)) == presets.selective(
        Epsilon.of(1), shape
    )


@pytest.mark.parametrize("name", sorted(set(MECHANISMS) - {"selective"}))
def test_other_mechanisms_know_nothing(name):
    known = Foreknown(bound=3, unit=Fraction(100), single=True)
    assert mechanism_for(name, Epsilon.of(1), Shape.CONJUNCTIONS, known) == mechanism_for(
        name, Epsilon.of(1), Shape.CONJUNCTIONS
    )


@given(units)
def test_what_may_fail_adds_up_to_what_may_fail_in_a_release(unit):
    levels = mechanism_for("selective", Epsilon.of(1), Shape.CONJUNCTIONS, Foreknown(unit=unit)).levels
    every = levels.ladder.levels
    assert sum(1 - at_any_level(every, k, levels.start) for k in every) <= 0.05 * (1 + 1e-9)


def test_a_unit_is_something():
    with pytest.raises(ParameterError, match="one row brings something"):
        Foreknown(unit=Fraction(0))


def test_three_hundred_people_and_cents():
    """Without the unit all prices are cut to a cent at ε = 0.1; with it the sum is there."""
    loads = np.random.default_rng(1).uniform(5_000, 40_000, 300).round()
    plain, told = (
        mechanism_for("selective", Epsilon.of("0.1"), Shape.CONJUNCTIONS, known)
        for known in (NOTHING, Foreknown(unit=Fraction(5_000)))
    )
    assert race_errors(Rows.of_loads(loads, plain), plain).half > 0.9
    assert race_errors(Rows.of_loads(loads, told), told).half < 0.1
