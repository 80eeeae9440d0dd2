"""Comparisons and choices: one type for all sides, NULL as in SQL."""

from __future__ import annotations

import pytest

from recuse.scalars import build, literals, types
from recuse.scalars.expression import Variable
from recuse.scalars.function import Mistyped
from support.scalars.examples import date, gives, moment

N, S, D = (Variable("t", name, types.stored(name)) for name in ("BIGINT", "VARCHAR", "DATE"))
E = Variable("t", "e", types.stored("ENUM('a', 'b')"))


@pytest.mark.parametrize(
    ("name", "arguments", "wanted"),
    [
        ("=", (1, "#1.00"), True),
        ("=", (1, "1"), True),
        ("<", ("Z", "a"), True),
        ("<", (2**62, 0.5), False),
        ("=", (date("2020-01-01"), moment("2020-01-01")), True),
        ("=", (date("2020-01-01"), "2020-01-01"), True),
        ("=", (None, 1), None),
        ("is distinct from", (None, 1), True),
        ("is distinct from", (1, 1), False),
        ("between", (2, 1, 3), True),
        ("between", (2, 3, None), False),
        ("in", (2, 1, 2), True),
        ("in", (2, 1, None), None),
        ("and", (False, None), False),
        ("and", (True, None), None),
        ("or", (True, None), True),
        ("not", (True,), False),
        ("not", (0,), True),
        ("is null", (None,), True),
        ("is true", (None,), False),
        ("is false", (False,), True),
        ("case", (False, 1, True, 2, 3), 2),
        ("case", (False, 1, None), None),
        ("coalesce", (None, 2), 2),
        ("nullif", (1, 1), None),
        ("nullif", (1, 2), 1),
        ("greatest", (1, "#2.5", None), "2.5"),
        ("least", ("b", "a"), "a"),
    ],
)
def test_a_condition(name, arguments, wanted):
    assert gives(name, *arguments) == wanted


@pytest.mark.parametrize(
    ("name", "arguments", "problem"),
    [
        ("=", (N, D), "a whole number stands beside a date"),
        ("=", (N, literals.text("twelve")), "this constant is no number"),
        ("coalesce", (N, S), "text stands beside a whole number"),
        ("<", (E, S), "labels of an ENUM"),
        ("and", (D, D), "a condition is needed"),
        ("=", (N, Variable("t", "b", types.stored("BLOB"))), "are not compared"),
        ("in", (N,), "takes at least 2 arguments, not 1"),
    ],
)
def test_what_has_no_type_in_common_is_refused(name, arguments, problem):
    with pytest.raises(Mistyped, match=problem):
        build.apply(name, *arguments)
