"""Numbers that are released first: one charge, a stated split, the rest asked with them in its place."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse.engines.collect import collect, collect_domain
from recuse.krelation.build import canonical_rows, without
from recuse.session.parts import Parts
from recuse.session.session import Session, connect
from recuse.sql.compile import compile_query
from recuse.sql.placeholder import DECIMAL, FIRST_SHARE, WHOLE, filled, fitted
from recuse.sql.plan import Plan
from support.noise import Seeded
from support.profiles import examples, some
from support.shop import make_shop
from support.sql.shop import POLICY, Database, full_databases, the_catalogue, the_engine

ABOVE = "SELECT COUNT(*) FROM orders WHERE price > (SELECT AVG(price) FROM orders)"
LAW = [
    "SELECT COUNT(*) FROM orders WHERE o_total > (SELECT AVG(o_total) FROM orders)",
    "SELECT SUM(o_total - (SELECT COUNT(*) FROM item)) FROM orders",
    "SELECT c_nation, COUNT(*) FROM customer WHERE c_nation IN (0, 1, 2) "
    "AND c_id < 2 * (SELECT COUNT(*) FROM edges) GROUP BY c_nation",
    "SELECT COUNT(*) FROM customer WHERE c_id IN "
    "(SELECT o_customer FROM orders WHERE o_total <= (SELECT SUM(o_total) FROM orders))",
    "SELECT COUNT(*) FROM orders, (SELECT AVG(o_total) AS mean FROM orders) m WHERE o_total < mean",
]
VALUES = [None, Fraction(0), Fraction(-123, 10), Fraction(1, 3), Fraction(10**40)]


def relations(plan: Plan, database: Database) -> list:
    engine = database.load()
    domain = collect_domain(engine, plan.grouping)
    return [group for groups in collect(engine, plan, domain) for group in groups]


@pytest.mark.parametrize("text", some([*LAW], 0.5))
@settings(max_examples=examples(6))
@given(database=full_databases(), value=st.sampled_from(VALUES))
def test_whatever_was_released_the_rest_obeys_the_privacy_law(text, database, value):
    plan = compile_query(text, POLICY, the_catalogue()).filled([value])
    found = relations(plan, database)
    for name in sorted(database.participants(), key=repr):
        for group, neighbour in zip(found, relations(plan, database.without(name)), strict=True):
            assert canonical_rows(neighbour) == canonical_rows(without(group, name))


def exactly(plan: Plan, database: Database) -> Fraction | None:
    """Return the true value of the number that a plan releases first."""
    (first,) = plan.firsts
    total, *count = (relation.true_answer() for relation in relations(first.plan, database))
    scaled = total * first.plan.measures[0].granularity
    return scaled if not count else None if count[0] == 0 else scaled / count[0]


def test_a_twin_that_puts_the_true_number_in_is_caught():
    """Then a withdrawal moves the number, and with it rows of people who have not withdrawn."""
    text = LAW[0]
    rows = {
        "customer": [(1, 1, "a"), (2, 1, "b"), (3, 1, "c")],
        "orders": [(1, 1, None, "1.00"), (2, 2, None, "2.00"), (3, 3, None, "30.00")],
    }
    database, plan = (
        Database(rows | {"item": [], "gift": []}),
        compile_query(text, POLICY, the_catalogue()),
    )
    broken = []
    for name in sorted(database.participants()):
        (whole,) = relations(plan.filled([exactly(plan, database)]), database)
        smaller = database.without(name)
        (neighbour,) = relations(plan.filled([exactly(plan, smaller)]), smaller)
        broken.append(canonical_rows(neighbour) != canonical_rows(without(whole, name)))
    assert any(broken)


@settings(max_examples=examples(40))
@given(st.none() | st.fractions(), st.sampled_from([WHOLE, DECIMAL]))
def test_every_number_fits_its_place_and_runs(value, kind):
    fit = fitted(value, kind)
    assert (fit is None) == (value is None)
    sql = filled('SELECT "released first"."0" AS found', [value], [kind])
    (row,) = the_engine().run([sql])[0].to_pylist()
    assert row["found"] is None if fit is None else Fraction(row["found"]) == fit


def test_a_place_is_filled_nowhere_but_in_its_place():
    written = """SELECT '"released first"."0"', "released first"."0", "a ""released first"".""0""" + '"'
    assert filled(written, [Fraction(7)], [WHOLE]).count("7") == 1


# ------------------------------------------------------------------ the session


@pytest.fixture
def shop(tmp_path) -> Session:
    database, policy = make_shop(tmp_path)
    return connect(database, policy, parts=Parts(noise=Seeded(5)))


def test_it_is_one_charge_split_by_a_rule(shop):
    question = shop.question(ABOVE, 1)
    firsts = [part.mechanism.epsilon for first in question.firsts for part in first.parts]
    rest = [part.mechanism.epsilon for part in question.parts]
    assert (sum(firsts), sum(rest)) == (FIRST_SHARE, 1 - FIRST_SHARE)
    assert len(firsts) == 2  # an average is a sum and a count
    answer = shop.ask(ABOVE, 1)
    assert shop.budget.spent == 1
    assert answer.epsilon == 1


def test_an_answer_shows_the_number_and_keeps_it(shop):
    first = shop.ask(ABOVE, 1)
    ((stand_in),) = first.stand_ins
    assert stand_in.text == "SELECT AVG(price) FROM orders"
    assert abs(stand_in.cell.value - Fraction(325, 100)) < 1
    assert "stands for SELECT AVG(price) FROM orders" in str(first)
    again = shop.ask(ABOVE.replace("orders WHERE", "orders o WHERE") + " HAVING COUNT(*) > 0", 1)
    assert (again.stored, again.stand_ins, again.value) == (True, first.stand_ins, first.value)
    assert shop.budget.spent == 1


def test_what_is_dropped_from_a_table_is_released_and_stored_all_the_same(shop):
    grouped = "SELECT n.name, COUNT(*) AS k FROM customer c JOIN nation n ON c.nation = n.id GROUP BY n.name"
    few = shop.ask(grouped + " HAVING k > 100000", 1)
    assert len(few) == 0
    assert str(few)
    some = shop.ask(grouped + " ORDER BY k DESC LIMIT 2", 1)
    every = shop.ask(grouped, 1)
    assert (some.stored, every.stored, len(some), len(every)) == (True, True, 2, 5)
    assert [row.cells for row in some] == sorted(
        (row.cells for row in every), key=lambda cells: -cells[0].value
    )[:2]
    assert shop.budget.spent == 1


def test_an_aggregate_that_stands_only_in_having_shares_the_loss(shop):
    grouped = "SELECT n.name, COUNT(*) FROM customer c JOIN nation n ON c.nation = n.id GROUP BY n.name"
    assert len(shop.question(grouped, 1).parts) == 1
    assert len(shop.question(grouped + " HAVING SUM(c.id) > 3", 1).parts) == 2
    assert len(shop.question(grouped + " ORDER BY SUM(c.id), COUNT(*)", 1).parts) == 2


def test_numbers_of_nobody_cost_nothing(shop):
    free = shop.ask("SELECT COUNT(*) FROM nation WHERE id < (SELECT COUNT(*) / 2 FROM nation)", 1)
    assert (free.value, free.epsilon, shop.has_ledger) == (3, 0, False)
    # all of ε goes where people are: the rows behind are about nobody
    question = shop.question("SELECT COUNT(*) FROM nation WHERE id < (SELECT AVG(price) FROM orders)", 1)
    assert sum(part.mechanism.epsilon for first in question.firsts for part in first.parts) == 1
    assert [part.mechanism for part in question.parts] == [None]
    assert 0 <= shop.reply(question).value <= 5


def test_only_numbers_that_were_released(shop):
    answer = shop.ask("SELECT (SELECT COUNT(*) FROM orders) - (SELECT COUNT(*) FROM customer) AS gap", 1)
    assert answer.epsilon == 1
    assert len(answer.stand_ins) == 2
    assert answer.value == answer.stand_ins[0].cell.value - answer.stand_ins[1].cell.value
    assert answer.number.confidence == pytest.approx(0.9)
