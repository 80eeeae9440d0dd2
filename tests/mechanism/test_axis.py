"""What is public of values: priors have every number, fall away from the middle, and end in "nothing"."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.mechanism.axis import DAYS, LARGEST, LEAD, NUMBERS, SECONDS, Middle, Stretch, is_nothing, overlaid

END = 2**LARGEST - 1
middles = st.builds(
    Middle,
    st.one_of(st.integers(-5, 5), st.integers(-(10**9), 10**9), st.integers(-END // 2, END // 2)),
    st.one_of(st.integers(0, 5), st.integers(0, END)),
)


def density(pieces: list[Stretch], t: int) -> Fraction:
    (found,) = [piece.density for piece in pieces if piece.first <= t <= piece.last]
    return found


@given(middles, st.sampled_from([NUMBERS, DAYS, SECONDS]))
def test_every_prior_has_every_number_once(middle, axis):
    for pieces, first in ((axis.far(), -END), (axis.sizes(), 0), (axis.near(middle), -END)):
        assert pieces[0].first == first
        assert pieces[-1].last == END
        assert all(one.last + 1 == other.first for one, other in pairwise(pieces))
        assert all(piece.density > 0 for piece in pieces)


@given(middles)
def test_around_a_middle_days_fall_with_the_distance_and_numbers_across_zero(middle):
    days = DAYS.near(middle)
    places = [t for t in (middle.at + step for step in (0, 1, 9, 99, 10**6)) if t <= END]
    assert [density(days, t) for t in places] == sorted((density(days, t) for t in places), reverse=True)
    if middle.at > 0:
        assert density(NUMBERS.near(middle), middle.at) > density(NUMBERS.near(middle), -middle.at)


def test_where_nothing_is_known_the_ends_have_most_of_the_weight():
    pieces = NUMBERS.far()
    ends = sum(piece.mass for piece in pieces if is_nothing(piece.first) and is_nothing(piece.last))
    rest = sum(piece.mass for piece in pieces) - ends
    assert ends == LEAD * rest
    assert not is_nothing(2**60)


def test_priors_are_added_up():
    one = [Stretch(0, 4, Fraction(1)), Stretch(5, 9, Fraction(2))]
    other = [Stretch(0, 1, Fraction(10)), Stretch(2, 9, Fraction(20))]
    found = overlaid(one, other)
    assert [density(found, t) for t in (0, 1, 2, 4, 5, 9)] == [11, 11, 21, 21, 22, 22]
    assert pytest.approx(float(sum(p.mass for p in found))) == 15 + 180
