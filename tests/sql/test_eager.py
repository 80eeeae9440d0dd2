"""Rows that are added up before they are joined: the same relation as when every derivation is listed."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from recuse.engines.binding import check_plan
from recuse.engines.collect import collect, collect_domain
from recuse.krelation.build import canonical_rows, without
from recuse.sql import eager, jointree
from recuse.sql.compile import compile_query
from recuse.sql.eager import MOST_COPIES
from recuse.sql.identity import meaning
from recuse.sql.jointree import JoinUnit
from recuse.sql.plan import DerivationQuery, Plan
from recuse.sql.query import Block, BlockSource
from support.profiles import examples, some
from support.sql.shop import KEYED, POLICY, Database, databases, full_databases, the_catalogue, the_engine

JOINS = {
    "customer": {"c_id": "number", "c_nation": "number", "c_name": "text"},
    "supplier": {"s_id": "text", "s_nation": "number"},
    "orders": {"o_id": "number", "o_customer": "number", "o_total": "number"},
    "item": {"i_order": "number", "i_supplier": "text", "i_count": "number", "i_price": "number"},
    "edges": {"src": "number", "dst": "number"},
    "gift": {"g_from": "number", "g_to": "number", "g_order": "number"},
    "nation": {"n_id": "number", "n_name": "text"},
}


@st.composite
def join_questions(draw: st.DrawFn) -> str:
    """Draw a join of two to four tables along a tree, sometimes with a circle: a count or a sum, filtered."""
    tables = draw(st.lists(st.sampled_from(sorted(JOINS)), min_size=2, max_size=4))
    aliases = [f"t{number}" for number in range(len(tables))]
    columns = [
        (a, name, kind) for a, t in zip(aliases, tables, strict=True) for name, kind in JOINS[t].items()
    ]

    def column(alias: str, kind: str) -> str | None:
        found = [f"{a}.{name}" for a, name, other in columns if a == alias and other == kind]
        return draw(st.sampled_from(found)) if found else None

    def joined(one: str, other: str) -> list[str]:
        kind = draw(st.sampled_from(["number", "number", "text"]))
        left, right = column(one, kind), column(other, kind)
        operator = draw(st.sampled_from(["=", "=", "=", "=", "<=", "IS DISTINCT FROM"]))
        return [f"{left} {operator} {right}"] if left and right else []

    above = [draw(st.sampled_from(aliases[:place])) for place in range(1, len(aliases))]
    conditions = [c for one, other in zip(aliases[1:], above, strict=True) for c in joined(one, other)]
    if len(aliases) > 2 and draw(st.booleans()):
        conditions += joined(aliases[0], aliases[-1])
    for alias in aliases:
        number = column(alias, "number")
        if number and draw(st.booleans()):
            conditions.append(draw(st.sampled_from([f"{number} > 1", f"{number} IS NOT NULL"])))
    numbers = [f"{a}.{name}" for a, name, kind in columns if kind == "number" and name != "i_price"]
    one, other = draw(st.sampled_from(numbers)), draw(st.sampled_from(numbers))
    what = draw(
        st.sampled_from(["COUNT(*)", "COUNT(*)", f"COUNT({one})", f"SUM({one})", f"SUM({one} - {other})"])
    )
    sources = ", ".join(f"{table} {alias}" for table, alias in zip(tables, aliases, strict=True))
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"SELECT {what} FROM {sources}{where}"


def listed(plan: Plan) -> Plan:
    """Return the plan in which every derivation is listed."""

    def plain(measure: DerivationQuery) -> DerivationQuery:
        tables = (
            replace(table, sql=table.sql if table.meant is None else table.meant.sql(), meant=None)
            for table in measure.tables
        )
        return replace(measure, tables=tuple(tables))

    return replace(plan, measures=tuple(map(plain, plan.measures)))


def adds_up(plan: Plan) -> bool:
    return any(table.meant is not None for measure in plan.measures for table in measure.tables)


def compiled(text: str) -> Plan:
    plan = compile_query(text, POLICY, the_catalogue())
    check_plan(plan, the_engine())
    return plan


def rows(database: Database, plan: Plan) -> list[object]:
    engine = database.load()
    domain = collect_domain(engine, plan.grouping)
    return [canonical_rows(found) for groups in collect(engine, plan, domain) for found in groups]


def judge(text: str, database: Database) -> None:
    plan = compiled(text)
    assert rows(database, plan) == rows(database, listed(plan))


@settings(max_examples=examples(30))
@given(text=join_questions(), database=databases() | full_databases())
def test_adding_up_early_changes_no_relation(text, database):
    assume(adds_up(compile_query(text, POLICY, the_catalogue())))
    judge(text, database)


CUSTOMERS = [(1, 1, "a"), (2, 1, "b")]
ORDERS = [(number, 1 + number % 2, None, f"{number}.00") for number in range(1, 8)]
SMALL = Database({"customer": CUSTOMERS, "orders": ORDERS})
FILTERED = "SELECT COUNT(*) FROM orders a JOIN orders b ON a.o_customer = b.o_customer WHERE b.o_total > 4"


def test_the_law_fails_if_a_filter_is_forgotten_whose_column_is_dropped(monkeypatch):
    """Twin: conditions over one table are not asked before its rows are added up, and nowhere else."""
    monkeypatch.setattr(jointree, "_unit", lambda block, names, _: JoinUnit(taken(block, names)))
    with pytest.raises(AssertionError):
        judge(FILTERED, SMALL)


def test_the_law_fails_if_rows_are_told_apart_but_not_counted(monkeypatch):
    """Twin: equal rows of a table are one row, as with DISTINCT."""
    monkeypatch.setattr(eager, "MOST_COPIES", 1)
    with pytest.raises(AssertionError):
        judge(FILTERED, SMALL)
    monkeypatch.undo()
    judge(FILTERED, SMALL)


def taken(block: Block, names: frozenset[str]) -> tuple[BlockSource, ...]:
    return tuple(source for source in block.sources if source.alias in names)


@settings(max_examples=examples(6))
@given(database=full_databases(), most=st.integers(1, 4))
@pytest.mark.parametrize("text", [FILTERED, "SELECT SUM(a.o_total) FROM orders a, edges"])
def test_a_withdrawal_removes_whole_rows_also_where_copies_are_cut_off(text, database, most):
    """The privacy law does not rest on the bound, which no database reaches."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(eager, "MOST_COPIES", most)
        plan = compile_query(text, POLICY, the_catalogue())
    assert adds_up(plan)
    ((found,),) = collect(database.load(), plan)
    for name in sorted(database.participants(), key=repr):
        ((neighbour,),) = collect(database.without(name).load(), plan)
        assert canonical_rows(neighbour) == canonical_rows(without(found, name))


@pytest.mark.parametrize(("tables", "value"), [(9, 90**9), (10, MOST_COPIES), (16, MOST_COPIES)])
def test_a_join_of_any_size_is_counted_and_never_fails(tables, value):
    """Beyond 2^63 - 1 rows of one owner it is that many: 90^10 and 90^16 are more."""
    database = Database({"customer": [(1, 1, "a")], "orders": [(n, 1, None, "1.00") for n in range(90)]})
    aliases = [f"t{number}" for number in range(tables)]
    sources = ", ".join(f"orders {alias}" for alias in aliases)
    where = " AND ".join(f"{one}.o_customer = {other}.o_customer" for one, other in pairwise(aliases))
    ((found,),) = collect(database.load(), compiled(f"SELECT COUNT(*) FROM {sources} WHERE {where}"))
    assert found.true_answer() == value


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM item JOIN orders ON i_order = o_id JOIN customer ON o_customer = c_id",
        "SELECT COUNT(*) FROM customer, orders, item WHERE i_order = o_id AND o_customer = c_id",
        "SELECT COUNT(*) FROM orders, customer, item WHERE i_order = o_id AND o_customer = c_id",
        "SELECT COUNT(*) FROM edges a, edges b, edges c "
        "WHERE a.dst = b.src AND b.dst = c.src AND c.dst = a.src",
    ],
)
def test_joins_along_keys_and_circles_are_listed_as_before(text):
    assert not adds_up(compile_query(text, POLICY, KEYED))


def test_the_order_of_tables_changes_no_meaning():
    """Which table is the root of the join tree is no part of what is asked."""
    where = "WHERE o_customer = c_id AND c_nation = n_id AND o_total > 1"
    one = compiled(f"SELECT COUNT(*) FROM customer, orders, nation {where}")
    other = compiled(f"SELECT COUNT(*) FROM customer, nation, orders {where}")
    assert adds_up(one)
    assert one.statements != other.statements
    assert meaning(one) == meaning(other)


SELF = "SELECT COUNT(*) FROM orders a JOIN orders b ON a.o_customer = b.o_customer"
WRITTEN = [
    SELF,
    "SELECT SUM(a.o_total) FROM orders a JOIN orders b ON a.o_customer = b.o_customer WHERE b.o_total > 1",
    "SELECT COUNT(*) FROM gift g JOIN gift h ON g.g_order = h.g_order JOIN item i ON i.i_order = h.g_order",
    "SELECT COUNT(*) FROM orders a, orders b, nation WHERE a.o_date < b.o_date",
    "SELECT n_name, COUNT(*) FROM nation JOIN customer ON c_nation = n_id JOIN edges ON src = c_nation "
    "GROUP BY n_name",
    "SELECT COUNT(*) FROM orders a JOIN item i ON i.i_order = a.o_id JOIN item j ON j.i_order = a.o_id "
    "WHERE EXISTS (SELECT 1 FROM gift WHERE g_order = a.o_id)",
    "SELECT COUNT(*) FROM orders a JOIN orders b ON a.o_customer = b.o_customer "
    "WHERE a.o_id NOT IN (SELECT i_order FROM item)",
    "SELECT COUNT(*) FROM (SELECT DISTINCT c_nation FROM customer) t JOIN supplier ON s_nation = c_nation "
    "JOIN edges ON dst = c_nation",
    "SELECT COUNT(n_name) FROM orders a LEFT JOIN nation ON a.o_id = n_id JOIN edges ON src = a.o_customer",
    "SELECT SUM(a.o_total * b.o_id) FROM orders a, orders b, edges "
    "WHERE a.o_customer = src AND b.o_customer = dst",
]


@pytest.mark.parametrize("text", some([*WRITTEN], 0.5))
@settings(max_examples=examples(4))
@given(database=full_databases())
def test_written_questions_agree(text, database):
    assert adds_up(compiled(text))
    judge(text, database)


@settings(max_examples=examples(8))
@given(database=full_databases())
def test_values_keep_their_rows_apart(database):
    plan = compiled("SELECT MEDIAN(a.o_total) FROM orders a JOIN orders b ON a.o_customer = b.o_customer")
    assert adds_up(plan)
    tables = [database.load().run(one.statements)[0].to_pylist() for one in (plan, listed(plan))]
    one, other = (sorted((row["owner_1"], row["value"], int(row["weight"])) for row in t) for t in tables)
    assert one == other
