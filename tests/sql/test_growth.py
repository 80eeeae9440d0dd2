"""A warning before the charge: joins that can have too many rows, from sizes that are stated or public."""

from __future__ import annotations

import pytest

from recuse.errors import PolicyError, QueryError
from recuse.policy import Policy
from recuse.session.session import JoinGrowthWarning, Session, connect
from recuse.sql.compile import compile_query
from support.shop import COUNT, make_shop
from support.sql.bazaar import POLICY, catalogue

KEYED = "SELECT COUNT(*) FROM orders o JOIN customer c ON o.customer = c.id JOIN nation n ON c.nation = n.id"
LATER = "SELECT COUNT(*) FROM orders a JOIN orders b ON a.id < b.id"
SELF = "SELECT COUNT(*) FROM orders a JOIN orders b ON a.customer = b.customer"


@pytest.fixture
def shop(tmp_path) -> Session:
    database, policy = make_shop(tmp_path)
    policy.write_text(policy.read_text() + "\n[rows]\norders = 1_000_000\ncustomer = 1000\n")
    return connect(database, policy)


def test_a_join_that_can_grow_is_told_before_it_is_charged(shop):
    (told,) = shop.explain(LATER).warnings
    assert "orders × orders can have 1,000,000,000,000 rows" in told
    assert told in " ".join(" ".join(shop.explain(LATER).lines()).split())
    with pytest.warns(JoinGrowthWarning, match="orders × orders"):
        shop.ask("SELECT COUNT(*) FROM orders a, orders b WHERE a.id < 3 AND b.id < 3", 1)


@pytest.mark.parametrize(
    "sql",
    [
        COUNT,
        KEYED,
        KEYED.replace("nation n ON c.nation = n.id", "nation n ON TRUE"),
        SELF,
        SELF + " JOIN orders c ON c.customer = b.customer",
    ],
)
def test_a_join_by_a_key_and_a_small_one_are_not(shop, sql):
    """Five nations, a public number, times a million orders is not too much; and a join that is added up
    before it is multiplied has a row for each customer."""
    assert shop.explain(sql).warnings == ()


def test_without_sizes_nothing_is_said(tmp_path):
    assert connect(*make_shop(tmp_path)).explain(LATER).warnings == ()


def test_sizes_are_whole_numbers_and_no_part_of_what_a_policy_is():
    text = '[[protect]]\nkind = "person"\n'
    assert Policy.parse(text + "[rows]\nperson = 3").rows_of("PERSON") == 3
    assert Policy.parse(text + "[rows]\nperson = 3") == Policy.parse(text)
    with pytest.raises(PolicyError, match="policy line 4: the number of rows of person is no whole number"):
        Policy.parse(text + "[rows]\nperson = 0.5")


@pytest.mark.parametrize(("tied", "answered"), [("", False), (" WHERE a.o_customer = b.o_customer", True)])
def test_many_private_tables_that_nothing_ties_together_are_refused(tied, answered):
    text = f"SELECT COUNT(*) FROM orders a, orders b, {', '.join(f'item i{n}' for n in range(7))}{tied}"
    if answered:
        compile_query(text, POLICY, catalogue())
        return
    with pytest.raises(QueryError, match="9 private tables"):
        compile_query(text, POLICY, catalogue())


def test_public_tables_may_stand_side_by_side():
    text = f"SELECT COUNT(*) FROM orders, {', '.join(f'nation n{n}' for n in range(9))}"
    compile_query(text, POLICY, catalogue())
