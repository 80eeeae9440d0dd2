"""Thresholds in SQL: all comparisons on every sub-database, what is refused and what to write, twins."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import pytest
from sqlglot import exp

from recuse.annotation import FALSE, Participant, at_least, withdraw
from recuse.engines.binding import check_plan
from recuse.engines.collect import collect, collect_domain
from recuse.errors import QueryError
from recuse.krelation.build import expressions
from recuse.krelation.relation import Shape
from recuse.sql import derive as derivations
from recuse.sql.compile import compile_query
from recuse.sql.totals import breakpoints
from support.profiles import examples, some
from support.sql.market import MARKETS, Contents, Maker, Market, close_engines
from support.sql.subdatabases import Derived, Judge, LawError, check, close_judge, derive
from support.sql.syntactic import sorted_tree

SOLD = "(SELECT {} FROM item WHERE i_product = p_id)"
TOTALS = (
    "COUNT(*)",
    "COUNT(i_supplier)",
    "COUNT(DISTINCT i_supplier)",
    "SUM(GREATEST(i_count, 0))",
    "COALESCE(SUM(ABS(i_count)), 0)",
    "COUNT_IF(i_count > 1)",
)
COMPARISONS = (">= 2", "> 2", "= 2", "<> 1", "< 3", "<= 1", "BETWEEN 2 AND 3", ">= 1", "= 0", "> 1.5",
               "IN (1, 3)", "NOT IN (0, 2)")  # fmt: skip
GROUPED = (
    "SELECT COUNT(*) FROM (SELECT i_product FROM item GROUP BY i_product HAVING {}) t",
    "SELECT COUNT(*) FROM product WHERE p_id IN (SELECT i_product FROM item GROUP BY 1 HAVING {})",
    "SELECT p_kind, COUNT(*) FROM product WHERE p_id IN "
    "(SELECT i_product FROM item GROUP BY i_product HAVING {} OR MIN(i_count) = 1) GROUP BY p_kind",
)


@pytest.fixture(autouse=True, scope="module")
def _close():
    yield
    close_engines()
    close_judge()


def compared(market: Market, text: str, chance: random.Random) -> int:
    """Return how many answers of a question were compared with DuckDB's on a made database."""
    return compared_when(derive(market, text), market, text, chance)


def compared_when(derived: Derived, market: Market, text: str, chance: random.Random) -> int:
    """Return it of a question that is compiled already."""
    judge = Judge.of(market, Maker(chance, market).contents())
    return check(judge, {text: derived})[text].compared


def some_of(comparisons: Sequence[str], chance: random.Random) -> list[str]:
    """Return others in every run where somebody waits, and all of them elsewhere."""
    return chance.sample(comparisons, min(len(comparisons), examples(len(comparisons), least=3)))


@pytest.mark.parametrize("total", some([*TOTALS], 0.3))
def test_totals_of_a_row_mean_what_the_engine_means(total):
    chance = random.Random()
    for comparison in some_of(COMPARISONS, chance):
        market = chance.choice(MARKETS)
        text = f"SELECT COUNT(*) FROM product WHERE {SOLD.format(total)} {comparison}"
        assert compared(market, text, chance), text


@pytest.mark.parametrize("total", some([*TOTALS], 0.3))
def test_having_means_what_the_engine_means(total):
    chance, answers = random.Random(), 0
    for comparison in some_of(COMPARISONS, chance):
        market, form = chance.choice(MARKETS), chance.choice(GROUPED)
        answers += compared(market, form.format(f"{total} {comparison}"), chance)
    assert answers > 5


def test_own_groups_are_no_thresholds():
    """Orders grouped by their customer are a row of the customer each, whatever is asked of them."""
    market = MARKETS[0]
    text = "SELECT COUNT(*) FROM (SELECT o_customer FROM orders GROUP BY o_customer HAVING COUNT(*) > 1) t"
    plan = compile_query(text, market.policy, market.catalogue())
    assert plan.single.shape is Shape.CONJUNCTIONS
    other = "SELECT COUNT(*) FROM (SELECT o_date FROM orders GROUP BY o_date HAVING COUNT(*) > 1) t"
    assert compile_query(other, market.policy, market.catalogue()).single.shape is Shape.THRESHOLDS


def test_a_group_that_is_large_enough_exists_and_is_asked_once():
    market = MARKETS[0]
    text = "SELECT COUNT(*) FROM (SELECT o_date FROM orders GROUP BY o_date HAVING COUNT(*) >= 2) t"
    (table,) = compile_query(text, market.policy, market.catalogue()).single.tables
    assert [below.group.least for below in table.below] == [2]


def test_breakpoints_are_where_a_comparison_changes():
    assert breakpoints(lambda total: total >= 0, [0]) == []
    assert breakpoints(lambda total: total > 2, [2]) == [3]
    assert breakpoints(lambda total: total != 2, [2]) == [2, 3]
    assert breakpoints(lambda total: 2 <= total <= 5, [2, 5]) == [2, 6]


# ------------------------------------------------------------------ refusals, and what they say to write

REFUSED = {
    "SELECT COUNT(*) FROM (SELECT o_date FROM orders GROUP BY o_date HAVING SUM(o_total) > 3) t": (
        "values below 0",
        "SELECT COUNT(*) FROM (SELECT o_date FROM orders GROUP BY o_date HAVING "
        "SUM(GREATEST(o_total, 0)) > 3) t",
    ),
    f"SELECT COUNT(*) FROM product WHERE {SOLD.format('SUM(CAST(i_count AS DOUBLE))')} > 3": (
        "exact numbers",
        "SELECT COUNT(*) FROM product WHERE "
        + SOLD.format("SUM(GREATEST(CAST(i_count AS DECIMAL(18, 2)), 0))")
        + " > 3",
    ),
    f"SELECT COUNT(*) FROM product WHERE {SOLD.format('COUNT(*)')} > 9000000000000000": (
        "too large",
        f"SELECT COUNT(*) FROM product WHERE {SOLD.format('COUNT(*)')} > 9000",
    ),
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused_has_a_rewrite_that_works(text):
    market = MARKETS[0]
    problem, rewrite = REFUSED[text]
    with pytest.raises(QueryError, match=problem) as caught:
        compile_query(text, market.policy, market.catalogue())
    assert caught.value.hint
    check_plan(compile_query(rewrite, market.policy, market.catalogue()), market.engine())


def test_an_average_of_other_peoples_rows_is_refused():
    market = MARKETS[0]
    text = f"SELECT COUNT(*) FROM product WHERE {SOLD.format('AVG(i_count)')} > 3"
    with pytest.raises(QueryError):
        compile_query(text, market.policy, market.catalogue())


def test_a_check_that_the_database_enforces_proves_a_sum():
    text = f"SELECT COUNT(*) FROM product WHERE {SOLD.format('SUM(i_count)')} > 3"
    for market in MARKETS:
        if market.form.value == "bare":
            with pytest.raises(QueryError, match="values below 0"):
                compile_query(text, market.policy, market.catalogue())
        else:
            assert compile_query(text, market.policy, market.catalogue()).single.shape is Shape.THRESHOLDS


# ------------------------------------------------------------------ twins


def broken(text: str, databases: int = 40) -> bool:
    """Return whether a law is broken on some of many databases."""
    chance = random.Random(3)
    ready = cache(lambda market: derive(market, text))
    for number in range(databases):
        market = MARKETS[number % len(MARKETS)]
        try:
            compared_when(ready(market), market, text, chance)
        except LawError:
            return True
    return False


def holds(text: str) -> bool:
    """Return whether the law of a twin that is not yet broken holds, in the first markets."""
    return not broken(text, 3)


TWICE = f"SELECT COUNT(*) FROM product, nation WHERE {SOLD.format('COUNT(*)')} >= 2"
NULLS = "SELECT COUNT(*) FROM (SELECT i_product FROM item GROUP BY i_product HAVING COUNT(*) >= 2) t"


def test_the_twin_that_is_one_off_is_caught(monkeypatch):
    assert holds(TWICE)
    whole = derivations.Group
    monkeypatch.setattr(derivations, "Group", lambda tables, least=1: whole(tables, max(1, least - 1)))
    assert broken(TWICE)


def test_the_twin_that_forgets_the_group_of_null_is_caught(monkeypatch):
    assert holds(NULLS)
    monkeypatch.setattr(exp, "NullSafeEQ", exp.EQ)
    assert broken(NULLS)


def test_the_twin_that_counts_a_row_for_every_row_around_is_caught(monkeypatch):
    text = (
        "SELECT COUNT(*) FROM customer a WHERE (SELECT COUNT(*) FROM gift WHERE g_product < a.c_nation) >= 2"
    )
    assert holds(text)

    class Joined(derivations.Tied):
        def rows(self, block):
            (around,) = self.source.branches
            return replace(
                block,
                sources=(*around.sources, *block.sources),
                conditions=(*around.conditions, *block.conditions),
            )

        def renamed(self, scalars):
            return [scalar.copy() for scalar in scalars]

    monkeypatch.setattr(derivations, "Tied", Joined)
    assert broken(text)


def test_the_twin_that_forgets_that_a_group_must_exist_is_caught(monkeypatch):
    text = "SELECT COUNT(*) FROM (SELECT i_product FROM item GROUP BY i_product HAVING COUNT(*) < 2) t"
    assert holds(text)
    monkeypatch.setattr(derivations, "shows", lambda *_: True)
    monkeypatch.setattr(derivations, "owned", lambda _: False)
    assert broken(text)


# ------------------------------------------------------------------ the encoder


def test_the_levels_of_the_encoder_are_those_of_the_annotations():
    """Rows of one customer are one child, which counts for several."""
    market = MARKETS[0]
    rows = dict.fromkeys(Contents({}).rows, ()) | {
        "nation": (),
        "product": ((0, "k", 1),),
        "customer": ((1, 0, "a", None), (2, 0, "a", None), (3, 0, "b", None)),
        "supplier": (),
        "orders": ((1, 1, None, None), (2, 2, None, None), (3, 3, None, None)),
        "item": ((1, "x", 0, 1), (1, "x", 0, 1), (1, "x", 0, 1), (2, "x", 0, 1), (3, "x", 0, 1)),
        "gift": (),
        "meeting": (),
    }
    text = f"SELECT COUNT(*) FROM product WHERE {SOLD.format('COUNT(*)')} >= 4"
    plan = compile_query(text, market.policy, market.catalogue())
    engine = Contents(rows).load(market)
    ((relation,),) = collect(engine, plan, collect_domain(engine, plan.grouping))
    ((found, weight),) = expressions(relation)
    people = [Participant(("customer", n)) for n in (1, 2, 3)]
    assert weight == 1
    assert sorted_tree(found) == sorted_tree(at_least(people, [3, 1, 1], 4))
    assert withdraw(found, ("customer", 1)) == FALSE
