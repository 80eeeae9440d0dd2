"""MAX, MIN and quantiles: how they are written, what they mean, what is refused, what is released."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

import duckdb
import pytest
from hypothesis import given, settings

from recuse.engines.binding import check_plan
from recuse.errors import QueryError
from recuse.privacy import Epsilon
from recuse.session.parts import Parts
from recuse.session.session import connect
from recuse.session.sql_question import SqlQuestion
from recuse.solver.fast import fast_programs
from recuse.sql.compile import compile_query, schema_of
from recuse.sql.formula import ORIGIN
from recuse.sql.identity import meaning
from recuse.sql.lower import written_out
from recuse.sql.ordered import Unit
from support.noise import Seeded
from support.profiles import examples, some
from support.shop import make_shop
from support.sql.shop import CATALOGUE, POLICY, full_databases

SAME = {
    "MEDIAN(o_total)": [
        "QUANTILE_CONT(o_total, 0.5)",
        "quantile(o_total, 0.5)",
        "APPROX_QUANTILE(o_total, 0.5)",
    ],
    "PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY o_total)": [
        "QUANTILE_DISC(o_total, 0.9)",
        "PERCENTILE_CONT(0.1) WITHIN GROUP (ORDER BY o_total DESC)",
    ],
    "MAX(o_total)": ["QUANTILE_CONT(o_total, 1)"],
    "MIN(o_total)": ["QUANTILE_CONT(o_total, 0)", "PERCENTILE_CONT(1) WITHIN GROUP (ORDER BY o_total DESC)"],
}


def plan_of(what: str, rest: str = "FROM orders"):
    return compile_query(f"SELECT {what} {rest}", POLICY, CATALOGUE)


@pytest.mark.parametrize("first", SAME)
def test_spellings_of_one_quantile_are_one_question(first):
    assert all(meaning(plan_of(first)) == meaning(plan_of(other)) for other in SAME[first])
    others = [meaning(plan_of(other)) for other in SAME if other != first]
    assert meaning(plan_of(first)) not in others


REFUSED = {
    "MEDIAN(c_name)": "needs numbers, dates or timestamps",
    "MAX(o_date) + 1": "not a number",
    "date_diff('month', MIN(o_date), MAX(o_date))": "days between dates",
    "MAX(o_total, 3)": "not understood",
    "QUANTILE_CONT(o_total, 1.5)": "not understood",
    "QUANTILE_CONT(o_total, o_id)": "not understood",
    "MAX(o_total > 3)": "needs numbers",
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_not_understood_is_refused(what):
    with pytest.raises(QueryError, match=REFUSED[what]):
        plan_of(what, "FROM orders JOIN customer ON o_customer = c_id")


def test_rows_that_others_can_take_away_have_no_rank():
    text = "FROM orders WHERE o_id NOT IN (SELECT i_order FROM item)"
    assert plan_of("COUNT(*)", text).single.signed
    with pytest.raises(QueryError, match="take away"):
        plan_of("MEDIAN(o_total)", text)


TRUTHS = {
    "MAX(o_total)": "FROM orders",
    "MIN(o_total)": "FROM orders WHERE o_total > 1",
    "QUANTILE_DISC(o_total, 0.5)": "FROM orders",
    "QUANTILE_DISC(i_count, 0.25)": "FROM item JOIN orders ON i_order = o_id",
    "MAX(DISTINCT o_total)": "FROM orders",
    "MIN(o_total) FILTER (WHERE o_id > 1)": "FROM orders",
    "MAX(o_date)": "FROM orders",
    "MIN(o_date)": "FROM orders JOIN customer ON o_customer = c_id",
    "QUANTILE_DISC(o_date, 0.5)": "FROM orders",
    "MAX(CAST(o_date AS TIMESTAMP))": "FROM orders",
    "MAX(c_nation)": "FROM customer WHERE c_id IN (SELECT o_customer FROM orders)",
}


@pytest.mark.parametrize("what", some([*TRUTHS], 0.5))
def test_without_noise_it_is_what_the_engine_says(what):
    @settings(max_examples=examples(12))
    @given(full_databases())
    def law(database):
        engine, text = database.load(), f"SELECT {what} {TRUTHS[what]}"
        plan = compile_query(text, POLICY, engine.catalogue())
        check_plan(plan, engine)
        question = SqlQuestion.of(plan, engine, Epsilon.of(1), "selective", "")
        ((found,),) = [groups.true_answers() for groups in question.read_private_rows(fast_programs)]
        plain = written_out(plan.asked[0], schema_of(text, POLICY, engine.catalogue()))
        owned = database.owned().load()
        ((exact,),) = owned.connection.execute(plan.dialect.statement(plain)).fetchall()
        if isinstance(exact, date):
            per_day = 1 if plan.single.aggregate.unit is Unit.DAY else 86_400
            assert found == per_day * (exact.toordinal() - ORIGIN.toordinal())
            return
        shown = None if found is None else found * plan.measures[0].granularity
        assert shown == (None if exact is None else Fraction(str(exact)))

    law()


@pytest.fixture
def shop(tmp_path):
    database, policy = make_shop(tmp_path)
    policy.write_text(policy.read_text().replace("epsilon = 2", "epsilon = 1000"))
    with duckdb.connect(str(database)) as connection:
        connection.execute("INSERT INTO customer SELECT i, 'c', i % 5 FROM range(1000, 4000) t(i)")
        connection.execute("INSERT INTO orders SELECT i, i, i % 100 FROM range(6000, 9000) t(i) WHERE i < 0")
        connection.execute("INSERT INTO orders SELECT i + 6000, i, i % 100 FROM range(1000, 4000) t(i)")
    return connect(database, policy, parts=Parts(noise=Seeded(7)))


def test_answers_are_near_the_truth(shop):
    """3,190 people: the middle of the values is told within a few, the ends within a fifth."""
    median = shop.ask("SELECT MEDIAN(price) FROM orders WHERE id > 6000", 2)
    assert abs(float(median) - 50) < 8
    assert median.interval == (None, None)
    assert 80 < float(shop.ask("SELECT MAX(price) FROM orders WHERE id > 6000", 2)) < 200
    grouped = shop.ask(
        "SELECT c.nation, QUANTILE_CONT(price, 0.5) FROM orders JOIN customer c ON c.id = customer "
        "WHERE c.nation IN (0, 1) AND orders.id > 6000 GROUP BY c.nation",
        4,
    )
    assert [abs(float(row.cells[0].value) - 50) < 15 for row in grouped] == [True, True]
    assert "picked by its rank" in str(median)
    assert shop.ask("SELECT MEDIAN(price) FROM orders WHERE id > 6000", 2).value == median.value, "stored"


def test_a_maximum_of_nobody_is_no_number(shop):
    answer = shop.ask("SELECT MAX(price) FROM orders WHERE id < 0", 1)
    assert answer.value is None
    assert shop.ask("SELECT MAX(price) FROM orders WHERE id < 0", 1).value is None, "the stored answer too"


def test_a_public_maximum_is_exact_and_free(shop):
    assert shop.ask("SELECT MAX(id) FROM nation", 1).value == 4
    assert shop.ask("SELECT MIN(id) FROM nation WHERE id > 100", 1).value is None


@pytest.mark.parametrize(
    ("rows", "each"),
    [
        ("orders, nation n", 1),
        (
            "orders JOIN orders AS other ON other.id = orders.id + 1 AND orders.id < 40, nation n",
            Fraction(1, 5),
        ),
    ],
)
def test_groups_that_share_people_share_epsilon_unless_rows_have_one_owner(shop, rows, each):
    question = shop.question(f"SELECT n.id, MAX(orders.price) FROM {rows} GROUP BY n.id", 1)
    assert question.parts[0].mechanism.epsilon == each
    (cells,) = {cell.epsilon for row in shop.reply(question) for cell in row.cells}
    assert cells == 1


def test_a_rank_far_from_the_middle_is_looked_for_near_the_middle(shop):
    """And τ is chosen by how many rows people have."""
    text = "SELECT QUANTILE_CONT(price, 0.9) FROM orders WHERE id > 6000"
    assert abs(float(shop.ask(text, 4)) - 90) < 8
    (groups,) = shop.question(text, 5).read_private_rows(fast_programs)
    assert [programs.largest_load() for programs in groups.signs] == [1]
