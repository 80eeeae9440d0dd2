from __future__ import annotations

import math
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from recuse.exponential import at_most_exponential, exponential, logarithm

exponents = st.fractions(-50, 50, max_denominator=1000)


@given(exponents)
def test_enclosures_enclose_and_tighten(exponent):
    wide, tight = exponential(exponent, 12), exponential(exponent, 40)
    assert wide[0] <= tight[0] < tight[1] <= wide[1]
    assert float(tight[0]) == float(tight[1]) or math.isclose(tight[0], tight[1])
    assert math.isclose(tight[0], math.exp(exponent), rel_tol=1e-12)


@given(exponents, st.integers(1, 10**6))
def test_comparisons_agree_with_many_digits(exponent, theta):
    low, high = exponential(exponent, 200)
    assert at_most_exponential(theta * low, Fraction(theta), exponent)
    assert (
        not at_most_exponential(theta * high + Fraction(1, 10**300), Fraction(theta), exponent)
        or exponent == 0
    )


def test_a_comparison_that_doubles_cannot_decide():
    near, _ = exponential(Fraction(1, 10), 120)
    assert float(near) == math.exp(0.1)
    assert at_most_exponential(near, Fraction(1), Fraction(1, 10))
    assert not at_most_exponential(near + Fraction(1, 10**100), Fraction(1), Fraction(1, 10))


def test_a_tie_at_zero():
    assert at_most_exponential(Fraction(3), Fraction(3), Fraction(0))


@given(st.fractions("1/1000", 1000, max_denominator=10**6))
def test_logarithms_are_enclosed(value):
    low, high = logarithm(value, 25)
    assert low < high
    assert abs(float(low) - math.log(value)) < 1e-12
    assert exponential(low, 40)[0] <= value <= exponential(high, 40)[1]


def test_a_logarithm_near_zero_is_cheap():
    assert logarithm(Fraction(1), 20)[0] < 0 < logarithm(Fraction(1), 20)[1]
    low, high = logarithm(1 + Fraction(1, 10**30), 20)
    assert low <= 0 < high
