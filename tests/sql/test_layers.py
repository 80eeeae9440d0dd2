"""Every layer on every sub-database: what SQL means is what its annotations say, whoever takes part.

A database with at most seven participants has at most 128 sub-databases. DuckDB answers the text as it is
written on each; the question is compiled once, its relation collected once, and its annotations evaluated
for each set of participants. And the relation without a participant is that of the database without them.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import partial

import duckdb
import pytest

from recuse.annotation import Participant
from recuse.errors import QueryError
from recuse.krelation.build import expressions, from_expressions
from recuse.krelation.relation import KRelation, Shape
from support.profiles import examples, some
from support.sql.layers import LAYERS, question
from support.sql.market import (
    COLUMNS,
    MARKETS,
    Contents,
    Form,
    Maker,
    Market,
    Row,
    close_engines,
    definitions,
    fill,
)
from support.sql.subdatabases import (
    Derive,
    Derived,
    Judge,
    LawError,
    Relations,
    Tally,
    check,
    close_judge,
    derive,
    smallest,
)

QUESTIONS = 12
"""of each database"""


@pytest.fixture(autouse=True, scope="module")
def _close():
    yield
    close_engines()
    close_judge()


def judged(layer: str, wanted: int, seed: int, tally: Tally, ready: Derive = derive) -> None:
    """Compare until enough was compared of a layer, or until it is plain that nearly all of it is refused."""
    chance = random.Random(seed)
    tries = 0
    while tally.compared[layer] < wanted and tries < 80 + wanted // 5:
        market = chance.choice(MARKETS)
        judge = Judge.of(market, Maker(chance, market).contents())
        questions = {}
        for text in texts(chance, layer, judge):
            tries += 1
            try:
                questions[text] = ready(market, text)
            except QueryError as error:
                if "refuses the query" in error.problem:  # what was compiled is bound
                    raise
                tally.refuse(layer, error.problem)
        try:
            for checked in check(judge, questions).values():
                tally.compared[layer] += checked.compared
                tally.filled[layer] += checked.filled
                tally.withdrawn[layer] += checked.withdrawn
                tally.accepted[layer] += 1
        except LawError as broken:
            raise smallest(broken, ready) from None


def texts(chance: random.Random, layer: str, judge: Judge) -> Iterator[str]:
    """Yield questions for one database: few of those that find nothing in it."""
    for _ in range(QUESTIONS):
        text = question(chance, layer)
        if judge.finds(text) or chance.random() < 0.2:
            yield text


@pytest.mark.parametrize("layer", some([*LAYERS], 0.5))
def test_sql_means_what_its_annotations_say_on_every_sub_database(layer):
    tally, seed = Tally(), random.randrange(2**32)
    print(f"seed {seed}")
    judged(layer, examples(400), seed, tally)
    print(tally)
    assert tally.accepted[layer]


@pytest.mark.parametrize(
    "condition",
    [
        "EXISTS (SELECT g.g_to FROM gift g WHERE g.g_to = t1.o_customer "
        "EXCEPT SELECT o.o_customer FROM orders o WHERE o.o_customer = t2.o_customer)",
        "NOT EXISTS (SELECT i.i_order FROM item i WHERE i.i_order = t3.o_id "
        "UNION SELECT i.i_order FROM item i WHERE i.i_order = t2.o_id)",
    ],
)
def test_what_a_query_in_a_condition_uses_is_at_hand_where_it_is_run(condition):
    """Its columns are found although they stand in the query: t2 is not added up apart from it."""
    text = (
        "SELECT COUNT(*) FROM orders t1 JOIN orders t2 ON t2.o_customer = t1.o_customer "
        f"JOIN orders t3 ON t3.o_id = t1.o_id WHERE {condition}"
    )
    market = Market(Form.LINKED, ("customer",))
    judge = Judge.of(market, Maker(random.Random(4), market).contents())
    assert check(judge, {text: derive(market, text)})[text].compared


@pytest.mark.slow
@pytest.mark.parametrize("layer", LAYERS)
def test_twenty_thousand_comparisons_of_every_layer(layer):
    tally, seed = Tally(), random.randrange(2**32)
    print(f"seed {seed}")
    judged(layer, 20_000, seed, tally)
    print(tally)
    assert tally.compared[layer] >= 20_000


# ------------------------------------------------------------------ twins: what is wrong is caught

EMPTY: dict[str, tuple[Row, ...]] = dict.fromkeys(COLUMNS, ())
CUSTOMERS = Market(Form.BARE, ("customer",))
BOTH = Market(Form.BARE, ("customer", "supplier"))


def contents(**rows: list[Row]) -> Contents:
    return Contents({**EMPTY, **{table: tuple(found) for table, found in rows.items()}})


def holds(market: Market, text: str, found: Contents, ready: Derive = derive) -> bool:
    """Whether the laws hold of one text on one database."""
    try:
        check(Judge.of(market, found), {text: ready(market, text)})
    except LawError:
        return False
    return True


def cancelling(market: Market, text: str) -> Derived:
    """Return the question with equal annotations of both signs taken away from each other, ORs too."""
    right = derive(market, text)

    def cancelled(relation: KRelation) -> KRelation:
        left: Counter[object] = Counter()
        for k, weight in expressions(relation):
            left[k] += weight
        rows = [(k, weight) for k, weight in left.items() if weight]
        return from_expressions(rows, relation.shape, signed=relation.signed)

    return lambda found: {
        keys: [(cancelled(relation), granularity) for relation, granularity in relations]
        for keys, relations in right(found).items()
    }


def test_cancelling_below_an_or_is_caught():
    text = "SELECT SUM(o_total) FROM orders o WHERE EXISTS (SELECT 1 FROM item i WHERE i.i_order = o.o_id)"
    found = contents(
        customer=[(0, 0, "a", "1.00")],
        supplier=[("x", 0), ("y", 0)],
        orders=[(0, 0, None, "1.00"), (1, 0, None, "-1.00")],
        item=[(0, "x", 0, 1), (1, "x", 0, 1), (1, "y", 0, 1)],
    )
    assert holds(BOTH, text, found)
    assert not holds(BOTH, text, found, cancelling)


def row_wise(rows: str) -> Derive:
    """Return what takes a value that the engine works out for each row to be its owner's affair alone.

    `rows` yields the customer who owns a row and its weight, on the database of everybody.
    """

    def relations(market: Market, found: Contents) -> Relations:
        owned = found.present(market, frozenset(found.participants(market)))
        with duckdb.connect(":memory:", config={"threads": 1}) as connection:
            for statement, table in zip(definitions(Form.BARE), COLUMNS, strict=True):
                connection.execute(statement)
                fill(connection, table, owned.rows[table])
            weights = connection.execute(rows).fetchall()
        pairs = [(Participant(("customer", owner)), weight) for owner, weight in weights]
        return {(): [(from_expressions(pairs, Shape.CONJUNCTIONS), Fraction(1))]}

    return lambda market, _: partial(relations, market)


FIRST = """
    SELECT {} FROM (SELECT o_customer, ROW_NUMBER() OVER (PARTITION BY {} ORDER BY o_id) AS n FROM orders) d
    WHERE d.n = 1
"""
DAYS = contents(
    customer=[(0, 0, "a", "1.00"), (1, 0, "b", "1.00")],
    orders=[(0, 0, "1997-01-31", "1.00"), (1, 1, "1997-01-31", "1.00"), (2, 1, "1998-02-01", "1.00")],
)


@pytest.mark.parametrize(("partition", "sound"), [("o_customer", True), ("o_date", False)])
def test_a_partition_that_is_not_by_owner_is_caught(partition, sound):
    text, rows = FIRST.format("COUNT(*)", partition), FIRST.format("o_customer, 1", partition)
    assert holds(CUSTOMERS, text, DAYS, row_wise(rows)) is sound


SAME = "SELECT {} FROM orders a WHERE (SELECT COUNT(*) FROM orders b WHERE b.o_id = a.o_id) > 1"


def test_a_key_that_is_declared_and_false_is_caught():
    """The row-wise value is right while order keys are unique, and wrong where two customers share one."""
    text, rows = SAME.format("COUNT(*)"), SAME.format("a.o_customer, 1")
    twice = [(0, 0, None, "1.00"), (0, 1, None, "1.00")]
    assert holds(CUSTOMERS, text, DAYS, row_wise(rows))
    assert not holds(CUSTOMERS, text, contents(customer=DAYS.rows["customer"], orders=twice), row_wise(rows))


def instead(wrong: str) -> Derive:
    """Return what compiles another text than the one that is asked."""
    return lambda market, _: derive(market, wrong)


NULLS = contents(
    customer=[(0, 0, "a", "1.00"), (1, None, "b", "1.00")],
    supplier=[("x", 0), ("y", 1)],
    product=[(0, "k", 1), (1, "k", 1)],
    orders=[(0, 0, None, "1.00"), (1, 1, None, "1.00")],
    item=[(0, "x", 0, 1), (1, "x", 0, 1), (1, "y", 1, None)],
)
BELOW = "SELECT COUNT(*) FROM product p WHERE {} < 2".format
SUM = "(SELECT {} FROM item i WHERE i.i_product = p.p_id)".format
NOT_IN = "SELECT COUNT(*) FROM supplier s WHERE s.s_nation NOT IN (SELECT c.c_nation FROM customer c)"
TWINS = {
    "a sum of nothing is NULL": (
        BELOW(SUM("SUM(ABS(i.i_count))")),
        BELOW(SUM("COALESCE(SUM(ABS(i.i_count)), 0)")),
    ),
    "NOT IN a list with a NULL is not true": (
        NOT_IN,
        "SELECT COUNT(*) FROM supplier s WHERE s.s_nation IS NOT NULL AND NOT EXISTS "
        "(SELECT 1 FROM customer c WHERE c.c_nation = s.s_nation)",
    ),
}


@pytest.mark.parametrize("what", TWINS)
def test_what_forgets_nulls_is_caught(what):
    text, wrong = TWINS[what]
    assert holds(BOTH, text, NULLS)
    assert holds(BOTH, wrong, NULLS)
    assert not holds(BOTH, text, NULLS, instead(wrong))
