"""GROUP BY: which groups there are, and when each participant touches only one of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings

from recuse.engines.binding import check_plan
from recuse.engines.collect import collect, collect_domain
from recuse.errors import QueryError
from recuse.krelation.build import canonical_rows, without
from recuse.policy import Key, Policy
from recuse.sql.catalogue import Column
from recuse.sql.compile import compile_query
from support.profiles import examples, some
from support.sql.shop import (
    CATALOGUE,
    KEYED,
    POLICY,
    TABLES,
    Database,
    full_databases,
    the_catalogue,
    the_engine,
)

JOINED = "FROM orders JOIN customer ON o_customer = c_id JOIN nation ON c_nation = n_id"
DISJOINT = {
    f"SELECT n_name, COUNT(*) {JOINED} GROUP BY n_name": True,
    f"SELECT n_name, SUM(o_total) {JOINED} WHERE o_total > 1 GROUP BY n_name": True,
    "SELECT c_id, COUNT(*) FROM customer WHERE c_id IN (1, 2) GROUP BY c_id": True,
    # an order's date is not decided by its customer
    "SELECT o_date, COUNT(*) FROM orders WHERE o_date IN ('1997-06-15') GROUP BY o_date": False,
    # two customers in a row: each decides the nation by the same rule, or by two different ones
    "SELECT a.c_nation, COUNT(*) FROM customer a JOIN customer b ON a.c_nation = b.c_nation "
    "WHERE a.c_nation IN (1, 2) GROUP BY a.c_nation": True,
    "SELECT a.c_nation, COUNT(*) FROM customer a JOIN customer b ON a.c_nation = b.c_id "
    "WHERE a.c_nation IN (1, 2) GROUP BY a.c_nation": False,
    "SELECT a.c_nation, COUNT(*) FROM customer a, customer b WHERE a.c_nation IN (1, 2) GROUP BY 1": False,
    # the supplier of an item does not decide its customer's nation
    "SELECT n_name, COUNT(*) FROM item JOIN orders ON i_order = o_id JOIN customer ON o_customer = c_id "
    "JOIN nation ON c_nation = n_id GROUP BY n_name": False,
    # an owner below an OR may support several groups, unless it is one of the row's own
    "SELECT n_name, COUNT(*) FROM customer JOIN nation ON c_nation = n_id "
    "WHERE c_nation IN (SELECT s_nation FROM supplier) GROUP BY n_name": False,
    "SELECT n_name, COUNT(*) FROM customer JOIN nation ON c_nation = n_id "
    "WHERE c_id IN (SELECT o_customer FROM orders) GROUP BY n_name": True,
    "SELECT n_name, COUNT(DISTINCT c_name) FROM customer JOIN nation ON c_nation = n_id GROUP BY 1": False,
    # UNION ALL: a branch each
    "SELECT x, COUNT(*) FROM (SELECT c_nation AS x FROM customer UNION ALL SELECT c_id FROM customer) t "
    "WHERE x IN (1, 2) GROUP BY x": False,
}


@pytest.mark.parametrize("text", DISJOINT)
def test_groups_are_side_by_side_only_if_every_participant_decides_the_key(text):
    grouping = compile_query(text, POLICY, KEYED).grouping
    assert grouping is not None
    assert grouping.disjoint is DISJOINT[text]


def test_explain_names_the_key_that_would_spare_the_split():
    text = (
        "SELECT a.c_nation, COUNT(*) FROM customer a JOIN customer b ON a.c_nation = b.c_nation "
        "WHERE a.c_nation IN (1, 2) GROUP BY a.c_nation"
    )
    undeclared = compile_query(text, POLICY, CATALOGUE)
    assert undeclared.grouping is not None
    assert not undeclared.grouping.disjoint
    assert any("customer(c_id)" in line for line in undeclared.explanation.epsilon)
    declared = replace(POLICY, keys=(*POLICY.keys, Key("customer", ("c_id",))))
    settled = compile_query(text, declared, CATALOGUE)
    assert settled.grouping is not None
    assert settled.grouping.disjoint
    assert settled.explanation.epsilon == (
        "in full for every group: each participant touches one group only",
    )
    # here no key helps: a customer may have orders of several dates
    other = (
        "SELECT year(o_date), COUNT(*) FROM orders JOIN item ON i_order = o_id "
        "WHERE year(o_date) IN (1996, 1997) GROUP BY 1"
    )
    assert compile_query(other, POLICY, CATALOGUE).explanation.epsilon == (
        "in one noise for all groups, whoever touches fewer counts for more in each: "
        "a customer touches 2 of 2 at most; a supplier touches 2 of 2 at most",
    )


SHARING = {
    # one customer an order: a vector over the years
    "SELECT year(o_date), COUNT(*) FROM orders WHERE year(o_date) IN (1996, 1997) GROUP BY 1": "one owner",
    "SELECT o_date, SUM(o_total) FROM orders WHERE o_date IN ('1997-06-15') GROUP BY 1": "one owner",
    # a branch each, and each of them with one owner, of whichever kind
    "SELECT x, COUNT(*) FROM (SELECT c_nation AS x FROM customer UNION ALL SELECT s_nation FROM supplier) t "
    "WHERE x IN (1, 2) GROUP BY x": "one owner",
    # rows that nobody owns beside such with one owner
    "SELECT x, COUNT(*) FROM (SELECT c_nation AS x FROM customer UNION ALL SELECT n_id FROM nation) t "
    "WHERE x IN (1, 2) GROUP BY x": "one owner",
    # the same customer twice is one owner
    "SELECT a.o_date, COUNT(*) FROM orders a JOIN orders b ON a.o_customer = b.o_customer "
    "WHERE a.o_date IN ('1997-06-15') GROUP BY 1": "one owner",
    # two owners; an OR below; a set of owned rows; any of two
    "SELECT i_count, COUNT(*) FROM item WHERE i_count IN (1, 2) GROUP BY 1": "together",
    "SELECT o_date, COUNT(*) FROM orders WHERE o_date IN ('1997-06-15') "
    "AND o_id IN (SELECT i_order FROM item) GROUP BY 1": "together",
    "SELECT o_date, COUNT(DISTINCT o_total) FROM orders WHERE o_date IN ('1997-06-15') "
    "GROUP BY 1": "together",
    "SELECT g_order, COUNT(*) FROM gift WHERE g_order IN (1, 2) GROUP BY 1": "together",
    # disjoint groups stay side by side, and so does a question without groups
    "SELECT c_id, COUNT(*) FROM customer WHERE c_id IN (1, 2) GROUP BY c_id": "side by side",
    "SELECT COUNT(*) FROM orders": "side by side",
}


@pytest.mark.parametrize("text", SHARING)
def test_how_groups_share_follows_from_query_and_policy(text):
    (measure,) = compile_query(text, POLICY, KEYED).measures
    assert measure.sharing.value == SHARING[text]


def test_without_a_unique_key_nothing_is_decided():
    text = f"SELECT n_name, COUNT(*) {JOINED} GROUP BY n_name"
    assert not compile_query(text, POLICY, CATALOGUE).grouping.disjoint


ROWS = {table: [] for table in TABLES} | {
    "customer": [(1, 1, "a"), (2, 1, "b"), (3, 2, "a"), (4, None, "c")],
    "orders": [
        (1, 1, "1997-06-15", "10.00"),
        (2, 1, None, "1.00"),
        (3, 3, "1999-12-31", "2.50"),
        (4, 4, None, "9.00"),
    ],
    "nation": [(1, "one"), (2, "two"), (3, "three"), (4, None)],
}


def answers(text: str, policy: Policy = POLICY) -> dict[tuple[object, ...], list[Fraction]]:
    """Return the true answers of all measures, by group."""
    engine = Database(ROWS).load()
    plan = compile_query(text, policy, engine.catalogue())
    check_plan(plan, engine)
    domain = collect_domain(engine, plan.grouping)
    relations = collect(engine, plan, domain)
    units = [measure.granularity for measure in plan.measures]
    return {
        keys: [found[place].true_answer() * unit for found, unit in zip(relations, units, strict=True)]
        for place, keys in enumerate(domain.keys)
    }


def test_public_keys_are_answered_with_or_without_rows_and_null_is_dropped():
    assert answers(f"SELECT n_name, COUNT(*), SUM(o_total) {JOINED} GROUP BY n_name") == {
        ("one",): [2, 11],
        ("two",): [1, Fraction(5, 2)],
        ("three",): [0, 0],
    }


def test_public_conditions_narrow_the_domain():
    assert set(answers(f"SELECT n_name, COUNT(*) {JOINED} WHERE n_id < 3 GROUP BY n_name")) == {
        ("one",),
        ("two",),
    }


def test_listed_keys_and_several_keys():
    text = f"SELECT c_name, n_name, COUNT(*) {JOINED} WHERE c_name IN ('a', 'z') AND n_id <> 3 GROUP BY 1, 2"
    assert answers(text) == {
        ("a", "one"): [2],
        ("a", "two"): [1],
        ("z", "one"): [0],
        ("z", "two"): [0],
    }


TYPED = {
    # two spellings of one value are one group, and it is of the key's type
    ("c_id", "customer", "1, 1.0, 01, 2"): [(1,), (2,)],
    ("c_id", "customer", "'1', 1, '02'"): [(1,), (2,)],
    ("c_name", "customer", "'a', 'A', 'a '"): [("a",), ("A",), ("a ",)],
    ("o_date", "orders", "'1997-06-15', DATE '1997-06-15'"): [(date(1997, 6, 15),)],
    ("o_total", "orders", "10, 10.00, 2.5"): [(Decimal(10),), (Decimal("2.5"),)],
    ("year(o_date)", "orders", "1997, '1997', 1999"): [(1997,), (1999,)],
    ("(o_total > 2)", "orders", "TRUE, FALSE, 'true'"): [(True,), (False,)],
    # what is not written as the key's values are would be read by rules of its own
    ("o_date", "orders", "'1997-06-15', '1997-6-15'"): "dates, such as",
    ("c_id", "customer", "1, '1.5'"): "whole numbers, such as",
    ("c_id", "customer", "1, 1.5"): "whole numbers, such as",
    ("c_id", "customer", "TRUE"): "whole numbers, such as",
    ("o_total", "orders", "'10.005'"): "numbers without quotes",
}


@pytest.mark.parametrize(("key", "table", "listed"), TYPED)
def test_listed_keys_are_values_of_the_keys_type(key, table, listed):
    text = f"SELECT {key}, COUNT(*) FROM {table} WHERE {key} IN ({listed}) GROUP BY {key}"
    expected = TYPED[key, table, listed]
    if isinstance(expected, str):
        with pytest.raises(QueryError, match=rf"line 1, column .*not written as its values.*{expected}"):
            answers(text)
        return
    found = answers(text)
    assert list(found) == expected
    assert [type(keys[0]) for keys in found] == [type(keys[0]) for keys in expected]
    plain = Database(ROWS).load().connection.sql(text.replace(f"FROM {table}", f"FROM memory.main.{table}"))
    assert {keys: number for keys, (number,) in found.items() if number} == {
        tuple(keys): number for *keys, number in plain.fetchall()
    }


def test_a_domain_whose_values_do_not_fit_is_refused_by_value():
    listed = '[[domain]]\ntable = "orders"\ncolumn = "o_date"\nvalues = ["1997-06-15", "1997-6-16"]'
    domains = Policy.parse('[[protect]]\nkind = "x"\n' + listed).domains
    with pytest.raises(QueryError, match=r"the group '1997-6-16' of o_date .*accepted: dates, such as"):
        answers("SELECT o_date, COUNT(*) FROM orders GROUP BY o_date", replace(POLICY, domains=domains))


def test_a_domain_of_the_policy():
    policy = Policy(
        protect=POLICY.protect,
        links=POLICY.links,
        public=POLICY.public,
        keys=POLICY.keys,
        domains=Policy.parse(
            '[[protect]]\nkind = "x"\n[[domain]]\ntable = "customer"\ncolumn = "c_name"\nvalues = ["a", "q"]'
        ).domains,
    )
    assert answers("SELECT c_name, COUNT(*) FROM customer GROUP BY c_name", policy) == {
        ("a",): [2],
        ("q",): [0],
    }


def test_sets_within_groups():
    text = (
        "SELECT c_nation, COUNT(DISTINCT c_name) FROM customer WHERE c_nation IN (1, 2, 9) GROUP BY c_nation"
    )
    assert answers(text) == {(1,): [2], (2,): [1], (9,): [0]}


def test_the_catalogue_of_these_tests_is_the_engines():
    assert {table.name for table in KEYED.tables} == {t.name for t in the_catalogue().tables if not t.view}
    assert Column("c_id", "INTEGER") in KEYED.tables[0].columns


# ------------------------------------------------------------------ laws

UNIQUE = Policy(
    protect=POLICY.protect,
    links=POLICY.links,
    public=POLICY.public,
    keys=(*POLICY.keys, Key("customer", ("c_id",)), Key("supplier", ("s_id",))),
)
GROUPED = [
    "SELECT c_nation, COUNT(*) FROM orders JOIN customer ON o_customer = c_id "
    "WHERE c_nation IN (0, 1, 2) GROUP BY 1",
    "SELECT a.c_nation, COUNT(*) FROM customer a JOIN customer b ON a.c_nation = b.c_nation "
    "WHERE a.c_nation IN (0, 1, 2, 3) GROUP BY 1",
    "SELECT o_customer, SUM(o_total) FROM orders WHERE o_customer IN (0, 1, 2) GROUP BY o_customer",
    "SELECT i_count, COUNT(*) FROM item WHERE i_count IN (0, 1) GROUP BY i_count",
    "SELECT n_name, COUNT(DISTINCT c_name) FROM customer JOIN nation ON c_nation = n_id GROUP BY n_name",
    "SELECT n_name, i_count, COUNT(*) FROM item, nation WHERE i_count IN (1, 2) "
    "AND EXISTS (SELECT 1 FROM edges WHERE src = i_count) GROUP BY 1, 2",
]


@pytest.mark.parametrize("text", some([*GROUPED], 0.5))
@settings(max_examples=examples(8))
@given(database=full_databases())
def test_groups_obey_the_privacy_law_and_disjoint_ones_share_nobody(text, database):
    plan = compile_query(text, UNIQUE, the_catalogue())
    domain = collect_domain(database.load(), plan.grouping)
    (groups,) = collect(the_engine(), plan, domain)
    for name in sorted(database.participants(), key=repr):
        (neighbours,) = collect(database.without(name).load(), plan, domain)
        for group, neighbour in zip(groups, neighbours, strict=True):
            assert canonical_rows(neighbour) == canonical_rows(without(group, name))
        if plan.grouping.disjoint:
            assert sum(name in group.names for group in groups) <= 1
