"""The secant method holds the index of any falling count, however loosely the count is known."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from recuse.annotation import TRUE
from recuse.krelation.build import expressions
from recuse.krelation.relation import Tuples
from recuse.solver import limits
from recuse.solver.fast import fast_programs
from recuse.solver.index.secant import secant_index
from recuse.solver.interval import Interval
from recuse.solver.lp import whole_tuples
from support.judges import relations as judge
from support.strategies import relations

LARGEST, THETA = 64.0, 0.5
betas = st.sampled_from([0.02, 0.1, 0.4])


def falling(power: float, most: float, tau: float) -> float:
    """Return a count that falls from `most` at 0 to nothing at the largest load."""
    return most * (1 - min(1.0, tau / LARGEST) ** power)


def crossing(power: float, most: float, beta: float) -> float:
    """Return where the count meets s, by bisection."""
    low, high = 0.0, math.log(LARGEST / THETA) / beta
    for _ in range(200):
        middle = (low + high) / 2
        above = falling(power, most, THETA * math.exp(beta * middle)) > middle
        low, high = (middle, high) if above else (low, middle)
    return low


@given(
    power=st.sampled_from([0.3, 1.0, 3.0]),
    most=st.floats(1.0, 500.0),
    beta=betas,
    start=st.floats(0.0, 1.0),
    below=st.floats(0.0, 0.4),
    above=st.floats(0.0, 0.4),
)
def test_it_holds_where_the_count_meets_s(power, most, beta, start, below, above):
    def count(tau: float) -> Interval:
        truth = falling(power, most, tau)
        return Interval(truth - below, truth + above)

    first = start * math.log(LARGEST / THETA) / beta
    found = secant_index(count, first, LARGEST, THETA, beta, 1.0)
    truth = crossing(power, most, beta)
    assert found is not None
    assert found.low <= truth + 1e-9
    assert found.high >= truth - 1e-9
    assert found.width <= 1.0


def test_a_count_that_is_known_too_loosely_does_not_close():
    assert secant_index(lambda tau: Interval(10.0, 14.0), 5.0, LARGEST, THETA, 0.1, 1.0) is None


@pytest.fixture(autouse=True, scope="module")
def crowded():
    """Make every relation a crowd, and count how often N is asked for whole tuples."""
    asked, withdrawals = [], whole_tuples.withdrawals
    with pytest.MonkeyPatch.context() as patched:
        for name in ("CROWD", "MEETING", "SEEN_AT_ONCE"):
            patched.setattr(limits, name, 0)
        patched.setattr(whole_tuples, "withdrawals", lambda *how: (asked.append(how), withdrawals(*how))[1])
        yield asked


@given(relation=relations(), beta=betas)
def test_the_index_of_a_crowd_is_where_the_judges_count_meets_it(relation, beta):
    programs = fast_programs(relation.positive, relation.participants)
    assume(programs.largest_load() > THETA)
    rows = [(k, q) for k, q in expressions(relation) if k != TRUE]
    found = programs.index(THETA, beta, 0.25)
    assert judge.withdrawals(rows, THETA * math.exp(beta * found.low)) >= found.low - 1e-6
    assert judge.withdrawals(rows, THETA * math.exp(beta * found.high)) <= found.high + 1e-6
    assert found.width <= 0.25


def test_the_way_of_crowds_was_taken(crowded):
    programs = fast_programs(*clique_of_triples())
    crowded.clear()
    programs.index(THETA, 0.1, 0.25)
    assert crowded


def clique_of_triples() -> tuple[Tuples, int]:
    """Return the triples of eight participants."""
    members = np.array([*combinations(range(8), 3)])
    count = len(members)
    return Tuples(
        np.ones(count, np.int64), (np.arange(count + 1), 3 * np.arange(count + 1)), members.ravel()
    ), 8
