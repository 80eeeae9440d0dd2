"""What the rewritten SQL means: the plain answer, the algebra's annotations, and the privacy law."""

from __future__ import annotations

from fractions import Fraction
from functools import cache, reduce
from pathlib import Path

import pytest
from hypothesis import given, settings

from recuse.algebra import AnnotatedRelation, product, select
from recuse.annotation import FALSE, TRUE, Participant, conjunction
from recuse.engines.binding import check_plan
from recuse.engines.collect import collect, collect_domain
from recuse.krelation.build import canonical_rows, from_expressions, without
from recuse.krelation.relation import KRelation, Shape
from recuse.policy import Policy
from recuse.sql.compile import compile_query
from recuse.sql.plan import Plan
from support.profiles import examples, some
from support.sql.shop import POLICY, TABLES, Database, databases, the_catalogue, the_engine

QUERIES = [line for line in (Path(__file__).parent / "laws.sql").read_text().splitlines() if line]


@cache
def compiled(text: str) -> Plan:
    plan = compile_query(text, POLICY, the_catalogue())
    check_plan(plan, the_engine())
    return plan


def relation(database: Database, text: str) -> KRelation:
    ((found,),) = collect(database.load(), compiled(text))
    return found


@pytest.mark.parametrize("text", some([*QUERIES], 0.3))
@settings(max_examples=examples(3))
@given(database=databases())
def test_the_rewritten_query_answers_the_plain_one_without_ownerless_rows(text, database):
    found = relation(database, text)
    # NaN, infinities and numbers beyond 64 bits count as NULL, in sums only
    plain = text.replace(
        "SUM(i_price)", "SUM(CASE WHEN isfinite(i_price) AND abs(i_price) < 1e16 THEN i_price END)"
    )
    connection = database.owned().load().connection
    connection.execute("SET search_path = 'memory.main'")
    ((expected,),) = connection.sql(plain).fetchall()
    connection.execute("SET search_path = 'system.main'")
    assert found.true_answer() * compiled(text).single.granularity == Fraction(str(expected or 0))


PUBLIC = {
    "SELECT COUNT(*) FROM nation": True,
    "SELECT SUM(n_id), AVG(n_id) FROM nation WHERE n_id IN (SELECT n_id FROM nation)": True,
    "SELECT COUNT(DISTINCT n_name) FROM nation": True,
    "SELECT n_name, COUNT(*) FROM nation GROUP BY n_name": True,
    "SELECT COUNT(*) FROM (SELECT n_id FROM nation UNION SELECT n_id + 1 FROM nation) t": True,
    "SELECT COUNT(*) FROM nation, customer": False,
    "SELECT COUNT(*) FROM nation WHERE EXISTS (SELECT 1 FROM customer WHERE c_nation = n_id)": False,
    "SELECT COUNT(*) FROM nation WHERE n_id = 1 OR n_id IN (SELECT c_nation FROM customer)": False,
    "SELECT COUNT(*) FROM (SELECT n_id FROM nation UNION SELECT c_id FROM customer) t": False,
    "SELECT COUNT(*) FROM (SELECT n_id FROM nation UNION ALL SELECT c_id FROM customer) t": False,
    "SELECT COUNT(*), COUNT(*) FILTER (WHERE n_id IN (SELECT c_id FROM customer)) FROM nation": False,
}


@pytest.mark.parametrize("text", PUBLIC)
@settings(max_examples=examples(3))
@given(database=databases())
def test_a_question_about_public_tables_alone_is_public_and_its_relation_constant(text, database):
    plan = compiled(text)
    assert plan.is_public is PUBLIC[text]
    engine = database.load()
    if plan.is_public:
        for groups in collect(engine, plan, collect_domain(engine, plan.grouping)):
            assert all(len(sign) == 0 for found in groups for sign in found.signs)
            assert all(found.true_answer() == found.constant for found in groups)


@pytest.mark.parametrize("text", some([*QUERIES], 0.3))
@settings(max_examples=examples(2))
@given(database=databases())
def test_a_withdrawal_is_the_removal_of_ones_rows(text, database):
    """The privacy law: what the mechanism takes for a neighbour is one."""
    found = relation(database, text)
    for name in sorted(database.participants(), key=repr):
        neighbour = relation(database.without(name), text)
        assert canonical_rows(neighbour) == canonical_rows(without(found, name))


@settings(max_examples=examples(25))
@given(database=databases())
def test_removing_the_participants_row_alone_is_enough(database):
    """Rows that link to nobody are nobody's: they leave with the row they link to."""
    found = relation(database, "SELECT COUNT(*) FROM item")
    for kind, value in found.names:
        rows = dict(database.rows)
        rows[kind] = [row for row in rows[kind] if row[0] != value]
        neighbour = relation(Database(rows), "SELECT COUNT(*) FROM item")
        assert canonical_rows(neighbour) == canonical_rows(without(found, (kind, value)))


def test_the_privacy_law_can_fail():
    """A policy that forgets one of an edge's two ends breaks the law, and the test above would see it."""
    database = Database({"edges": [(1, 2), (2, 1)]})
    forgetful = Policy(protect=POLICY.protect, links=POLICY.links_of("edges")[:1])
    plan = compile_query("SELECT COUNT(*) FROM edges", forgetful, the_catalogue())
    ((found,),) = collect(database.load(), plan)
    ((after,),) = collect(database.without(("person", 2)).load(), plan)
    assert canonical_rows(after) != canonical_rows(without(found, ("person", 2)))


# ------------------------------------------------------------------ the algebra as judge

OWNERS = {
    "customer": lambda row, _: [("customer", row[0])],
    "supplier": lambda row, _: [("supplier", row[0])],
    "orders": lambda row, _: [("customer", row[1])],
    "item": lambda row, owned: [
        *(("customer", order[1]) for order in owned.rows["orders"] if order[0] == row[0]),
        ("supplier", row[1]),
    ],
    "edges": lambda row, _: [("person", row[0]), ("person", row[1])],
    "nation": lambda *_: [],
}


def annotated(database: Database, table: str, alias: str) -> AnnotatedRelation:
    """Return a table of the algebra: rows numbered, because SQL counts duplicates, each with its owners."""
    owned = database.owned()
    attributes = (f"{alias}.#", *(f"{alias}.{name}" for name in TABLES[table]))
    rows = {}
    for number, row in enumerate(owned.rows[table]):
        parts = [Participant(name) for name in OWNERS[table](row, owned)]
        rows[number, *row] = conjunction(*parts) if parts else TRUE
    return AnnotatedRelation(attributes, {row: k for row, k in rows.items() if k != FALSE})


def equal(left: object, right: object) -> bool:
    return left is not None and left == right


ALGEBRA = [
    (
        "SELECT count(*) FROM edges a, edges b, edges c WHERE a.dst=b.src AND b.dst = c.src AND c.dst=a.src",
        {"a": "edges", "b": "edges", "c": "edges"},
        lambda t: (
            equal(t["a.dst"], t["b.src"]) and equal(t["b.dst"], t["c.src"]) and equal(t["c.dst"], t["a.src"])
        ),
        lambda _: 1,
    ),
    (
        "SELECT SUM(i.i_count - 1) FROM item i, orders o WHERE i.i_order = o.o_id",
        {"i": "item", "o": "orders"},
        lambda t: equal(t["i.i_order"], t["o.o_id"]),
        lambda t: 0 if t["i.i_count"] is None else 100 * (t["i.i_count"] - 1),
    ),
    (
        "SELECT COUNT(*) FROM orders o, customer c JOIN nation n ON n_id = c_nation WHERE o_id <> c_id",
        {"o": "orders", "c": "customer", "n": "nation"},
        lambda t: (
            equal(t["n.n_id"], t["c.c_nation"])
            and None not in (t["o.o_id"], t["c.c_id"])
            and t["o.o_id"] != t["c.c_id"]
        ),
        lambda _: 1,
    ),
]


@pytest.mark.parametrize(("text", "sources", "predicate", "weight"), ALGEBRA, ids=range(len(ALGEBRA)))
@settings(max_examples=examples(30))
@given(database=databases())
def test_sql_and_algebra_give_the_same_relation(text, sources, predicate, weight, database):
    joined = reduce(product, (annotated(database, table, alias) for alias, table in sources.items()))
    kept = select(joined, predicate)
    pairs = [(k, weight(dict(zip(kept.attributes, row, strict=True)))) for row, k in kept.rows.items()]
    found = relation(database, text)
    assert canonical_rows(found) == canonical_rows(from_expressions(pairs, Shape.CONJUNCTIONS))
