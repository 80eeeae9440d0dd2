"""Estimates from what one may state are near what is measured, and not where what is stated is wrong."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from recuse.lab.experiments.estimates import compared, stated
from recuse.session.parts import Parts
from recuse.session.session import connect
from support.noise import Seeded
from support.shop import make_shop

EPSILONS = [Fraction(1, 2), Fraction(2)]
COUNT = "SELECT COUNT(*) FROM orders"


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    database, policy = make_shop(tmp_path_factory.mktemp("estimates"))
    with connect(database, policy, parts=Parts(noise=Seeded(7))) as session:
        yield session, str(database)


def test_nine_of_ten_errors_are_as_estimated_within_a_half(shop):
    session, database = shop
    for _, _, guess, error in compared(session, database, COUNT, EPSILONS, 100):
        assert error / Fraction(3, 2) <= guess <= error * Fraction(3, 2)


def test_values_that_nobody_stated_are_said_to_be_made_up(shop):
    session, _ = shop
    (found,) = session.estimates("SELECT SUM(price) FROM orders", [1], like=stated(session), runs=2)
    assert any("made-up values stand for orders.price" in caution for caution in found.cautions)


def test_data_of_the_same_kind_may_be_named(shop):
    session, database = shop
    for _, _, guess, error in compared(session, database, COUNT, EPSILONS[1:], 300, like=database):
        assert error / Fraction(3, 2) <= guess <= error * Fraction(3, 2)


def test_a_largest_that_is_stated_wrong_is_noticed(shop):
    """The twin: ten times the largest, and the estimate is far off."""
    session, database = shop
    told = stated(session)
    wrong = replace(told, largest={name: 10 * most for name, most in told.largest.items()})
    (guess,) = session.estimates(COUNT, [2], like=wrong, runs=100)
    (error,) = session.estimates(COUNT, [2], like=database, runs=100)
    assert guess.columns[0].mostly > error.columns[0].mostly * Fraction(3, 2)
