"""People who share nothing: closed forms agree with the reference solver."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recuse.krelation.build import from_owner_sets
from recuse.krelation.relation import doubles_around
from recuse.solver.reference import reference
from recuse.solver.separate import SeparatePrograms

WIDTH = 1e-3
loads = st.lists(st.integers(1, 40), max_size=8)
taus = st.sampled_from([0.25, 1.0, 17 / 6, 8.0, 22.5])


def both(loads):
    weights = np.array(loads, np.int64)
    names = np.arange(len(loads)).reshape(-1, 1)
    relation = from_owner_sets(weights, names, names=range(len(loads)), signed=False)
    judge = reference(relation.positive, relation.participants)
    return SeparatePrograms(*doubles_around(weights), lambda: judge), judge


@given(loads, taus)
def test_closed_forms_are_what_the_reference_finds(loads, tau):
    found, judge = both(loads)
    assert found.largest_load() == judge.largest_load()
    for one, other in (
        (found.truncated(tau, WIDTH), judge.truncated(tau, WIDTH)),
        (found.withdrawals(tau, WIDTH), judge.withdrawals(tau, WIDTH)),
        (found.strict_withdrawals(tau, WIDTH), judge.strict_withdrawals(tau, WIDTH)),
    ):
        assert one.width <= WIDTH
        assert max(one.low, other.low) <= min(one.high, other.high) + 1e-9
    assert found.index(1.0, 0.25, WIDTH) == judge.index(1.0, 0.25, WIDTH)
    exact = (Fraction(1), Fraction(1, 4), 2)
    assert found.integer_index(*exact) == judge.integer_index(*exact)


def test_loads_that_doubles_do_not_tell_apart_are_left_to_the_solver():
    close = 2**60
    found, judge = both([close, close + 1])
    tau = float(close)
    assert found.strict_withdrawals(tau, WIDTH).width <= WIDTH
    assert found.strict_withdrawals(tau, WIDTH) == judge.strict_withdrawals(tau, WIDTH)


def test_nobody_is_no_program():
    found, _ = both([])
    assert found.truncated(1.0, WIDTH).high == 0
    assert found.largest_load() == 0
