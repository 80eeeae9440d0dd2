"""Dates, units and moving: examples, the years 1 to 9999, refusals."""

from __future__ import annotations

import pytest

from recuse.scalars import build, dates, literals, types
from recuse.scalars.expression import Variable
from recuse.scalars.function import Mistyped
from support.scalars.examples import date, gives, moment, time

D, T, N = (Variable("t", name, types.stored(name)) for name in ("DATE", "TIMESTAMP", "BIGINT"))
NOON = moment("2024-02-29 12:34:56.789")


@pytest.mark.parametrize(
    ("name", "arguments", "wanted"),
    [
        ("year", (NOON,), 2024),
        ("quarter", (NOON,), 1),
        ("month", (NOON,), 2),
        ("day", (NOON,), 29),
        ("dayofweek", (NOON,), 4),
        ("isodow", (NOON,), 4),
        ("dayofyear", (NOON,), 60),
        ("week", (date("2021-01-03"),), 53),
        ("isoyear", (date("2021-01-03"),), 2020),
        ("yearweek", (date("2021-01-03"),), 202053),
        ("century", (date("2000-12-31"),), 20),
        ("decade", (date("1999-12-31"),), 199),
        ("millennium", (date("2001-01-01"),), 3),
        ("hour", (NOON,), 12),
        ("hour", (time("24:00:00"),), 24),
        ("minute", (NOON,), 34),
        ("second", (NOON,), 56),
        ("millisecond", (NOON,), 56_789),
        ("microsecond", (NOON,), 56_789_000),
        ("epoch", (moment("1970-01-01 00:00:01.5"),), 1.5),
        ("epoch", (moment("6000-03-03 12:34:56.789001"),), 127179894896.789),
        ("epoch_ms", (moment("1970-01-01 00:00:01.5"),), 1500),
        ("epoch_us", (moment("1970-01-01 00:00:01.5"),), 1_500_000),
        ("dayname", (NOON,), "Thursday"),
        ("monthname", (NOON,), "February"),
        ("last_day", (date("2023-02-01"),), "2023-02-28"),
        ("strftime", (NOON, "%Y-%m-%d %H:%M:%S.%f"), "2024-02-29 12:34:56.789000"),
        (
            "strftime",
            (NOON, "%-d. %B %y, %A %I %p %j %a %b %u %w %-m 100%%"),
            "29. February 24, Thursday 12 PM 060 Thu Feb 4 4 2 100%",
        ),
        ("strftime", (date("0005-01-09"), "%Y"), "0005"),
        ("make_date", (2024, 2, 29), "2024-02-29"),
        ("make_date", (2023, 2, 29), None),
        ("make_date", (-5, 1, 1), None),
        ("date_diff", ("month", date("2024-01-31"), date("2024-02-01")), 1),
        ("date_diff", ("week", date("2024-01-07"), date("2024-01-08")), 1),
        ("date_diff", ("hour", moment("2024-01-01 00:59"), moment("2024-01-01 01:01")), 1),
        ("age", (date("2024-03-01"), date("2024-02-01")), 29),
        ("+", (date("2024-02-28"), 2), "2024-03-01"),
        ("+", (date("9999-12-31"), 1), "10000-01-01"),
        ("-", (date("2024-03-01"), 1), "2024-02-29"),
        ("-", (date("2024-03-01"), date("2024-02-01")), 29),
        ("shift", (date("2024-01-31"), 1, "month"), "2024-02-29 00:00:00"),
        ("shift", (NOON, -90, "minutes"), "2024-02-29 11:04:56.789"),
    ],
)
def test_a_date(name, arguments, wanted):
    open_ = next(place for place, one in enumerate(arguments) if name != "date_diff" or place == 1)
    assert gives(name, *arguments, open=open_ if name != "date_diff" else 1) == wanted


@pytest.mark.parametrize(
    ("unit", "wanted"),
    [
        ("year", "2024-01-01 00:00:00"),
        ("quarter", "2024-01-01 00:00:00"),
        ("mon", "2024-02-01 00:00:00"),
        ("week", "2024-02-26 00:00:00"),
        ("day", "2024-02-29 00:00:00"),
        ("hour", "2024-02-29 12:00:00"),
        ("second", "2024-02-29 12:34:56"),
        ("century", "2000-01-01 00:00:00"),
    ],
)
def test_the_beginning_of_a_unit(unit, wanted):
    assert gives("date_trunc", unit, NOON, open=1) == wanted


@pytest.mark.parametrize("name", [*dates.FIELDS, "last_day", "dayname", "epoch", "epoch_ms"])
def test_a_date_after_the_year_9999_has_no_parts(name):
    later = build.apply("+", date("9999-12-31"), literals.number("1"))
    assert gives(name, later) is None


@pytest.mark.parametrize(
    ("name", "arguments", "problem"),
    [
        ("year", (N,), "a date or timestamp is needed"),
        ("date_trunc", (literals.text("fortnight"), D), "the unit fortnight is not understood"),
        ("date_diff", (literals.text("microsecond"), D, D), "is not understood"),
        ("strftime", (D, literals.text("%Q")), "the code %Q is not understood"),
        ("strftime", (D, literals.text("%")), "the code % is not understood"),
        ("strftime", (D, T), "written down"),
        ("shift", (D, N, literals.text("day")), "written down"),
        ("shift", (D, literals.number("20000"), literals.text("year")), "longer than ten thousand years"),
        ("-", (T, T), "number is needed"),
    ],
)
def test_what_is_no_date_is_refused(name, arguments, problem):
    with pytest.raises(Mistyped, match=problem):
        build.apply(name, *arguments)
