"""What is said of the truth: at least so much, as often as is said; nothing where nothing can be said."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.krelation.build import from_owners
from recuse.krelation.relation import Shape
from recuse.mechanism.groups import SideBySide
from recuse.mechanism.mechanisms import DEFAULT, mechanism_for
from recuse.mechanism.prepared import prepare
from recuse.mechanism.release import Release
from recuse.policy import Policy
from recuse.privacy import Epsilon
from recuse.session.cells import evaluate, truth
from recuse.session.formulas import Given
from recuse.session.parts import Parts
from recuse.session.session import connect
from recuse.session.truth import ONE_SIDED, UNKNOWN, drowned, truth_of
from recuse.session.words import truth_text
from recuse.solver.memo import memoising
from recuse.sql.formula import FixedNumber, Operation, Operator, Term
from support.noise import Seeded

POLICY = """
[[protect]]
table = "customer"
key = ["id"]

[[link]]
table = "orders"
column = ["customer"]
to = "customer"

[[domain]]
table = "orders"
column = "month"
values = [1, 2, 3]

[budget]
epsilon = 1000
"""
ORDERS = [1 + (9 if customer < 20 else 0) + (60 if customer < 4 else 0) for customer in range(200)]


def shop(seed: int):
    """Return a session on a shop in which four customers have a third of all orders."""
    owners = [customer for customer, orders in enumerate(ORDERS) for _ in range(orders)]
    orders = {
        "id": range(len(owners)),
        "customer": owners,
        "month": [1 + n % 3 for n in range(len(owners))],
        "price": [5 + n % 90 for n in range(len(owners))],
        "small": pd.Series([n % 50 for n in range(len(owners))], dtype="uint8"),
    }
    tables = {"customer": pd.DataFrame({"id": range(200)}), "orders": pd.DataFrame(orders)}
    return connect(tables, Policy.parse(POLICY), parts=Parts(noise=Seeded(seed)))


def number(value: int, reach: int = 2, **more) -> Release:
    ends = (Fraction(value - reach), Fraction(value + reach))
    return Release(Fraction(value), ends, Fraction(1), Fraction(1, 2), "selective", **more)


RUNS = 600
OFTEN = 0.025 + 3 * (0.025 * 0.975 / RUNS) ** 0.5
"""three standard deviations above what is promised"""


def missed(orders: list[int], lower: Callable[[Release], Fraction]) -> float:
    """Return how often a lower end lies above the number of all orders, given how many each customer has."""
    owners = np.repeat(np.arange(len(orders)), orders).reshape(-1, 1)
    relation = from_owners(np.ones(len(owners), np.int64), owners, names=range(len(orders)), signed=False)
    groups = SideBySide([prepare(relation, memoising(Parts().solver))])
    mechanism, noise = mechanism_for(DEFAULT, Epsilon.of("0.5"), Shape.CONJUNCTIONS), Seeded(5)
    found = (groups.release(mechanism, noise)[0].rounded(signed=False, counted=True) for _ in range(RUNS))
    return sum(lower(one) > len(owners) for one in found) / RUNS


def at_least(release: Release) -> Fraction:
    return truth_of(release).ends[0] or Fraction(0)


def nearer(release: Release) -> Fraction:
    """Return what a careless reader takes: the answer less its mean noise."""
    return release.value - release.noise_scale


@pytest.mark.parametrize("orders", [ORDERS, [1] * 200, [3] * 40], ids=["heavy", "one each", "few"])
def test_the_truth_is_as_often_above_as_is_said(orders):
    """Lemma I1."""
    assert missed(orders, at_least) <= OFTEN


def test_a_twin_that_subtracts_the_mean_noise_only_is_caught():
    """Where nothing is truncated."""
    assert missed([1] * 200, nearer) > OFTEN


def test_what_has_a_sign_or_was_picked_says_nothing():
    assert truth_of(number(4, signed=True)) == UNKNOWN
    picked = Release(Fraction(4), (None, None), Fraction(0), Fraction(1), "selective", signed=True)
    assert truth_of(picked) == UNKNOWN
    assert truth_text(picked) is None


def test_what_was_not_truncated_or_is_exact_says_all():
    assert truth_of(number(4, truncated=False)).ends == (2, 6)
    assert truth_text(number(4, truncated=False)) == "2 to 6 with 95 %, nothing was truncated"
    exact = Release(Fraction(4), (Fraction(4), Fraction(4)), Fraction(0), Fraction(0), "public")
    assert truth_of(exact).confidence == 1


@given(st.integers(-3, 3), st.integers(0, 40), st.integers(0, 40), st.integers(0, 9), st.integers(0, 9))
def test_a_formula_of_the_truth_lies_where_is_said(factor, one, two, more, less):
    """The true numbers are anything from the lower ends on."""
    releases = [number(one), number(two)]
    formula = Operation(
        Operator.ADD, (Operation(Operator.MULTIPLY, (FixedNumber(Fraction(factor)), Term(0))), Term(1))
    )
    low, high = truth(evaluate(formula, Given(releases))).ends
    true = factor * (one - 2 + more) + two - 2 + less
    assert low is None or low <= true
    assert high is None or true <= high
    assert low is not None or factor <= 0 or one < 2


def test_doubts_add_up_and_a_share_of_two_counts_is_unknown():
    both = evaluate(Operation(Operator.ADD, (Term(0), Term(1))), Given([number(9), number(30)]))
    assert truth(both).ends == (7 + 28, None)
    assert truth(both).confidence == pytest.approx(1 - 2 * (1 - ONE_SIDED))
    share = evaluate(Operation(Operator.DIVIDE, (Term(0), Term(1))), Given([number(9), number(30)]))
    assert truth_text(share) is None


def test_a_mean_of_what_is_not_negative_is_not():
    with shop(7) as session:
        for sql in (
            "SELECT AVG(price) FROM orders WHERE price >= 0 AND id < 12",
            "SELECT AVG(CAST(small AS DECIMAL(9, 2))) FROM orders WHERE id < 12",
            "SELECT AVG(CASE WHEN price > 20 THEN 1 ELSE 0 END) FROM orders WHERE id < 12",
        ):
            cell = session.ask(sql, "0.2").rows[0].cells[0]
            assert cell.interval[0] >= 0
            assert cell.value is None or cell.value >= 0
        assert cell.interval[1] <= 1
        signed = session.ask("SELECT AVG(price) FROM orders WHERE id < 12", "0.2").rows[0].cells[0]
        assert signed.interval[0] is None or signed.interval[0] < 0, "of a signed column it may be"


def test_a_mean_stays_null_where_it_is():
    """The end that it keeps is no number for it."""
    kept = Operation(
        Operator.NOT_BELOW, (Operation(Operator.DIVIDE, (Term(0), Term(1))), FixedNumber(Fraction(0)))
    )
    found = evaluate(kept, Given([number(3), number(0)]))
    assert found.value is None


@given(st.integers(-50, 50), st.integers(0, 60))
def test_noise_is_large_where_the_interval_is_as_wide_as_the_number(value, reach):
    ends = (Fraction(value - reach), Fraction(value + reach))
    assert drowned(Fraction(value), ends) == (reach > 0 and 2 * reach >= abs(value))
    assert not drowned(Fraction(value), (None, ends[1]))
