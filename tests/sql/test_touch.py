"""Touch: how many groups one participant of a kind can touch, from query, policy and public keys."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import pytest
from hypothesis import given, settings

from recuse.annotation import participants
from recuse.engines.collect import collect, collect_domain
from recuse.krelation.build import expressions
from recuse.policy import Key
from recuse.sql.compile import compile_query
from recuse.sql.touch import Touch, most_alike
from support.profiles import examples
from support.sql.shop import KEYED, POLICY, full_databases

KEYS = [(nation, year) for nation in "abc" for year in (1996, 1997)]
ITEMS = (
    "FROM item JOIN orders ON i_order = o_id JOIN customer ON o_customer = c_id "
    "JOIN supplier ON i_supplier = s_id"
)
YEARS = "year(o_date) IN (1996, 1997)"
NATIONS = "IN (1, 2, 3)"


def test_those_who_decide_nothing_touch_all_and_those_who_decide_all_touch_one():
    assert most_alike(KEYS, ()) == 6
    assert most_alike(KEYS, (0,)) == 2
    assert most_alike(KEYS, (1,)) == 3
    assert most_alike(KEYS, (0, 1)) == 1


def test_a_domain_that_is_no_product_is_counted_as_it_is():
    uneven = [("a", 1), ("a", 2), ("a", 3), ("b", 1)]
    assert most_alike(uneven, (0,)) == 3
    assert most_alike(uneven, (1,)) == 2


def test_what_is_not_a_number_equals_itself():
    nan = [(float("nan"), 1), (float("nan"), 2)]
    assert most_alike(nan, (0,)) == 2


def test_places_add_up_and_of_two_ways_the_better_counts():
    assert Touch("person", (((0,), (1,)),)).most(KEYS) == 2 + 3
    assert Touch("person", (((),),)).most(KEYS) == 6
    assert Touch("person", (((),), ((0,), (0,)))).most(KEYS) == 4
    assert Touch("person", (((0,), (), (1,)),)).most(KEYS) == 6, "there are no more groups than these"
    assert Touch("person", (((0,),),)).most([]) == 1


TOUCHED = {
    # a supplier decides the nation, a customer nothing
    f"SELECT s_nation, year(o_date), COUNT(*) {ITEMS} WHERE s_nation {NATIONS} AND {YEARS} GROUP BY 1, 2": {
        "customer": 6,
        "supplier": 2,
    },
    # each decides one of the keys
    f"SELECT s_nation, c_nation, COUNT(*) {ITEMS} "
    f"WHERE s_nation {NATIONS} AND c_nation {NATIONS} GROUP BY 1, 2": {"customer": 3, "supplier": 3},
    # one kind twice: by one rule, or apart
    "SELECT a.c_nation, b.c_nation, COUNT(*) FROM customer a JOIN customer b ON a.c_id < b.c_id "
    f"WHERE a.c_nation {NATIONS} AND b.c_nation {NATIONS} GROUP BY 1, 2": {"customer": 6},
    # one kind at the top, where it decides the key, and below an OR
    f"SELECT a.c_nation, COUNT(*) FROM customer a WHERE a.c_nation {NATIONS} "
    "AND EXISTS (SELECT 1 FROM customer b WHERE b.c_name = a.c_name AND b.c_id <> a.c_id) GROUP BY 1": {
        "customer": 3
    },
    # below an OR everything is possible
    f"SELECT c_nation, o_date, COUNT(*) FROM orders JOIN customer ON o_customer = c_id "
    f"WHERE c_nation {NATIONS} AND o_date IN ('1997-06-15', '1999-12-31') "
    "AND o_id IN (SELECT i_order FROM item) GROUP BY 1, 2": {"customer": 2, "supplier": 6},
}


DECLARED = replace(
    POLICY,
    keys=(*POLICY.keys, Key("customer", ("c_id",)), Key("supplier", ("s_id",))),
)


def plan_and_measure(text, catalogue=KEYED):
    plan = compile_query(text, DECLARED, catalogue)
    (measure,) = plan.measures
    return plan, measure


@pytest.mark.unlike
@pytest.mark.parametrize("text", TOUCHED)
def test_how_many_groups_each_kind_can_touch(text):
    plan, measure = plan_and_measure(text)
    listed = collect_domain(None, plan.grouping).keys
    assert {touch.kind: touch.most(listed) for touch in measure.touches} == TOUCHED[text]


def touches(database, text) -> tuple[dict[str, int], dict[str, int]]:
    """Return the most groups that a participant of each kind touches in a database, and what touch says."""
    engine = database.load()
    plan, measure = plan_and_measure(text, engine.catalogue())
    domain = collect_domain(engine, plan.grouping)
    ((*relations,),) = collect(engine, plan, domain)
    seen = defaultdict(set)
    for place, relation in enumerate(relations):
        for annotation, _ in expressions(relation):
            for name in participants(annotation):
                seen[name].add(place)
    most: dict[str, int] = defaultdict(int)
    for (kind, *_), groups in seen.items():
        most[kind] = max(most[kind], len(groups))
    return most, {touch.kind: touch.most(domain.keys) for touch in measure.touches}


@pytest.mark.parametrize("text", TOUCHED)
@settings(max_examples=examples(20))
@given(database=full_databases())
def test_nobody_touches_more_than_is_said(text, database):
    most, said = touches(database, text)
    for kind, count in most.items():
        assert count <= said[kind]


def test_a_reach_that_forgets_a_place_is_caught():
    """The twin: of two places in a row one is counted, and somebody touches more groups than was said."""
    _, measure = plan_and_measure(list(TOUCHED)[2])
    (touch,) = measure.touches
    keys = [(a, b) for a in (1, 2, 3) for b in (1, 2, 3)]
    assert touch.most(keys) == 6
    forgetful = replace(touch, ways=tuple(places[:1] for places in touch.ways))
    pairs = {(1, b) for b in (1, 2, 3)} | {(a, 1) for a in (1, 2, 3)}
    assert len(pairs) <= touch.most(keys)
    assert min(map(len, forgetful.ways)) == 1
    assert len(pairs) > most_alike(keys, forgetful.ways[-1][0])
