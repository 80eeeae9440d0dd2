"""The largest of many groups: draws that all move the same way, then the numbers of the drawn (theorem X)."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import permutations

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recuse
from recuse.krelation.build import from_owner_sets
from recuse.mechanism import presets
from recuse.mechanism.hull import HullGroups
from recuse.mechanism.peeled import DRAW_SHARE, FEWER, Peeled, peel, worth_peeling
from recuse.mechanism.prepared import prepare
from recuse.privacy import Epsilon
from recuse.session.parts import Parts
from recuse.solver.reference import reference
from support.noise import Seeded
from support.profiles import examples

EPSILON = Fraction(1)
TAUS = [Fraction(1), Fraction(2), Fraction(17, 6)]
PEOPLE = 4

pairs = st.tuples(st.integers(0, PEOPLE - 1), st.integers(0, PEOPLE - 1), st.integers(0, 3))
"""two owners and a group"""


def relation(rows, group: int, without: int | None = None):
    kept = [(a, b) for a, b, g in rows if g == group and without not in (a, b)]
    owners = np.array(kept, np.int64).reshape(-1, 2)
    return from_owner_sets(np.ones(len(kept), np.int64), owners, names=range(PEOPLE), signed=False)


def peeled(rows, count: int = 2, without: int | None = None) -> Peeled:
    groups = [prepare(relation(rows, group, without), reference) for group in range(4)]
    return Peeled(HullGroups(groups), count)


def chances(scores, epsilon: Fraction, count: int) -> dict[tuple[int, ...], float]:
    """Return the exact distribution of the draws."""
    found = {}
    for drawn in permutations(range(len(scores)), count):
        left, chance = list(range(len(scores))), 1.0
        for place in drawn:
            weights = [math.exp(float(epsilon * scores[other])) for other in left]
            chance *= math.exp(float(epsilon * scores[place])) / sum(weights)
            left.remove(place)
        found[drawn] = chance
    return found


def worst(one, other) -> float:
    return max(abs(math.log(one[key] / other[key])) for key in one)


@settings(max_examples=examples(40))
@given(st.lists(pairs, max_size=8), st.integers(0, PEOPLE - 1), st.sampled_from(TAUS))
def test_a_withdrawal_costs_the_draws_no_more_than_they_have(rows, leaver, tau):
    """The exact audit: every sequence of draws, on neighbours."""
    one, other = (peeled(rows, without=without).scores(tau) for without in (None, leaver))
    assert worst(chances(one, EPSILON / 2, 2), chances(other, EPSILON / 2, 2)) <= 1 + 1e-9


@settings(max_examples=examples(40))
@given(st.lists(pairs, max_size=8), st.integers(0, PEOPLE - 1), st.sampled_from(TAUS))
def test_all_scores_move_within_one_interval_of_length_one(rows, leaver, tau):
    with_them, without = (peeled(rows, without=one).scores(tau) for one in (None, leaver))
    moves = [a - b for a, b in zip(with_them, without, strict=True)]
    assert max(moves) - min(*moves, Fraction(0)) <= 1


def test_scores_that_move_both_ways_would_cost_twice_as_much():
    """The broken twin: groups that a participant may raise or lower, drawn as if they only rose."""
    one, other = [Fraction(0)] * 3, [Fraction(1), Fraction(-1), Fraction(-1)]
    assert worst(chances(one, EPSILON, 1), chances(other, EPSILON, 1)) > 1.1
    many = 200
    apart = (
        chances([Fraction(0)] * many, EPSILON, 1),
        chances([Fraction(1)] + [Fraction(-1)] * (many - 1), EPSILON, 1),
    )
    assert worst(*apart) > 1.9


def test_draws_follow_their_chances():
    scores = [Fraction(0), Fraction(1), Fraction(5, 2)]
    noise, runs = Seeded(11), 4000
    found = Counter(tuple(peel(scores, EPSILON, 2, noise)) for _ in range(runs))
    expected = chances(scores, EPSILON, 2)
    distance = sum((found[key] - runs * p) ** 2 / (runs * p) for key, p in expected.items())
    assert distance < 20.5, "chi-square of 5 degrees of freedom, 99.9 %"
    flat = chances(scores, EPSILON / 2, 2)
    assert sum((found[key] - runs * p) ** 2 / (runs * p) for key, p in flat.items()) > 20.5


def test_the_parts_of_epsilon_add_up():
    mechanism = presets.race_by_withdrawals(Epsilon.of(1)).in_two_steps()
    draws = DRAW_SHARE * mechanism.answer_epsilon
    assert mechanism.choice_epsilon + draws + (mechanism.answer_epsilon - draws) == 1


def test_only_the_drawn_have_a_number():
    rows = [
        (p, (p + 1) % PEOPLE, g)
        for g, many in enumerate((1, 9, 3, 6))
        for p in range(PEOPLE)
        for _ in range(many)
    ]
    found = peeled(rows).release(presets.race_by_withdrawals(Epsilon.of(50)), Seeded(1))
    assert sum(one.undefined for one in found) == 2
    assert all((one.interval == (None, None)) == one.undefined for one in found)
    assert peeled(rows).true_answers() == [4, 36, 12, 24]


# ---------------------------------------------------------------------- asked in SQL

POLICY = """
[[protect]]
table = "person"
key = ["id"]

[[link]]
table = "pair"
column = ["a"]
to = "person"

[[link]]
table = "pair"
column = ["b"]
to = "person"

[[public]]
table = "topic"

[budget]
epsilon = 100
"""
ASKED = "SELECT topic.id, COUNT(*) AS n FROM pair JOIN topic ON pair.topic = topic.id GROUP BY topic.id"
LARGEST = f"{ASKED} ORDER BY n DESC LIMIT 3"


@pytest.fixture
def session():
    data = duckdb.connect()
    data.execute("CREATE TABLE person (id INTEGER PRIMARY KEY)")
    data.execute("INSERT INTO person SELECT * FROM range(400)")
    data.execute("CREATE TABLE topic (id INTEGER PRIMARY KEY)")
    data.execute("INSERT INTO topic SELECT * FROM range(40)")
    data.execute("CREATE TABLE pair (a INTEGER, b INTEGER, topic INTEGER REFERENCES topic (id))")
    data.execute(
        "INSERT INTO pair SELECT i % 400, (i * 7 + 1) % 400, CASE WHEN i < 5000 THEN i % 3 ELSE i % 40 END "
        "FROM range(6000) t(i)"
    )
    with recuse.connect(data, recuse.Policy.parse(POLICY), parts=Parts(noise=Seeded(2))) as opened:
        yield opened


def test_the_largest_groups_are_found_and_counted(session):
    answer = session.ask(LARGEST, 4)
    assert {row.keys for row in answer.rows} == {(0,), (1,), (2,)}
    for row in answer.rows:
        assert float(row.cells[0].value) == pytest.approx(1691, rel=0.2)
        assert None not in row.cells[0].interval


def test_how_many_are_wanted_is_part_of_the_question(session):
    """Else the stored answer of three groups would be that of all."""
    asked = {str(session.question(sql, 1).identity()) for sql in (ASKED, LARGEST, LARGEST.replace("3", "4"))}
    assert len(asked) == 3
    session.ask(LARGEST, 1)
    whole = session.ask(ASKED, 1)
    assert not whole.stored
    assert len(whole.rows) == 40
    assert all(row.cells[0].value is not None for row in whole.rows)


@pytest.mark.parametrize(
    "sql",
    [
        f"{ASKED} ORDER BY n LIMIT 3",
        f"{ASKED} ORDER BY n DESC",
        f"{ASKED} HAVING COUNT(*) > 5 ORDER BY n DESC LIMIT 3",
        f"{ASKED} ORDER BY topic.id DESC LIMIT 3",
        LARGEST.replace("COUNT(*) AS n", "COUNT(*) AS n, SUM(a) AS s"),
        LARGEST.replace("COUNT(*) AS n", "SUM(a) AS n"),
    ],
)
def test_all_else_is_answered_for_all_groups(session, sql):
    plan = session.compile(sql)
    assert plan.largest is None
    assert (
        session.question(sql, 1).identity()
        == session.question(sql.split(" ORDER")[0].split(" HAVING")[0], 1).identity()
    )


def test_explain_says_that_the_largest_are_drawn(session):
    assert any("largest 3 are drawn" in line for line in session.explain(LARGEST).epsilon)
    assert not any("drawn" in line for line in session.explain(ASKED).epsilon)


def test_whether_groups_are_drawn_is_public():
    assert worth_peeling(FEWER * 3, 3)
    assert not worth_peeling(FEWER * 3 - 1, 3)
    assert not worth_peeling(10, 0)


def test_tau_is_chosen_by_all_groups_and_nothing_weighs_less_than_nothing():
    found = peeled([(0, 1, 0), (1, 2, 0), (1, 3, 2)])
    assert [programs.largest_load() for programs in found.signs] == [2, 0, 1, 0]
    assert found.signed is False
    assert found.constants() == [0, 0, 0, 0]
