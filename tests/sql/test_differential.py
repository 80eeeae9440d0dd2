"""Generated queries over generated databases: DuckDB's own answer, and the privacy law.

For every query and every participant p, the K-relation with p→False is the K-relation of the database
without p: the one property on which all privacy rests.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import duckdb
import pytest
from hypothesis import HealthCheck, assume, given, settings

from recuse.engines.binding import check_plan
from recuse.engines.collect import collect
from recuse.errors import QueryError
from recuse.krelation.build import canonical_rows, without
from recuse.krelation.relation import KRelation, Shape
from recuse.sql.compile import PASSES, compile_query
from recuse.sql.plan import Plan
from recuse.sql.query import Choice
from recuse.sql.walk import map_blocks
from support.profiles import examples
from support.sql.grammar import questions
from support.sql.shop import POLICY, TABLES, Database, full_databases, the_catalogue, the_engine
from support.sql.syntactic import syntactic_rows

quietly = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


def compiled(text: str) -> Plan:
    plan = compile_query(text, POLICY, the_catalogue())
    check_plan(plan, the_engine())
    return plan


def relation(database: Database, plan: Plan) -> KRelation:
    ((found,),) = collect(database.load(), plan)
    return found


def plain_answer(database: Database, text: str) -> Fraction:
    """Return DuckDB's own answer to the very text."""
    connection = database.owned().load().connection
    connection.execute("SET search_path = 'memory.main'")
    try:
        ((answer,),) = connection.sql(text).fetchall()
    except duckdb.Error:
        assume(False)
    finally:
        connection.execute("SET search_path = 'system.main'")
    return Fraction(str(answer or 0))


def check(text: str, database: Database) -> None:
    try:
        plan = compiled(text)
    except QueryError as error:
        # the grammar writes no types and no bounds: what is refused for those is not its fault
        assume("differ in the type" not in str(error) and "too many" not in str(error))
        raise
    found = relation(database, plan)
    assert found.true_answer() * plan.single.granularity == plain_answer(database, text)
    for name in sorted(database.participants(), key=repr):
        neighbour, left = relation(database.without(name), plan), without(found, name)
        if found.shape is Shape.TREES:
            assert syntactic_rows(neighbour) == syntactic_rows(left)
        else:
            assert canonical_rows(neighbour) == canonical_rows(left)


@settings(max_examples=examples(50), suppress_health_check=quietly)
@given(questions(), full_databases())
def test_a_generated_query_is_answered_and_its_neighbours_are_its_withdrawals(text, database):
    check(text, database)


@pytest.mark.slow
@settings(max_examples=examples(500), suppress_health_check=quietly)
@given(questions(), full_databases())
def test_thousands_of_generated_queries(text, database):
    check(text, database)


def test_the_law_can_fail(monkeypatch):
    """A pass that forgets the owners of a subquery breaks the law, and the tests above would see it."""

    def forgetful(measure, _):
        def forget(block):
            choices = (Choice(tuple(replace(b, owners=()) for b in c.branches)) for c in block.choices)
            return replace(block, choices=tuple(choices))

        return replace(measure, blocks=map_blocks(measure.blocks, forget))

    monkeypatch.setattr("recuse.sql.compile.PASSES", (*PASSES, forgetful))
    rows = {table: [] for table in TABLES}
    rows |= {
        "customer": [(1, 1, "a")],
        "supplier": [("a", 1)],
        "orders": [(1, 1, None, None)],
        "item": [(1, "a", 1.0, 1)],
    }
    with pytest.raises(AssertionError):
        check(
            "SELECT COUNT(*) FROM orders o WHERE EXISTS (SELECT 1 FROM item i WHERE i.i_order = o.o_id)",
            Database(rows),
        )
