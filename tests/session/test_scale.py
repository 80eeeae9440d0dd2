"""Sums that truncation has eaten are said to be, and foreseen where the policy states how many people."""

from __future__ import annotations

import warnings
from dataclasses import replace
from fractions import Fraction

import duckdb
import pytest

from recuse.krelation.relation import Shape
from recuse.mechanism.foreknown import Foreknown
from recuse.mechanism.mechanisms import mechanism_for
from recuse.privacy import Epsilon
from recuse.session.carried import carried, received
from recuse.session.parts import Parts
from recuse.session.scale import FewPeopleWarning, cut_cautions, reached
from recuse.session.session import connect
from recuse.session.show import number_lines
from recuse.session.stored import release_fields, release_of
from support.noise import Seeded
from support.shop import make_shop

SUM = "SELECT SUM(price) AS revenue FROM orders"
CENTS = "\n[sum]\ngranularity = 0.01\n"
PEOPLE = "\n[rows]\ncustomer = 200\n"
SIZED = '\n[[typical]]\ntable = "orders"\ncolumn = ["price"]\nvalue = 4\n'


def asked(folder, extra, epsilon):
    database, policy = make_shop(folder)
    policy.write_text(policy.read_text() + CENTS + extra)
    parts = Parts(noise=Seeded(1))
    with (
        connect(database, policy, parts=parts) as session,
        warnings.catch_warnings(record=True) as told,
    ):
        warnings.simplefilter("always")
        answer = session.ask(SUM, epsilon)
    return answer, [str(one.message) for one in told if issubclass(one.category, FewPeopleWarning)]


def test_a_sum_of_which_nothing_is_left_says_so(tmp_path):
    answer, told = asked(tmp_path, "", "0.001")
    (caution,) = answer.cautions
    assert "revenue: what anybody has beyond 0." in caution
    assert "[[typical]]" in caution
    assert caution in " ".join(" ".join(number_lines(answer, drawn=False)).split())
    assert told == []  # nobody states how many people there are
    assert received(carried(answer)).cautions == answer.cautions


def test_a_stored_answer_says_it_again(tmp_path):
    first, _ = asked(tmp_path, "", "0.001")
    database, policy = tmp_path / "shop.duckdb", tmp_path / "shop.toml"
    with connect(database, policy) as session:
        again = session.ask(SUM, "0.001")
    assert (again.stored, again.cautions) == (True, first.cautions)


def test_it_is_foreseen_from_the_number_of_people_that_the_policy_states(tmp_path):
    _, (told,) = asked(tmp_path, PEOPLE, "0.02")
    assert "with about 200 people and epsilon 0.02" in told
    assert "[[typical]]" in told


def test_and_not_where_there_are_enough(tmp_path):
    answer, told = asked(tmp_path, PEOPLE + SIZED, "2")
    assert (told, answer.cautions) == ([], ())


def test_the_warning_knows_nothing_of_rows(tmp_path):
    first = asked(tmp_path, PEOPLE, "0.02")[1]
    other = tmp_path / "empty"
    other.mkdir()
    database, policy = make_shop(other)
    with duckdb.connect(str(database)) as connection:
        connection.execute("DELETE FROM orders")
    policy.write_text(policy.read_text() + CENTS + PEOPLE)
    with connect(database, policy) as session, pytest.warns(FewPeopleWarning) as told:
        session.ask(SUM, "0.02")
    assert [str(one.message) for one in told] == first


def test_more_people_reach_farther():
    race = mechanism_for("selective", Epsilon.of("0.1"), Shape.CONJUNCTIONS, Foreknown(unit=Fraction(100)))
    found = [reached(race, people) for people in (0, 50, 500, 5_000)]
    assert found == sorted(found)
    assert found[0] == 0 < found[1] < found[2] < found[3]


def test_the_more_groups_the_less_far():
    """Theorem R11: with G groups (3/4)(G-1)/ε people are not heard at all."""
    race = mechanism_for("selective", Epsilon.of(1), Shape.CONJUNCTIONS)
    found = [reached(race, 1_000, groups) for groups in (1, 12, 300, 2_000)]
    assert found == sorted(found, reverse=True)
    assert found[0] > found[2] > found[3] == 1


def test_the_cut_is_in_the_units_of_the_answer(tmp_path):
    answer, _ = asked(tmp_path, SIZED, "2")
    release = answer.number
    assert release.cut is not None
    assert release.cut >= 1
    assert release_of(release_fields(release)) == release
    assert release_of({k: v for k, v in release_fields(release).items() if k != "cut"}).cut is None


def test_a_cut_of_a_whole_value_is_no_caution(tmp_path):
    database, policy = make_shop(tmp_path)
    with connect(database, policy) as session:
        plan = session.compile(SUM)
        (release,) = session.ask(SUM, 1).rows[0].cells
    assert list(cut_cautions(plan, [[replace(release, cut=Fraction(1))]])) == []
    assert list(cut_cautions(plan, [[replace(release, cut=Fraction(1, 2))]])) != []


def test_many_groups_say_that_the_largest_are_cut_most(tmp_path):
    """Theorem R11 truncates people for less noise: at small ε by twelve groups, and by five not."""
    database, policy = make_shop(tmp_path)
    text = "SELECT id % {groups} AS place, COUNT(*) FROM orders WHERE id % {groups} IN ({places}) GROUP BY 1"
    with connect(database, policy, parts=Parts(noise=Seeded(1))) as session:
        for groups, epsilon, said in ((12, "0.1", True), (12, 1, False), (5, "0.1", False)):
            places = ", ".join(map(str, range(groups)))
            answer = session.ask(text.format(groups=groups, places=places), epsilon)
            assert any("12 groups would else have more noise" in one for one in answer.cautions) is said
