"""The owner's column redefined: a subquery calls a constant, or another's key, by the name of the owner.

Whose rows are counted must follow from where they are stored, not from what a query calls their columns:
removing a participant from the database must change the relation exactly as withdrawing it does.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from recuse.annotation import Participant
from recuse.engines.binding import check_plan
from recuse.engines.collect import collect
from recuse.errors import QueryError
from recuse.krelation.build import canonical_rows, from_expressions, without
from recuse.krelation.relation import KRelation, Shape
from recuse.sql.compile import compile_query
from recuse.sql.plan import Plan
from support.sql.shop import POLICY, Database, the_catalogue, the_engine

DATA = Database(
    {
        "customer": [(1, 0, "a"), (2, 1, "b"), (3, 1, "a")],
        "supplier": [("a", 0), ("b", 1)],
        "orders": [
            (10, 1, "1996-01-31", "1.00"),
            (11, 1, None, "2.00"),
            (12, 2, None, "3.00"),
            (13, 3, None, "4"),
        ],
        "item": [(10, "a", 0.5, 1), (11, "b", 1.0, 2), (12, "a", 2.0, 1), (13, "b", 3.0, 3)],
        "edges": [(1, 2), (2, 3), (3, 1), (3, 4)],
        "gift": [(1, 2, 12), (3, 1, 10)],
        "nation": [(0, "a"), (1, "b")],
    }
)

TRICKS = [
    "SELECT COUNT(*) FROM (SELECT 1 AS o_customer, o_id FROM orders) o",
    "SELECT COUNT(*) FROM (SELECT 1 AS o_customer, o_id FROM orders) o JOIN customer ON c_id = o_customer",
    "SELECT COUNT(*) FROM (SELECT NULL AS o_customer, o_id FROM orders) o",
    "SELECT SUM(o_total) FROM (SELECT o_id AS o_customer, o_customer AS o_id, o_total FROM orders) orders",
    "SELECT COUNT(*) FROM (SELECT 1 AS c_id FROM customer) customer JOIN orders ON c_id = o_customer",
    "SELECT COUNT(*) FROM customer orders JOIN orders customer ON orders.c_id = customer.o_customer",
    "WITH orders AS (SELECT o_id, 3 AS o_customer FROM orders) SELECT COUNT(*) FROM orders",
    "WITH customer AS (SELECT n_id AS c_id FROM nation) SELECT COUNT(*) FROM customer, orders",
    "WITH nation AS (SELECT * FROM customer) SELECT COUNT(*) FROM nation",
    "SELECT COUNT(*) FROM (SELECT DISTINCT 1 AS o_customer FROM orders) o",
    "SELECT COUNT(*) FROM (SELECT DISTINCT 7 AS o_customer, o_total FROM orders WHERE o_id > 10) o",
    "SELECT COUNT(*) FROM (SELECT o_customer FROM orders UNION SELECT 1) s",
    "SELECT COUNT(*) FROM (SELECT o_customer FROM orders UNION ALL SELECT c_id FROM customer) s",
    "SELECT COUNT(*) FROM (SELECT 1 AS c_id UNION ALL SELECT o_customer FROM orders) customer",
    "SELECT COUNT(*) FROM (SELECT o_customer FROM orders INTERSECT SELECT n_id FROM nation) s",
    "SELECT COUNT(*) FROM (SELECT n_id AS o_customer FROM nation) x NATURAL JOIN orders",
    "SELECT COUNT(*) FROM (SELECT n_id AS o_customer FROM nation) x JOIN orders USING (o_customer)",
    "SELECT COUNT(*) FROM (SELECT 1 AS src, dst FROM edges) a JOIN edges b USING (src)",
    "SELECT COUNT(*) FROM (SELECT dst AS src, src AS dst FROM edges) e NATURAL JOIN edges",
    "SELECT COUNT(*) FROM edges WHERE EXISTS (SELECT 1 FROM (SELECT 4 AS src) e WHERE e.src = edges.src)",
    "SELECT COUNT(*) FROM orders WHERE o_customer IN (SELECT 1 AS c_id FROM customer)",
    "SELECT COUNT(*) FROM nation WHERE n_id IN (SELECT c_nation AS n_id FROM customer)",
    "SELECT COUNT(*) FROM (SELECT o_id AS i_order FROM orders) o JOIN item USING (i_order)",
    "SELECT COUNT(*) FROM (SELECT i_supplier AS s_id, i_order FROM item) supplier",
    "SELECT COUNT(*) FROM (SELECT 'a' AS i_supplier FROM item) item JOIN supplier ON s_id = i_supplier",
    "SELECT COUNT(*) FROM big_orders",
    "SELECT COUNT(*) FROM (SELECT 1 AS o_id) big_orders",
    "SELECT COUNT(*) FROM (SELECT g_to AS g_from, 5 AS g_to, g_order FROM gift) gift",
    "SELECT COUNT(*) FROM (SELECT 1 AS owner_1, o_id AS owner_2, o_id AS weight FROM orders) derivations",
]


def recuses(database: Database, text: str) -> KRelation | None:
    """Return the relation of a question, or None if it is refused."""
    plan = understood(text)
    if plan is None:
        return None
    ((found,),) = collect(database.load(), plan)
    return found


@cache
def understood(text: str) -> Plan | None:
    """Return the plan of a question, which no data can change, or None if it is refused."""
    try:
        plan = compile_query(text, POLICY, the_catalogue())
        check_plan(plan, the_engine())
    except QueryError:
        return None
    return plan


def by_name(database: Database, text: str) -> KRelation | None:
    """The broken twin: a row belongs to the customer that a column called o_customer says."""
    if "o_customer" not in text or "o_id" not in text:
        return None
    inner = text.replace("SELECT COUNT(*)", "SELECT o_customer", 1)
    engine = database.load()
    engine.connection.execute("SET search_path = 'memory.main'")
    rows = engine.connection.sql(inner).fetchall() if inner != text else []
    engine.connection.execute("SET search_path = 'system.main'")
    pairs = [(Participant(("customer", who)), 1) for (who,) in rows]
    return from_expressions(pairs, Shape.CONJUNCTIONS, signed=False)


def misleads(reading: Callable[[Database, str], KRelation | None], text: str) -> bool:
    """Return whether somebody's removal does something else than their withdrawal."""
    found = reading(DATA, text)
    if found is None:
        return False
    for name in sorted(DATA.participants(), key=repr):
        neighbour = reading(DATA.without(name), text)
        if canonical_rows(neighbour) != canonical_rows(without(found, name)):
            return True
    return False


@pytest.mark.parametrize("text", TRICKS)
def test_owners_are_those_who_stored_the_row(text):
    assert not misleads(recuses, text)


def test_most_tricks_are_answered_and_not_just_refused():
    assert sum(recuses(DATA, text) is not None for text in TRICKS) > len(TRICKS) / 2


def test_the_twin_that_believes_names_is_caught():
    assert any(misleads(by_name, text) for text in TRICKS)
