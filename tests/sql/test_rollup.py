"""ROLLUP, CUBE and GROUPING SETS: each set of keys is a question by itself, with its part of ε."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse.engines.binding import check_plan
from recuse.engines.collect import collect, collect_domain
from recuse.errors import QueryError
from recuse.krelation.build import canonical_rows
from recuse.privacy import Delta, Epsilon
from recuse.session.answer import Answer
from recuse.session.session import connect
from recuse.session.shares import Split
from recuse.sql.compile import compile_query
from recuse.sql.plan import Plan
from recuse.sql.sharing import Sharing
from support.profiles import examples
from support.sql.bazaar import POLICY, SCHEMA, catalogue, engine

KEYS = ("c_nation", "c_name", "month(o_date)")
ROWS = (
    "FROM orders JOIN customer ON o_customer = c_id WHERE c_nation IN (0, 1) AND c_name IN ('a', 'b', 'c')"
    " AND month(o_date) IN (1, 2)"
)
AGGREGATES = ("COUNT(*)", "SUM(o_total)", "COUNT(DISTINCT o_customer)", "COUNT(DISTINCT o_date)", "AVG(o_id)")
Sets = list[frozenset[str]]


@st.composite
def elements(draw: st.DrawFn) -> tuple[str, Sets]:
    """Return an element of GROUP BY, and the sets that it stands for, by the standard's own words."""
    keys = draw(st.permutations(KEYS))[: draw(st.integers(1, 2))]
    listed, whole, nothing = ", ".join(keys), frozenset(keys), frozenset[str]()
    match draw(st.sampled_from(["key", "ROLLUP", "CUBE", "GROUPING SETS"])):
        case "key":
            return keys[0], [frozenset(keys[:1])]
        case "ROLLUP":
            return f"ROLLUP ({listed})", [frozenset(keys[:n]) for n in range(len(keys), -1, -1)]
        case "CUBE":
            alone = [frozenset({key}) for key in keys]
            return f"CUBE ({listed})", list(dict.fromkeys([whole, *alone, nothing]))
    return f"GROUPING SETS (({listed}), ({keys[0]}), ())", [whole, frozenset(keys[:1]), nothing]


def product(found: list[tuple[str, Sets]]) -> tuple[str, Sets]:
    sets = [frozenset[str]()]
    for _, inside in found:
        sets = [before | one for before in sets for one in inside]
    return ", ".join(text for text, _ in found), sets


groupings = st.lists(elements(), min_size=1, max_size=2).map(product)


def of_set(text: str, kept: frozenset[str]) -> str:
    """Return the question about one set by itself."""
    listed = ", ".join(key for key in KEYS if key in kept)
    return f"SELECT {text} {ROWS}" + (f" GROUP BY {listed}" if listed else "")


def groups_of(plan: Plan, measures: int) -> list[list[list[str]]]:
    """Return for every set and measure the rows of each group."""
    relations = collect(engine(), plan, collect_domain(engine(), plan.grouping))
    shown = [sorted(str(canonical_rows(one)) for one in groups) for groups in relations]
    return [shown[start : start + measures] for start in range(0, len(shown), measures)]


@settings(max_examples=examples(20))
@given(groupings, st.lists(st.sampled_from(AGGREGATES), min_size=1, max_size=2, unique=True))
def test_each_set_has_the_rows_of_the_question_by_itself(grouping, aggregates):
    words, sets = grouping
    text = ", ".join(aggregates)
    plan = compile_query(f"SELECT {text} {ROWS} GROUP BY {words}", POLICY, catalogue())
    alone = [compile_query(of_set(text, kept), POLICY, catalogue()) for kept in sets]
    count = len(alone[0].measures)
    assert groups_of(plan, count) == [groups_of(one, count)[0] for one in alone]
    every = [one for each in alone for one in each.measures]
    assert [one.sharing for one in plan.measures] == [one.sharing for one in every]
    assert [{touch.kind for touch in one.touches} for one in plan.measures] == [
        {touch.kind for touch in one.touches} for one in every
    ]


@settings(max_examples=examples(20))
@given(groupings)
def test_the_parts_of_epsilon_of_all_sets_add_up(grouping):
    words, sets = grouping
    plan = compile_query(f"SELECT COUNT(*), SUM(o_total) {ROWS} GROUP BY {words}", POLICY, catalogue())
    share = Split.of(plan, Epsilon.of(1)).rest
    assert share * sum(one.is_owned for one in plan.measures) == 1
    assert share == Fraction(1, 2 * len(sets))


def test_groups_of_a_set_share_epsilon_as_people_can_touch_them():
    """By day and nation, a customer is in one nation and on many days; the total is one group."""
    plan = compile_query(
        f"SELECT COUNT(*) {ROWS} GROUP BY CUBE (c_nation, month(o_date))", POLICY, catalogue()
    )
    alone, owner = Sharing.SIDE_BY_SIDE, Sharing.ONE_OWNER
    assert [one.sharing for one in plan.measures] == [owner, alone, owner, alone]


def asked(sql: str) -> Answer:
    """Return an answer with next to no noise."""
    connection = duckdb.connect(":memory:", config={"threads": 1})
    connection.execute(SCHEMA)
    with connect(connection, replace(POLICY, budget=Epsilon.of(1000))) as session:
        return session.ask(sql, epsilon=900)


def rows_of(answer: Answer) -> list[tuple[object, ...]]:
    return [(*row.keys, *(round(float(cell.value)) for cell in row.cells)) for row in answer.rows]


def judge(sql: str) -> list[tuple[object, ...]]:
    with duckdb.connect(":memory:", config={"threads": 1}) as connection:
        connection.execute(SCHEMA)
        return connection.execute(sql).fetchall()


ROLLED = (
    "SELECT n_name AS nation, month(o_date) AS month, GROUPING(n_name, month(o_date)) AS g, COUNT(*) AS n "
    "FROM orders JOIN customer ON o_customer = c_id JOIN nation ON c_nation = n_id "
    "WHERE month(o_date) IN (1, 2, 3) GROUP BY ROLLUP (n_name, month(o_date))"
)


def test_rows_are_those_of_the_engine():
    assert sorted(map(str, rows_of(asked(ROLLED)))) == sorted(map(str, judge(ROLLED)))


def test_a_total_has_rows_that_are_in_no_group():
    """Fourteen customers have a name that is not listed: no group has them, but the total does."""
    sql = "SELECT {}, COUNT(*) FROM customer GROUP BY ROLLUP (1)".format(
        "CASE c_nation WHEN 1 THEN 'here' WHEN 2 THEN 'there' END"
    )
    found = {row[0]: row[1] for row in rows_of(asked(sql))}
    assert found == {"here": 13, "there": 13, None: 40}  # the twin that adds up the groups says 26


def test_what_follows_is_done_with_the_rows_of_all_sets():
    sql = f"{ROLLED} HAVING COUNT(*) > 20 ORDER BY g DESC, n DESC, nation LIMIT 3"
    assert rows_of(asked(sql)) == judge(sql)


def test_an_aggregate_of_a_key_is_of_rows_whose_key_is_left_out():
    """The twin that shows the key says NULL of the total."""
    sql = "SELECT o_id % 3, MAX(o_id % 3) FROM orders WHERE o_id % 3 IN (0, 1, 2) GROUP BY ROLLUP (o_id % 3)"
    key, most = rows_of(asked(sql))[-1]
    assert key is None
    assert most is not None


def test_a_set_that_stands_twice_is_answered_twice():
    found = rows_of(asked("SELECT COUNT(*) FROM customer GROUP BY GROUPING SETS ((), ())"))
    assert found == [(40,), (40,)]


def test_a_stored_answer_is_the_answer():
    connection = duckdb.connect(":memory:", config={"threads": 1})
    connection.execute(SCHEMA)
    with connect(connection, POLICY) as session:
        first, again = session.ask(ROLLED, epsilon=1), session.ask(ROLLED, epsilon=1)
        assert again.stored
        assert again.rows == first.rows
        assert not session.ask(ROLLED.replace("ROLLUP", "CUBE"), epsilon=1).stored


def test_ends_that_are_released_are_released_once():
    text = (
        "SELECT year(o_date), c_mood, COUNT(*) FROM orders JOIN customer ON o_customer = c_id"
        " GROUP BY CUBE (year(o_date), c_mood)"
    )
    plan = compile_query(text, POLICY, catalogue())
    assert len(plan.firsts) == 2
    assert [one.place for one in plan.measures] == [0, 1, 2, 3]
    assert {row.keys[1] for row in asked(text).rows} == {"low", "high", None}


def test_explain_names_the_sets():
    plan = compile_query(ROLLED, POLICY, catalogue())
    said = "3 sets of keys, each asked by itself: (n_name, MONTH(o_date)), (n_name), ()"
    assert said in plan.explanation.groups
    assert plan.explanation.questions == ("how many rows there are",)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT a, s, SUM(b) AS x, GROUPING(a, s) AS g FROM t GROUP BY CUBE (a, s) ORDER BY g, x DESC, a, s",
        "SELECT a + 1 AS k, COUNT(*) FROM t GROUP BY ROLLUP (k, s) HAVING a + 1 > 0 ORDER BY 1, 2",
        "SELECT a, COUNT(*) AS n FROM t GROUP BY GROUPING SETS ((a), ()) ORDER BY COUNT(*) DESC, a LIMIT 2",
        "SELECT a, MAX(a) AS m FROM t GROUP BY ROLLUP (a) ORDER BY a NULLS FIRST",
    ],
)
def test_of_public_tables_they_are_exact_and_free(sql):
    assert [row.keys for row in asked(sql).rows] == judge(sql)


def test_an_own_subquery_may_have_them():
    """What a customer's orders add up to, in sets of keys that name the customer."""
    sql = (
        "SELECT COUNT(*) FROM (SELECT o_customer, o_date, SUM(o_total) AS x FROM orders"
        " GROUP BY o_customer, ROLLUP (o_date)) d WHERE x > 50"
    )
    assert rows_of(asked(sql)) == judge(sql)


def test_a_subquery_whose_total_is_everybodys_is_refused():
    grouped = "SELECT o_customer, SUM(o_total) AS x FROM orders GROUP BY ROLLUP (o_customer)"
    with pytest.raises(QueryError):
        compile_query(f"SELECT COUNT(*) FROM ({grouped}) d WHERE x > 50", POLICY, catalogue())


def test_keys_that_are_found_have_one_set():
    granted = replace(POLICY, delta=Delta.of("1e-6"))
    with pytest.raises(QueryError, match="known without looking"):
        compile_query("SELECT o_total, COUNT(*) FROM orders GROUP BY ROLLUP (o_total)", granted, catalogue())
    listed = "SELECT o_total, COUNT(*) FROM orders WHERE o_total IN (1, 2) GROUP BY ROLLUP (o_total)"
    check_plan(compile_query(listed, granted, catalogue()), engine())
