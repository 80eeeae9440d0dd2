"""Where ledgers lie: two for the same people are not made without a word, and one may serve several."""

from __future__ import annotations

import inspect
import warnings

import pandas as pd
import pytest

import recuse
from recuse.errors import ParameterError
from recuse.ledger import Ledger
from recuse.policy import Policy
from recuse.session.place import LedgerLocation, SecondBudgetWarning, ledgers_of
from recuse.session.session import connect
from recuse.session.statistics import Statistics
from support.shop import COUNT, POLICY, make_shop

SCHOOL = Policy.parse(
    """
[[protect]]
kind = "pupil"

[[link]]
table = "friends"
column = ["a"]
to = "pupil"

[[link]]
table = "friends"
column = ["b"]
to = "pupil"

[budget]
epsilon = 9
"""
)
FRIENDS = "SELECT COUNT(*) FROM friends"


@pytest.fixture
def school(tmp_path):
    folder = tmp_path / "school"
    folder.mkdir()
    (folder / "friends.csv").write_text("a,b\n1,2\n2,3\n")
    return folder


def by_folder(school, ledger=None):
    with connect(school, SCHOOL, ledger) as session:
        return session.ask(FRIENDS, 1)


def by_file(school, ledger=None):
    with recuse.graph(school / "friends.csv", ledger=ledger) as session:
        return session.count("edge", protect="node", epsilon=1)


WAYS = {by_folder: "school.ledger", by_file: "school/friends.csv.ledger"}


@pytest.mark.parametrize("first", WAYS)
def test_a_second_ledger_for_the_same_people_is_said(school, first):
    (second,) = set(WAYS) - {first}
    with warnings.catch_warnings():
        warnings.simplefilter("error", SecondBudgetWarning)
        first(school)
    own = school.parent / WAYS[first]
    with pytest.warns(SecondBudgetWarning, match=r"what \S+ has spent .* is not counted") as caught:
        second(school)
    assert str(own) in str(caught[0].message)
    assert ledgers_of(school) == sorted(ledgers_of(school / "friends.csv"), reverse=True)


@pytest.mark.parametrize("first", WAYS)
def test_one_ledger_for_both_is_one_budget_and_nothing_is_said(school, first):
    (second,) = set(WAYS) - {first}
    with warnings.catch_warnings():
        warnings.simplefilter("error", SecondBudgetWarning)
        granted = first(school).remaining
        assert second(school, school.parent / WAYS[first]).remaining == granted - 1


def test_files_that_are_no_tables_of_the_folder_have_budgets_of_their_own(school, tmp_path):
    by_folder(school)
    make_shop(school)
    with warnings.catch_warnings():
        warnings.simplefilter("error", SecondBudgetWarning)
        connect(school / "shop.duckdb", Policy.parse(POLICY)).ask(COUNT, 1)


def test_data_is_private_under_any_of_its_names(school):
    by_file(school)
    with connect({"friends": pd.DataFrame({"a": [1], "b": [2]})}, SCHOOL) as session:
        with pytest.raises(ParameterError, match="has a ledger"):
            session.estimate(FRIENDS, 1, like=school)
        assert session.estimate(FRIENDS, 1, like=Statistics({"friends": 9, "pupil": 5}), runs=2)


def ask_a_session(school):
    with connect(school, SCHOOL) as session:
        session.ask(FRIENDS, 1)  # warns


def look_at_the_budget(school):
    with connect(school, SCHOOL) as session:
        assert session.budget  # warns


def charge_in_two_halves(school):
    with connect(school, SCHOOL) as session:
        session.charge(session.question(FRIENDS, 1))  # warns


def count_in_a_graph(school):
    with recuse.graph(school / "friends.csv") as session:
        session.count("edge", protect="node", epsilon=1)  # warns


def ask_a_cursor(school):
    with recuse.dbapi.connect(school, policy=SCHOOL, epsilon=1) as connection:
        connection.cursor().execute(FRIENDS)  # warns


@pytest.mark.parametrize(
    "ask", [ask_a_session, look_at_the_budget, charge_in_two_halves, count_in_a_graph, ask_a_cursor]
)
def test_the_warning_names_the_line_that_asked(school, ask):
    """However many functions of ours lie between."""
    first = by_folder if ask is count_in_a_graph else by_file
    first(school)
    with pytest.warns(SecondBudgetWarning) as caught:
        ask(school)
    lines, start = inspect.getsourcelines(ask)
    (asking,) = (start + place for place, line in enumerate(lines) if line.endswith("# warns\n"))
    assert [(warning.filename, warning.lineno) for warning in caught] == [(__file__, asking)]


def test_to_close_twice_does_no_harm(school):
    sessions = connect(school, SCHOOL), recuse.graph(school / "friends.csv", ledger=school / "x.ledger")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecondBudgetWarning)
        for session in sessions:
            assert session.budget.spent == 0
    for session in sessions:
        with session:
            session.close()
        session.close()
        assert not session.has_ledger


# ------------------------------------------------------------------ one ledger, several sources


def test_a_stored_answer_is_given_for_its_own_source_only(tmp_path):
    ledger, values = tmp_path / "both.ledger", []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        database, policy = make_shop(tmp_path / name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SecondBudgetWarning)
            with connect(database, policy, ledger) as session:
                values.append(session.ask(COUNT, "0.5"))
                assert session.ask(COUNT, "0.5").stored
    assert [value.stored for value in values] == [False, False]
    history = Ledger.open(ledger).history()
    assert [charge.source for charge in history] == ["one/shop.duckdb", "other/shop.duckdb"]


def test_graphs_are_told_apart_too(tmp_path):
    answers = []
    for name in ("one.txt", "other.txt"):
        (tmp_path / name).write_text("1 2\n2 3\n")
        made = recuse.graph(tmp_path / name, ledger=tmp_path / "both.ledger")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SecondBudgetWarning)
            answers += [made.count("edge", protect="node", epsilon=1).stored for _ in range(2)]
    assert answers == [False, True, False, True]


def test_data_and_ledger_may_be_moved_together(tmp_path):
    (tmp_path / "here").mkdir()
    database, policy = make_shop(tmp_path / "here")
    first = connect(database, policy).ask(COUNT, 1)
    there = (tmp_path / "here").rename(tmp_path / "there")
    again = connect(there / database.name, there / policy.name).ask(COUNT, 1)
    assert (again.stored, again.value) == (True, first.value)


def test_a_ledger_stays_where_it_was_named(tmp_path, monkeypatch):
    database, policy = make_shop(tmp_path)
    monkeypatch.chdir(tmp_path)
    session = connect(database.name, policy.name, f"{database.name}.ledger")
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    session.ask(COUNT, 1)
    assert ledgers_of(database) == [session.ledger.path]
    assert repr(session) == f"<Session on {database}, ledger {database}.ledger>"


def test_names_say_where_and_nothing_of_what(tmp_path):
    folder = tmp_path / "a"
    folder.mkdir()
    assert LedgerLocation.of(folder).name == "a"
    assert LedgerLocation.of(folder / "x.csv").name == "x.csv"
    assert LedgerLocation.of(folder / "x.csv", tmp_path / "b" / "c.ledger").name == "../a/x.csv"
    assert LedgerLocation.of({"x": None}, tmp_path / "c.ledger").name == ""
    assert LedgerLocation.of(None) == LedgerLocation(None, None)
