from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.errors import ParameterError
from recuse.privacy import Delta, Epsilon, decimal_text, exact


@pytest.mark.parametrize("number", ["0.1", 0.1, Decimal("0.1"), Fraction(1, 10), "1/10", " 1e-1 "])
def test_a_tenth_is_a_tenth(number):
    assert Epsilon.of(number).value == Fraction(1, 10)


@pytest.mark.parametrize(
    "number",
    [
        "",
        "0",
        0,
        -1,
        "-0.5",
        "nan",
        float("nan"),
        "inf",
        float("inf"),
        "one",
        "1/0",
        True,
        "1e400",
        "1e-99999999",
        "9" * 99,
        "1_0",
    ],
)
def test_what_is_not_an_epsilon_is_refused_in_one_line(number):
    with pytest.raises(ParameterError) as caught:
        Epsilon.of(number)
    assert "epsilon" in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.fractions())
def test_text_is_exact(value):
    assert Fraction(decimal_text(value)) == value


def test_other_numbers_are_named():
    with pytest.raises(ParameterError, match="granularity is not a number"):
        exact("cents", name="granularity")


def test_too_many_digits_are_refused():
    """Sums of many odd fractions would grow without end in the ledger."""
    assert Epsilon.of("0.000001234567").value == Fraction(1234567, 10**12)
    assert Epsilon.of("1/999").value == Fraction(1, 999)
    for number in ("1/1001", "0.1234567890123", 0.1 + 0.2):
        with pytest.raises(ParameterError, match="too many digits"):
            Epsilon.of(number)


@pytest.mark.parametrize(
    ("number", "problem"),
    [("0.01", "1e-18 to 0.001"), (0, "1e-18 to 0.001"), ("1e-19", "digits"), ("1/3000", "digits")],
)
def test_what_is_not_a_delta_is_refused(number, problem):
    assert Delta.of("0.001").value == Fraction(1, 1000)
    with pytest.raises(ParameterError, match="delta") as caught:
        Delta.of(number)
    assert problem in str(caught.value)
