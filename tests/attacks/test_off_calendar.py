"""Times that no calendar has: public ones are refused before the charge, private ones say nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache

import duckdb
import pytest

from recuse.errors import QueryError
from recuse.policy import Policy
from recuse.session.session import Session, connect
from support.profiles import some

POLICY = Policy.parse(
    '[[protect]]\ntable = "person"\nkey = ["id"]\n[[public]]\ntable = "calendar"\n'
    "[budget]\nepsilon = 1000\ndelta = 0.001\n"
)
GROUPED = (
    "SELECT d, COUNT(*) FROM calendar JOIN person ON born = d GROUP BY d",
    "SELECT t, COUNT(*) FROM calendar JOIN person ON seen = t GROUP BY t",
)
LISTED = ("SELECT d FROM calendar", "SELECT t FROM calendar")
PRIVATE = (
    "SELECT COUNT(*) FROM person WHERE born < (SELECT MAX(d) FROM calendar)",
    "SELECT COUNT(*) FROM person WHERE precise IN (SELECT t FROM calendar)",
    "SELECT COUNT(DISTINCT precise) FROM person",
    "SELECT MAX(born), MIN(seen) FROM person",
    "SELECT quantile_cont(seen, 0.9) FROM person",
    "SELECT date_trunc('year', seen), COUNT(*) FROM person GROUP BY 1",
)
ENDLESS = ("'infinity'", "'-infinity'", "'4000-01-01 (BC)'", "'200000-01-01'")


def made_session(*, private: str | None = None, public: str | None = None) -> Session:
    """Return a session on people and a calendar, one row of either at a time that is given."""
    made = duckdb.connect(":memory:", config={"threads": 1})
    made.execute("CREATE TABLE person (id INTEGER, born DATE, seen TIMESTAMP, precise TIMESTAMP_NS)")
    made.execute("CREATE TABLE calendar (d DATE, t TIMESTAMP)")
    day = "DATE '2020-01-01' + i::INTEGER"
    made.execute(f"INSERT INTO person SELECT i, {day}, {day}, ({day})::TIMESTAMP FROM range(20) r(i)")
    made.execute(f"INSERT INTO calendar SELECT {day}, {day} FROM range(3) r(i)")
    if private is not None:
        made.execute(f"INSERT INTO person VALUES (99, {private}, {private}, '2262-04-11')")
    if public is not None:
        made.execute(f"INSERT INTO calendar VALUES ({public}, {public})")
    return connect(made, POLICY)


@pytest.fixture(scope="module")
def opened() -> Iterator[Callable[..., Session]]:
    """Yield what opens a session, one for each pair of rows."""
    with ExitStack() as open_ones:
        yield cache(lambda **rows: open_ones.enter_context(made_session(**rows)))


@pytest.mark.parametrize("private", [None, "'infinity'"])
@pytest.mark.parametrize("public", ENDLESS)
@pytest.mark.parametrize("sql", some([*GROUPED, *LISTED], 0.5))
def test_a_public_row_off_the_calendar_is_refused_before_the_charge(opened, sql, public, private):
    session = opened(public=public, private=private)
    spent = session.budget.spent
    with pytest.raises(QueryError, match="outside of the years 1 to 9999"):
        session.ask(sql, 1)
    assert session.budget.spent == spent


@pytest.mark.parametrize("sql", some([*GROUPED, *PRIVATE], 0.5))
def test_a_private_row_off_the_calendar_is_answered_like_any_other(opened, sql):
    for private in (None, *ENDLESS):
        session = opened(private=private)
        spent = session.budget.spent
        session.ask(sql, 1)
        assert session.budget.spent == spent + 1


def test_the_hint_leads_to_an_answer(opened):
    asked = "SELECT d FROM calendar WHERE d BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'"
    assert len(opened(public="'infinity'").ask(asked, 1).rows) == 3
