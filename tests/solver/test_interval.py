"""Intervals hold what they enclose, and no narrower pair of doubles does."""

from __future__ import annotations

import math
import sys
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.solver.interval import Interval, enclosed, nearest, outward

large = st.integers(-(10**400), 10**400) | st.integers(-(2**70), 2**70)
rationals = st.fractions() | large.map(Fraction)


def beyond(low: float, high: float, value: Fraction) -> bool:
    return (math.isinf(low) or Fraction(low) <= value) and (math.isinf(high) or value <= Fraction(high))


@given(large)
def test_an_integer_is_enclosed_as_narrowly_as_doubles_can(value):
    found = enclosed(value)
    assert beyond(found.low, found.high, Fraction(value))
    assert found.high in (found.low, math.nextafter(found.low, math.inf))


@given(rationals, rationals)
def test_rationals_are_enclosed_outwards(one, other):
    low, high = sorted((one, other))
    found = outward(low, high)
    assert beyond(found.low, found.high, low)
    assert beyond(found.low, found.high, high)
    if math.isfinite(inner := math.nextafter(found.low, math.inf)):
        assert Fraction(inner) > low
    if math.isfinite(inner := math.nextafter(found.high, -math.inf)) and inner > -sys.float_info.max:
        assert Fraction(inner) < high


def test_beyond_all_doubles():
    assert (enclosed(10**400).low, enclosed(10**400).high) == (sys.float_info.max, math.inf)
    assert (enclosed(-(10**400)).low, enclosed(-(10**400)).high) == (-math.inf, -sys.float_info.max)
    assert (nearest(10**400), nearest(-(10**400))) == (math.inf, -math.inf)


def test_ends_in_the_wrong_order_are_refused():
    for low, high in ((1.0, 0.0), (math.nan, 1.0), (0.0, math.nan)):
        with pytest.raises(ValueError, match="order"):
            Interval(low, high)


@given(st.floats(-9, 0), st.floats(0, 9), st.floats(-9, 0), st.floats(0, 9))
def test_two_intervals_about_one_number_narrow_to_what_both_hold(low, high, other_low, other_high):
    found = Interval(low, high).narrowed(other_low, other_high)
    assert (found.low, found.high) == (max(low, other_low), min(high, other_high))
    assert found.width <= min(high - low, other_high - other_low)
