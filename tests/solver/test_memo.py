"""Programs that remember: the same answers, and nothing solved twice."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse.solver.interval import Interval
from recuse.solver.memo import Memoised
from recuse.solver.reference import reference
from support.neighbours import clique
from support.profiles import examples

RELATION = clique(7)
EXACT = reference(RELATION.positive, RELATION.participants)
WIDTHS = st.sampled_from([1e-6, 0.01, 1.0])


@dataclass
class Counted:
    """Programs that note every question, and answer as loosely as they may."""

    asked: list[tuple[float, float]] = field(default_factory=list)

    def truncated(self, tau, width):
        self.asked.append((tau, width))
        exact = EXACT.truncated(tau, 1e-7)
        return Interval(exact.low - 0.4 * width, exact.high + 0.4 * width)

    def withdrawals(self, tau, width, stop_above=float("inf")):
        self.asked.append((tau, width))
        exact = EXACT.withdrawals(tau, 1e-7)
        if exact.low > stop_above:
            return Interval(stop_above + (exact.low - stop_above) / 2, 1e9)
        return Interval(exact.low - 0.4 * width, exact.high + 0.4 * width)


@settings(max_examples=examples(40))
@given(
    st.lists(
        st.tuples(st.sampled_from([1.0, 2.0, 5.0, 9.0, 18.0]), WIDTHS, st.floats(0, 8)),
        min_size=1,
        max_size=12,
    )
)
def test_what_is_remembered_is_as_good_as_what_was_asked_for(questions):
    programs = Memoised(Counted())
    for tau, width, stop_above in questions:
        answer, exact = programs.truncated(tau, width), EXACT.truncated(tau, 1e-7)
        assert answer.low <= exact.high
        assert exact.low <= answer.high
        assert answer.width <= width
        count, exact = programs.withdrawals(tau, width, stop_above), EXACT.withdrawals(tau, 1e-7)
        assert count.low <= exact.high
        assert exact.low <= count.high
        assert count.width <= width or count.low > stop_above


def test_a_narrow_interval_serves_where_a_wide_one_is_asked_for():
    inner = Counted()
    programs = Memoised(inner)
    assert programs.truncated(5.0, 0.01) is programs.truncated(5.0, 1.0)
    assert inner.asked == [(5.0, 0.01)]
    assert programs.truncated(5.0, 1e-6).width <= 1e-6
    assert len(inner.asked) == 2


def test_many_withdrawals_at_a_larger_bound_are_many_here():
    inner = Counted()
    programs = Memoised(inner)
    many = programs.withdrawals(5.0, 0.01)
    assert many.low > 2
    assert programs.withdrawals(1.0, 0.01, stop_above=2.0).low == many.low
    assert len(inner.asked) == 1
    assert programs.withdrawals(1.0, 0.01, stop_above=1e6).width <= 0.01
    assert programs.withdrawals(9.0, 0.01).width == pytest.approx(0.008, abs=1e-3)
    assert len(inner.asked) == 3
