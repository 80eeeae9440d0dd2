"""Policy against catalogue: names are found in any case, and every mismatch names its line and fix."""

from __future__ import annotations

from pathlib import Path

import pytest

from recuse.errors import PolicyError
from recuse.krelation.relation import Shape
from recuse.policy import Policy
from recuse.sql.catalogue import Catalogue, Column, ForeignKey, Table
from recuse.sql.compile import compile_query
from recuse.sql.ownership import Linked, ProtectedTable, PublicTable, own
from support.sql.shop import CATALOGUE, ENFORCED, POLICY


def test_every_table_of_the_policy_has_one_role():
    ownership = own(POLICY, CATALOGUE)
    assert isinstance(ownership.of("CUSTOMER"), ProtectedTable)
    assert isinstance(ownership.of("nation"), PublicTable)
    assert ownership.of("secret") is None
    item = ownership.of("item")
    assert isinstance(item, Linked)
    assert [(hop.target, hop.alternatives, hop.enforced) for hop in item.hops] == [
        ("orders", (("i_order",),), False),
        ("supplier", (("i_supplier",),), False),
    ]


def policy(*links: str) -> Policy:
    return Policy.parse('[[protect]]\ntable = "customer"\nkey = ["c_id"]\n' + "\n".join(links))


def link(table: str, column: str, to: str) -> str:
    return f'[[link]]\ntable = "{table}"\ncolumn = ["{column}"]\nto = "{to}"\n'


ORDERS = link("orders", "o_customer", "customer")
MISTAKES = [
    block.split("--\n") for block in (Path(__file__).parent / "mistakes.txt").read_text().split("====\n")
]


@pytest.mark.parametrize(("text", "message"), MISTAKES)
def test_a_policy_that_does_not_fit_the_database(text, message):
    with pytest.raises(PolicyError) as error:
        own(Policy.parse(text), CATALOGUE)
    assert str(error.value) == message.rstrip()


# ------------------------------------------------------------------ what is completed, and what need not be


def sql(text: str, policy: Policy, catalogue: Catalogue) -> str:
    return compile_query(text, policy, catalogue).single.tables[0].sql


def test_an_enforced_reference_needs_no_second_look():
    found = sql("SELECT COUNT(*) FROM orders", policy(ORDERS), ENFORCED)
    assert "EXISTS" not in found
    assert '"orders"."o_customer" IS NULL' in found


def test_a_join_is_reused_only_if_it_is_the_key_equality():
    shop = policy(ORDERS)
    joined = sql("SELECT COUNT(*) FROM orders o JOIN customer c ON c.c_id = o.o_customer", shop, CATALOGUE)
    assert "EXISTS" not in joined
    for other in (
        "o.o_customer <= c.c_id",
        "o.o_customer = c.c_nation",
        "o.o_id = c.c_id",
        "o.o_customer = c.c_id OR TRUE",
        "NOT o.o_customer = c.c_id",
        "o.o_customer + 0 = c.c_id",
    ):
        assert "EXISTS" in sql(f"SELECT COUNT(*) FROM orders o JOIN customer c ON {other}", shop, CATALOGUE)


def test_an_undirected_edge_is_one_participant():
    edges = Policy.parse('[[protect]]\ntable = "edges"\nkey = ["least(src, dst)", "greatest(src, dst)"]')
    (query,) = compile_query("SELECT COUNT(*) FROM edges", edges, CATALOGUE).single.tables
    assert [owner.columns for owner in query.owners] == [("owner_1_1", "owner_1_2")]
    assert 'least("edges"."src", "edges"."dst") AS owner_1_1' in query.sql
    assert query.sql.count("IS NULL") == 2


def test_composite_references_follow_the_order_of_the_link():
    catalogue = Catalogue(
        (
            Table("customer", (Column("c_id", "INTEGER"),)),
            Table(
                "visit",
                tuple(Column(name, "INTEGER") for name in ("shop", "number", "who")),
                keys=(("shop", "number"),),
            ),
            Table(
                "line",
                tuple(Column(name, "INTEGER") for name in ("n", "s")),
                foreign_keys=(ForeignKey(("s", "n"), "visit", ("shop", "number")),),
            ),
        )
    )
    text = '[[link]]\ntable = "line"\ncolumn = ["n", "s"]\nto = "visit"\n'
    found = sql("SELECT COUNT(*) FROM line", policy(link("visit", "who", "customer"), text), catalogue)
    assert '("line"."n" = "line_visit"."number") AND ("line"."s" = "line_visit"."shop")' in found


def test_any_of_several_owners_is_one_choice():
    gift = Policy.parse(
        '[[protect]]\nkind = "person"\n[[link]]\ntable = "edges"\nany = [["src"], ["dst"]]\nto = "person"'
    )
    query = compile_query("SELECT COUNT(*) FROM edges", gift, CATALOGUE).single
    assert query.shape is Shape.CLAUSES
    (below,) = query.tables[0].below
    assert [table.owners[0].kind for table in below.group.tables] == ["person", "person"]
    two = compile_query("SELECT COUNT(*) FROM edges a, edges b", gift, CATALOGUE).single
    assert two.shape is Shape.TREES


def test_the_explanation_names_tables_owners_and_completions():
    text = "SELECT SUM(i_price) FROM item"
    lines = list(compile_query(text, POLICY, CATALOGUE).explanation.lines())
    assert lines == [
        "question    a signed sum, in units of 0.01",
        "understood  SELECT SUM(item.i_price) FROM item",
        "table       item: a row belongs to (i_order) → orders and (i_supplier) →",
        "            supplier",
        "table       orders as item_orders: a row belongs to (o_customer) → customer",
        "completed   item joined with orders as item_orders",
        "completed   rows of item_orders whose customer exists",
        "completed   rows of item whose supplier exists",
        "owner       customer item_orders.o_customer",
        "owner       supplier item.i_supplier",
    ]


@pytest.mark.parametrize("kind", ["TIMESTAMP_NS", "TIMESTAMP_MS", "TIMESTAMP_S"])
def test_a_declared_key_that_is_read_in_another_precision_is_refused(kind):
    """Two rows a nanosecond apart are unique as stored and one as read: groups would share people unseen."""
    text = '[[protect]]\ntable = "visit"\nkey = ["p"]\n[[key]]\ntable = "visit"\ncolumn = ["{}"]\n'
    catalogue = Catalogue((Table("visit", (Column("p", "INTEGER"), Column("d", kind))),))
    assert own(Policy.parse(text.format("p")), catalogue)
    with pytest.raises(PolicyError, match="two may be read as one"):
        own(Policy.parse(text.format("d")), catalogue)
