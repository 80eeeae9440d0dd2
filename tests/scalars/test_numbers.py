"""Exact numbers, division, rounding, buckets and bits: examples, bounds and refusals."""

from __future__ import annotations

import pytest

from recuse.scalars import build, literals, types
from recuse.scalars.expression import Constant, Variable
from recuse.scalars.function import Mistyped
from support.scalars.examples import gives

MOST = 10**38 - 1
X = Variable("t", "x", types.BIGINT)
WIDE = Variable("t", "w", types.decimal(38, 20))


@pytest.mark.parametrize(
    ("name", "arguments", "wanted"),
    [
        ("+", (2, 3), 5),
        ("+", (127, 1), 128),
        ("+", ("#1.5", "#0.25"), "1.75"),
        ("+", (MOST, 1), None),
        ("+", (2**63 - 1, 2**63 - 1), 2**64 - 2),
        ("-", (-128, 1), -129),
        ("-", ("#1.1", "#0.1"), "1.0"),
        ("-", (-MOST, 1), None),
        ("*", (2**62, 2**62), 2**124),
        ("*", (MOST, 2), None),
        ("*", ("#1.50", "#1.50"), "2.2500"),
        ("//", (7, 2), 3),
        ("//", (-7, 2), -3),
        ("//", (1, 0), None),
        ("//", (-128, -1), 128),
        ("%", (-7, 3), -1),
        ("%", (7, 0), None),
        ("%", ("#5.5", 2), "1.5"),
        ("neg", (-128,), 128),
        ("abs", (-128,), 128),
        ("sign", ("#-0.5",), -1),
        ("round", ("#2.5",), 3),
        ("round", ("#-2.5",), -3),
        ("round", ("#2.345", 2), "2.35"),
        ("round", (1250, -2), 1300),
        ("floor", ("#-1.5",), -2),
        ("ceil", ("#-1.5",), -1),
        ("trunc", ("#-1.57", 1), "-1.5"),
        ("width_bucket", (35, 0, 100, 10), 4),
        ("width_bucket", (-1, 0, 100, 10), 0),
        ("width_bucket", (100, 0, 100, 10), 11),
        ("width_bucket", (126, -128, 127, 1), 1),
        ("width_bucket", ("#1.25", 0, "#2.5", 2), 2),
        ("&", (12, 10), 8),
        ("|", (12, 10), 14),
        ("xor", (12, 10), 6),
        ("+", (None, 1), None),
    ],
)
def test_a_number(name, arguments, wanted):
    assert gives(name, *arguments) == wanted


@pytest.mark.parametrize(
    ("name", "arguments", "problem"),
    [
        ("+", (X,), "takes 2 arguments, not 1"),
        ("//", (WIDE, X), "a whole number is needed"),
        ("*", (WIDE, WIDE), "more than 30 decimal places"),
        ("+", (literals.text("a"), X), "text, and a number is needed"),
        ("round", (WIDE, X), "written down"),
        ("round", (WIDE, literals.number("16")), "from -15 to 15"),
        ("trunc", (WIDE, Constant(-1, types.whole(-1, -1))), "only round takes"),
        ("width_bucket", (X, literals.number("9"), literals.number("1"), literals.number("3")), "go up"),
        ("width_bucket", (X, X, literals.number("1"), literals.number("3")), "written down"),
        ("&", (WIDE, X), "a whole number is needed"),
    ],
)
def test_what_is_no_number_is_refused(name, arguments, problem):
    with pytest.raises(Mistyped, match=problem):
        build.apply(name, *arguments)


def test_bounds_follow_the_operands():
    assert build.apply("+", X, literals.number("1")).type == types.whole(-(2**63) + 1, 2**63)
    small = Variable("t", "s", types.TINYINT)
    assert build.apply("*", small, small).type == types.whole(-(2**7) * (2**7 - 1), 2**14)
    assert build.apply("%", X, literals.number("10")).type == types.whole(-9, 9)


def test_constants_are_folded():
    assert build.apply("+", literals.number("1"), literals.number("2")) == Constant(3, types.whole(3, 3))
    assert build.apply("//", literals.number("1"), literals.number("0")) == Constant(
        None, build.apply("//", literals.number("1"), literals.number("0")).type
    )
