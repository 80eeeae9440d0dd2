"""Floats: one NaN, one zero, NULL where there is no result."""

from __future__ import annotations

import math

import pytest

from recuse.scalars import build, literals
from recuse.scalars.function import Mistyped
from support.scalars.examples import gives

INF, NAN = math.inf, math.nan


@pytest.mark.parametrize(
    ("name", "arguments", "wanted"),
    [
        ("+", (0.5, 0.25), 0.75),
        ("+", (INF, -INF), None),
        ("+", (NAN, 1.0), None),
        ("*", (0.0, INF), None),
        ("*", (0.0, -1.0), 0.0),
        ("/", (1.0, 0.0), None),
        ("/", (1, 4), 0.25),
        ("%", (5.5, 2.0), 1.5),
        ("%", (5.5, 0.0), None),
        ("neg", (0.0,), 0.0),
        ("abs", (-1.5,), 1.5),
        ("sign", (-0.1,), -1),
        ("round", (2.5,), 3.0),
        ("round", (-0.4,), 0.0),
        ("round", (1.255, 2), 1.25),
        ("floor", (-1.5,), -2.0),
        ("ceil", (-0.5,), 0.0),
        ("trunc", (-1.7,), -1.0),
        ("sqrt", (4,), 2.0),
        ("sqrt", (-4.0,), None),
        ("ln", (0.0,), None),
        ("log10", (1000,), 3.0),
        ("log2", (8,), 3.0),
        ("log", (2.0, 8.0), 3.0),
        ("log", (1.0, 8.0), None),
        ("exp", (0,), 1.0),
        ("exp", (1000.0,), INF),
        ("pow", (2, 10), 1024.0),
        ("pow", (-8.0, 0.5), None),
        ("sin", (INF,), None),
        ("cos", (0,), 1.0),
        ("cot", (0.0,), None),
        ("acos", (1.5,), None),
        ("asin", (0.0,), 0.0),
        ("sinh", (0,), 0.0),
        ("acosh", (0.5,), None),
        ("atanh", (1.0,), None),
        ("single", (0.1,), 0.10000000149011612),
        ("single", (1e300,), None),
        ("isnan", (NAN,), True),
        ("isinf", (-INF,), True),
        ("isfinite", (NAN,), False),
        ("=", (NAN, NAN), True),
        (">", (NAN, INF), True),
    ],
)
def test_a_float(name, arguments, wanted):
    assert repr(gives(name, *arguments)) == repr(wanted)


def test_pi():
    assert gives("pi", open=None) == math.pi


@pytest.mark.parametrize(
    ("name", "arguments", "problem"),
    [
        ("sqrt", (literals.text("a"),), "text, and a number is needed"),
        ("sqrt", (), "takes 1 argument, not 0"),
        ("isnan", (literals.text("a"),), "text, and a number is needed"),
    ],
)
def test_what_is_no_float_is_refused(name, arguments, problem):
    with pytest.raises(Mistyped, match=problem):
        build.apply(name, *arguments)
