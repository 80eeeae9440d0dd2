"""Prices: bounds are exact where a double can be, and never above price·τ."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.krelation.prices import Prices

tables = st.lists(st.fractions(1, 200, max_denominator=8), min_size=1, max_size=3).map(tuple)
taus = st.floats(2.0**-20, 2.0**40, allow_nan=False)


@given(tables, taus)
def test_no_bound_is_above_its_price_and_the_next_double_is(table, tau):
    for price, bound in zip(table, Prices(table, np.arange(len(table))).bounds(tau).tolist(), strict=True):
        assert Fraction(bound) <= price * Fraction(tau) < Fraction(math.nextafter(bound, math.inf))


def test_a_bound_that_is_rounded_to_the_nearest_is_caught():
    """The twin: the nearest double may be above price·τ, and then a participant moves more than was said."""
    tau, price = 0.1, Fraction(5, 3)
    nearest = [t for t in (tau * k for k in range(1, 50)) if Fraction(t * float(price)) > price * Fraction(t)]
    assert nearest, "some product rounds up"
    found = Prices((price,), np.zeros(1, np.int64)).bounds(nearest[0])
    assert Fraction(float(found[0])) <= price * Fraction(nearest[0])


@given(tables, st.lists(st.integers(0, 10**6), min_size=1, max_size=6))
def test_from_the_least_tau_on_nobody_is_above_their_bound(table, loads):
    kinds = np.arange(len(loads)) % len(table)
    prices, loads = Prices(table, kinds), np.array(loads, float)
    tau = prices.least_tau(loads)
    assert (loads <= prices.bounds(tau)).all()
    if tau > 0:
        assert (loads > prices.bounds(tau * (1 - 2.0**-40))).any()


@given(tables, taus)
def test_rational_bounds_are_those_of_doubles(table, tau):
    prices = Prices(table, np.arange(len(table)))
    assert prices.exact_bounds(Fraction(tau)) == [Fraction(b) for b in prices.bounds(tau).tolist()]


def test_the_largest_tau_has_bounds_too():
    assert np.isfinite(Prices((Fraction(10_000),), np.zeros(1, np.int64)).bounds(2.0**1020)).all()


@pytest.mark.parametrize("table", [(), (Fraction(1, 2),)])
def test_a_price_is_at_least_one(table):
    with pytest.raises(ValueError, match="at least 1"):
        Prices(table, np.zeros(0, np.int64))


def test_some_of_the_participants_keep_their_prices():
    prices = Prices((Fraction(1), Fraction(3)), np.array([0, 1, 1]))
    assert prices.of(np.array([0, 2])).bounds(2.0).tolist() == [2.0, 6.0]
    assert not prices.one
    assert Prices.alike(3).one
