"""What notebooks show: every text in it is escaped, pictures stay within their frame, budgets are drawn."""

from __future__ import annotations

import re
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from recuse.html import WIDTH, fields, interval_svg, share_svg
from recuse.ledger.entries import Balance


def test_what_is_said_is_escaped_and_a_repeated_head_is_left_out():
    shown = fields([("a", "<b>"), ("a", "second"), ("b", "third")])
    assert "&lt;b&gt;" in shown
    assert shown.count(">a</th>") == 1
    assert shown.count("<tr") == 3


@given(st.lists(st.fractions(-1000, 1000), min_size=3, max_size=3))
def test_an_interval_is_drawn_within_its_frame(ends):
    low, value, high = sorted(ends)
    drawn = interval_svg(low, value, high, (min(low, Fraction(0)), max(high, Fraction(0))))
    left, right = map(float, re.search(r"M([-\d.]+) [\d.]+H([-\d.]+)", drawn).groups())
    middle = float(re.search(r'cx="([-\d.]+)"', drawn)[1])
    assert 0 <= left <= middle <= right <= WIDTH


def test_a_budget_is_drawn_as_far_as_it_is_spent():
    filled = [float(re.findall(r'width="([\d.]+)"', share_svg(Fraction(n, 4)))[2]) for n in range(5)]
    assert filled == sorted(filled)
    assert filled[0] == 0
    assert abs(filled[2] - WIDTH / 2) <= 1


def test_a_balance_shows_delta_where_there_is_any():
    assert "delta" not in Balance(Fraction(10), Fraction(1))._repr_html_()
    shown = Balance(Fraction(10), Fraction(1), Fraction(1, 1000), Fraction(0))._repr_html_()
    assert ">9<" in shown
    assert ">delta left<" in shown
