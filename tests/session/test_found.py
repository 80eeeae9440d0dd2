"""Keys that nobody listed, end to end: released ends, keys found with δ, what is said and what is charged."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from fractions import Fraction

import duckdb
import pytest

from recuse.errors import BudgetError, ParameterError, QueryError
from recuse.policy import Policy
from recuse.session.domain import draft_domain
from recuse.session.session import Session, connect

POLICY = """
[[protect]]
table = "person"
key = ["id"]
[[link]]
table = "visit"
column = ["person"]
to = "person"
[[link]]
table = "visit"
column = ["doctor"]
to = "doctor"
[[protect]]
table = "doctor"
key = ["id"]
[[link]]
table = "bill"
column = ["person"]
to = "person"
[budget]
epsilon = 1000
"""
GRANTED = POLICY + "delta = 0.0001\n"
MADE = """
CREATE TABLE person (id INTEGER PRIMARY KEY, city VARCHAR, born DATE NOT NULL);
CREATE TABLE doctor (id INTEGER PRIMARY KEY);
CREATE TABLE visit (person INTEGER, doctor INTEGER, ward VARCHAR);
CREATE TABLE bill (person INTEGER, kind VARCHAR, day DATE);
INSERT INTO person SELECT i,
    CASE WHEN i = 7 THEN 'Nowhere' WHEN i % 3 = 0 THEN NULL ELSE 'Town' || (i % 3) END,
    DATE '1970-01-01' + CAST(i % 7300 AS INTEGER) FROM range(9000) r(i);
INSERT INTO doctor SELECT i FROM range(3000) r(i);
INSERT INTO visit SELECT i, i % 3000, CASE WHEN i = 7 THEN 'alone' ELSE 'ward' END FROM range(9000) r(i);
INSERT INTO bill SELECT i % 9000, CASE WHEN i = 7 THEN 'rare' WHEN i % 2 = 0 THEN 'even' ELSE 'odd' END,
    CASE WHEN i % 10 = 0 THEN NULL ELSE DATE '2024-01-01' + CAST(i % 60 AS INTEGER) END
    FROM range(18000) r(i);
"""


@pytest.fixture(scope="module")
def data() -> Iterator[duckdb.DuckDBPyConnection]:
    made = duckdb.connect(":memory:")
    made.execute(MADE)
    yield made
    made.close()


@pytest.fixture
def session(data) -> Iterator[Session]:
    with connect(data, Policy.parse(GRANTED)) as opened:
        yield opened


def groups(answer) -> dict:
    return {row.keys: float(row.cells[0].value) for row in answer}


def test_released_ends_hold_the_years_of_many_people(session):
    answer = session.ask("SELECT year(born), COUNT(*) FROM person GROUP BY 1", epsilon=8)
    found = groups(answer)
    assert {(year,) for year in range(1970, 1990)} <= set(found)
    assert abs(found[1975,] - 366) < 60
    assert answer.delta == 0
    assert any("between ends that were released" in note for note in answer.notes)
    assert "groups    " in str(answer)
    assert not answer.stand_ins


def test_ends_that_too_few_people_decide_are_no_groups_and_said(session):
    found = [
        session.ask(f"SELECT year(born), COUNT(*) FROM person WHERE id < {-k} GROUP BY 1", epsilon=1)
        for k in range(5)
    ]
    empty = [answer for answer in found if len(answer) == 0]
    assert empty
    assert all(any("too few people" in note for note in answer.notes) for answer in empty)


def test_null_is_a_group_where_a_key_may_be_null(session):
    found = groups(session.ask("SELECT month(day), COUNT(*) FROM bill GROUP BY 1", epsilon=8))
    assert list(found) == [(month,) for month in range(1, 13)] + [(None,)]
    assert abs(found[None,] - 1800) < 100


FINDING = {
    "SELECT city, COUNT(*) FROM person GROUP BY city": {("Town1",), ("Town2",), (None,)},
    "SELECT kind, COUNT(*) FROM bill GROUP BY kind": {("even",), ("odd",)},
    "SELECT ward, COUNT(*) FROM visit GROUP BY ward": {("ward",)},
}
"""nobody has two keys; one owner a row; several owners: rare keys are not told"""


@pytest.mark.parametrize("text", FINDING)
def test_keys_are_found_that_many_have_and_none_that_one_has(text, session):
    answer = session.ask(text, epsilon=8, delta="1e-6")
    assert set(groups(answer)) == FINDING[text]
    assert answer.delta == Fraction(1, 10**6)
    assert "may be missing" in str(answer)
    again = session.ask(text, epsilon=8, delta="1e-6")
    assert again.stored
    assert groups(again) == groups(answer)
    assert session.budget.spent_delta == Fraction(1, 10**6)
    assert session.budget.spent == 8


def test_the_shares_of_epsilon_add_up(session):
    for text in (*FINDING, "SELECT kind, year(day), COUNT(*), SUM(person) FROM bill GROUP BY 1, 2"):
        question = session.question(text, 1, delta="1e-6")
        asked = [part.mechanism.epsilon for q in (question, *question.firsts) for part in q.parts]
        from recuse.session.shares import Split

        assert sum(asked) + Split.of(question.plan, question.loss).finding == 1


def test_keys_beside_listed_and_released_ones_are_combined(session):
    text = "SELECT kind, month(day) AS m, COUNT(*) FROM bill WHERE day < '2024-03-01' GROUP BY 1, 2"
    found = groups(session.ask(text, epsilon=8, delta="1e-6"))
    assert {key for key, _ in found} == {"even", "odd"}
    assert {month for _, month in found} == set(range(1, 13))


def test_without_delta_the_refusal_says_what_is_needed(session, data):
    text = "SELECT kind, COUNT(*) FROM bill GROUP BY kind"
    with pytest.raises(QueryError) as asked:
        session.ask(text, epsilon=1)
    assert "delta = 1e-6" in str(asked.value.hint)
    with connect(data, Policy.parse(POLICY)) as ungranted:
        with pytest.raises(QueryError) as refused:
            ungranted.ask(text, epsilon=1, delta="1e-6")
        assert "[budget] delta" in str(refused.value.hint)
    with pytest.raises(QueryError, match="no key of this question"):
        session.ask("SELECT COUNT(*) FROM bill", epsilon=1, delta="1e-6")
    with pytest.raises(QueryError, match="too large"):
        session.ask(text, epsilon="0.0001", delta="1e-4")
    assert session.budget.spent == 0


def test_the_last_delta_is_granted_once(session):
    text = "SELECT kind, COUNT(*) FROM bill WHERE person > {} GROUP BY kind"
    session.ask(text.format(1), epsilon=1, delta="1e-4")
    with pytest.raises(BudgetError, match="delta"):
        session.ask(text.format(2), epsilon=1, delta="1e-6")


def test_no_candidates_are_no_groups(session):
    answer = session.ask("SELECT kind, COUNT(*) FROM bill WHERE person < 0 GROUP BY kind", 1, delta="1e-6")
    assert len(answer) == 0


def test_times_that_no_calendar_shows_are_left_out_and_nothing_fails(data):
    """Many people at infinity: what is told of them must not fail after the charge."""
    data.execute("""
        CREATE OR REPLACE TABLE bill AS SELECT i AS person, CASE i % 4 WHEN 0 THEN TIMESTAMP 'infinity'
            WHEN 1 THEN TIMESTAMP '-infinity' WHEN 2 THEN TIMESTAMP '20000-01-01'
            ELSE TIMESTAMP '2020-01-01' END AS at_ FROM range(900) r(i)
    """)
    with connect(data, Policy.parse(GRANTED)) as session:
        answer = session.ask("SELECT at_, COUNT(*) FROM bill GROUP BY at_", epsilon=8, delta="1e-6")
    assert list(groups(answer)) == [(datetime(2020, 1, 1),)]


@pytest.mark.parametrize(
    ("text", "delta"),
    [
        ("SELECT city, COUNT(*) FROM person GROUP BY city", "1e-10"),
        ("SELECT doctor, MAX(person) FROM visit GROUP BY doctor", None),
    ],
)
def test_an_epsilon_whose_parts_would_be_too_small_is_refused_before_the_charge(text, delta, session):
    text = text.replace("SELECT doctor, ", "SELECT doctor // 1, ").replace("BY doctor", "BY doctor // 1")
    with pytest.raises(ParameterError, match="out of range"):
        session.ask(text, epsilon="0.000003", delta=delta)
    assert not session.budget.spent


def test_a_domain_is_drafted_from_the_data(tmp_path):
    path = tmp_path / "clinic.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute(MADE)
    lines = list(draft_domain(path, Policy.parse(POLICY), "bill.kind"))
    assert lines[-1] == 'values = ["even", "odd", "rare"]'
    assert "sees the list" in lines[0]
    assert Policy.parse(POLICY + "\n".join(lines)).domain_values()["bill", "kind"] == ("even", "odd", "rare")
    for named in ("person.id", "bill.person", "visit.doctor"):
        with pytest.raises(ParameterError, match="names individuals"):
            list(draft_domain(path, Policy.parse(POLICY), named))
    with pytest.raises(ParameterError, match="no such column"):
        list(draft_domain(path, Policy.parse(POLICY), "bill.colour"))
