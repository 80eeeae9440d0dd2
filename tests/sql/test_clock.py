"""The present is a constant: public, one for the whole question, and part of what is asked."""

from __future__ import annotations

from datetime import datetime

import pytest

from recuse.errors import QueryError
from recuse.sql.clock import present, tells_time
from recuse.sql.compile import compile_query
from recuse.sql.identity import meaning
from recuse.sql.plan import Plan
from support.sql.bazaar import POLICY, catalogue

NOON = datetime(2024, 2, 29, 12)
RECENT = "SELECT COUNT(*) FROM orders WHERE o_date >= {} - INTERVAL 30 DAY"


def asked(sql: str, moment: datetime = NOON) -> Plan:
    return compile_query(sql, POLICY, catalogue(), moment)


@pytest.mark.parametrize("word", ["CURRENT_DATE", "current_date", "today()", "now()::date"])
def test_a_word_for_today_is_that_day(word):
    plain = asked(RECENT.format("DATE '2024-02-29'"))
    assert meaning(asked(RECENT.format(word))) == meaning(plain)


@pytest.mark.parametrize("word", ["now()", "CURRENT_TIMESTAMP", "get_current_timestamp()", "localtimestamp"])
def test_a_word_for_now_is_that_moment(word):
    plain = asked(RECENT.format("TIMESTAMP '2024-02-29 12:00:00'"))
    assert meaning(asked(RECENT.format(word))) == meaning(plain)


def test_tomorrow_it_is_another_question_and_later_today_the_same():
    sql = RECENT.format("CURRENT_DATE")
    assert meaning(asked(sql)) == meaning(asked(sql, NOON.replace(hour=13)))
    assert meaning(asked(sql)) != meaning(asked(sql, NOON.replace(month=3, day=1)))
    assert meaning(asked(RECENT.format("now()"))) != meaning(
        asked(RECENT.format("now()"), NOON.replace(second=1))
    )


def test_an_age_is_counted_from_today_on():
    months = "SELECT COUNT(*) FROM orders WHERE EXTRACT(MONTH FROM {}) > 3"
    plain = asked(months.format("AGE(DATE '2024-02-29', o_date)"))
    assert meaning(asked(months.format("AGE(o_date)"))) == meaning(plain)
    assert meaning(asked(months.format("AGE(o_date)"), NOON.replace(day=1))) != meaning(plain)


def test_explain_says_which_day_it_is():
    assert any(
        "CURRENT_DATE is 2024-02-29" in line for line in asked(RECENT.format("CURRENT_DATE")).explanation.how
    )


def test_days_since_the_last_order_are_computed_from_what_is_released():
    assert asked("SELECT CURRENT_DATE - MAX(o_date) FROM orders").columns


def test_chance_stays_refused():
    with pytest.raises(QueryError, match="the function random is not among the accepted ones"):
        asked("SELECT COUNT(*) FROM orders WHERE random() < 0.5")


def test_the_present_is_in_whole_seconds_and_who_does_not_speak_of_it_is_asked_at_any_time():
    assert present().microsecond == 0
    assert tells_time("SELECT COUNT(*) FROM t WHERE d < Current_Date")
    assert not tells_time("SELECT COUNT(*) FROM orders WHERE o_date < '2020-01-01'")
