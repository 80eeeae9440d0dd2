"""About how large values are: from the policy and the expression, never from a row."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from recuse.errors import PolicyError
from recuse.policy import Policy, Typical
from recuse.sql.compile import compile_query
from support.sql.market import MARKETS

MARKET = MARKETS[0]
SIZED = replace(MARKET.policy, typical=(Typical("orders", ("o_total",), Fraction(50)),))


def measures(value: str, policy: Policy = SIZED):
    return compile_query(f"SELECT {value} FROM orders", policy, MARKET.catalogue()).measures


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ("o_total", 50),
        ("-2 * o_total", 100),
        ("o_total * o_total", 2500),
        ("o_total / 4", Fraction(25, 2)),
        ("o_total + 3", 50),
        ("CASE WHEN o_total > 3 THEN o_total ELSE 7 END", 50),
        ("COALESCE(o_total, 80)", 80),
        ("CASE WHEN o_total > 3 THEN 1 ELSE 0 END", 1),
        ("o_total % 3", 1),
    ],
)
def test_a_size_follows_the_expression(value, size):
    (measure,) = measures(f"SUM({value})")
    assert measure.typical == size


def test_a_mean_is_a_sum_and_a_count():
    total, count = measures("AVG(o_total)")
    assert (total.typical, total.sized, count.typical) == (50, True, 1)


def test_the_centre_of_a_variance_says_nothing():
    """Of (x - c)², c released first, x is what has a size; a granule there is a ten-thousandth or so."""
    (*_, squares) = measures("VAR_POP(o_total)")
    assert squares.typical % 2500 == 0


def test_what_nobody_says_is_one():
    (measure,) = measures("SUM(o_total)", MARKET.policy)
    assert (measure.typical, measure.sized) == (1, False)


TEXT = '[[protect]]\nkind = "person"\n[[typical]]\ntable = "t"\ncolumn = ["x"]\nvalue = '


def test_it_is_written_in_the_policy():
    assert Policy.parse(TEXT + "0.5").typical == (Typical("t", ("x",), Fraction(1, 2)),)
    with pytest.raises(PolicyError, match="policy line 6: a typical value is a size, above 0"):
        Policy.parse(TEXT + "0")


def test_of_a_column_that_is_there_and_a_number():
    for name in ("o_totl", "o_date"):
        policy = replace(MARKET.policy, typical=(Typical("orders", (name,), Fraction(1)),))
        with pytest.raises(PolicyError):
            measures("COUNT(*)", policy)


def test_edges_that_are_protected_are_single_rows():
    policy = Policy.parse('[[protect]]\ntable = "orders"\nkey = ["o_id"]\n')
    held = {column.name for column in MARKET.catalogue().table("orders").columns}
    key = sorted(held)[0]
    policy = Policy.parse(f'[[protect]]\ntable = "orders"\nkey = ["{key}"]\n')
    assert measures("COUNT(*)", policy)[0].single
    assert not measures("SUM(o_total)", policy)[0].single
    assert not measures("COUNT(*)")[0].single
