"""Own subqueries: any SQL over rows that belong to the owners of the row around, and own groups as sources.

DuckDB is the judge: for every set of participants the relation says what DuckDB answers to the very text on
the database of those who are there; and whoever withdraws takes along exactly what is theirs.
"""

from __future__ import annotations

import dataclasses
import random

import pytest

from recuse.errors import QueryError
from recuse.krelation.relation import Shape
from recuse.sql import equalities
from recuse.sql.compile import compile_query
from recuse.sql.native.attribute import Attribution
from recuse.sql.native.facts import Facts, Proved
from support.profiles import examples, some
from support.sql.market import COLUMNS, Contents, Form, Maker, Market, Row, close_engines
from support.sql.own import BOTH, CASES, CUSTOMERS, ENFORCED, OWN, TWO_KINDS
from support.sql.subdatabases import Derived, Judge, LawError, Tally, check, close_judge, derive


@pytest.fixture(autouse=True, scope="module")
def _close():
    yield
    close_engines()
    close_judge()


# ------------------------------------------------------------------ questions


def ready(market: Market, text: str) -> Derived:
    return derive(market, text)


@pytest.mark.parametrize("form", some([Form.BARE, Form.KEYED, Form.LINKED], 0.3))
def test_own_questions_mean_what_their_annotations_say_on_every_sub_database(form):
    chance = random.Random(random.randrange(2**32))
    compared = filled = 0
    for kinds in (CUSTOMERS, BOTH):
        market = Market(form, kinds)
        questions = {text: ready(market, text) for text, asked in CASES if asked == market}
        for database in range(40):
            if database >= examples(4, least=1) and filled:
                break
            judge = Judge.of(market, Maker(chance, market).contents())
            for found in check(judge, questions).values():
                compared, filled = compared + found.compared, filled + found.filled
    assert compared
    assert filled


def test_there_are_enough_of_them():
    assert len({text for text, _ in CASES}) >= 45


@pytest.mark.parametrize("text", [*OWN, *TWO_KINDS, *ENFORCED])
def test_whoever_owns_a_row_of_an_own_question_owns_all_of_it(text):
    """No OR is left: an own question has the least noise there is."""
    market = next(asked for found, asked in CASES if found == text)
    plan = compile_query(text, market.policy, market.catalogue())
    assert all(measure.shape is Shape.CONJUNCTIONS for measure in plan.measures)


@pytest.mark.parametrize("text", ENFORCED)
def test_a_key_that_is_merely_declared_proves_nothing(text):
    market = Market(Form.BARE, CUSTOMERS)
    assert ("orders", ("o_id",)) in [(key.table, key.columns) for key in market.policy.keys]
    try:
        plan = compile_query(text, market.policy, market.catalogue())
    except QueryError:
        return
    assert plan.single.shape is Shape.THRESHOLDS, "counts of other people's rows"


def test_groups_of_own_groups_are_side_by_side_if_each_participant_has_one():
    market = Market(Form.BARE, CUSTOMERS)
    joined = "customer LEFT JOIN orders ON o_customer = c_id"
    rows = f"(SELECT c_id, COUNT(o_id) AS n FROM {joined} GROUP BY c_id{{}}) t"
    for more, disjoint in (("", True), (", o_date", False)):
        text = f"SELECT n, COUNT(*) FROM {rows.format(more)} WHERE n IN (0, 1) GROUP BY n"
        grouping = compile_query(text, market.policy, market.catalogue()).grouping
        assert grouping is not None
        assert grouping.disjoint is disjoint


def test_explain_says_what_is_own():
    market = Market(Form.BARE, CUSTOMERS)
    text = (
        "SELECT COUNT(*) FROM (SELECT o_customer AS k, COUNT(*) AS n FROM orders GROUP BY o_customer) t"
        " WHERE n > 1 AND NOT EXISTS (SELECT 1 FROM gift WHERE g_from = k)"
    )
    told = compile_query(text, market.policy, market.catalogue()).explanation.own
    assert "own is run as it is over orders, customer: each of its rows belongs to customer own.k" in told
    assert any("a subquery on gift" in sentence for sentence in told)


def test_explain_says_which_keys_proved_it():
    market = Market(Form.KEYED, CUSTOMERS)
    text = "SELECT COUNT(*) FROM (SELECT o_id, COUNT(*) AS n FROM orders GROUP BY o_id) t WHERE n > 1"
    (told,) = compile_query(text, market.policy, market.catalogue()).explanation.own
    assert told.endswith("; proved by the unique key (o_id) of orders")
    keyless = "SELECT COUNT(*) FROM (SELECT o_customer, COUNT(*) AS n FROM orders GROUP BY 1) t WHERE n > 1"
    (told,) = compile_query(keyless, market.policy, market.catalogue()).explanation.own
    assert "proved by" not in told


# ------------------------------------------------------------------ what is not own

NOT_OWN = {
    "SELECT COUNT(*) FROM (SELECT o_total, ROW_NUMBER() OVER (PARTITION BY o_date ORDER BY o_id) AS r"
    " FROM orders) t WHERE r = 1": CUSTOMERS,
    "SELECT COUNT(*) FROM (SELECT * FROM orders ORDER BY o_total LIMIT 3) t": CUSTOMERS,
    "SELECT SUM((SELECT COUNT(*) FROM gift WHERE g_product = c.c_nation)) FROM customer c": CUSTOMERS,
    "SELECT SUM((SELECT COUNT(*) FROM orders p WHERE p.o_date = o.o_date)) FROM orders o": CUSTOMERS,
    "SELECT COUNT(*) FROM (SELECT c_id, COUNT(o_id) AS n FROM customer LEFT JOIN orders ON"
    " o_total > c_balance"
    " GROUP BY c_id) t WHERE n > 1": CUSTOMERS,
    "SELECT SUM(n) FROM (SELECT c.c_id, COUNT(*) OVER () AS n FROM customer c) t": CUSTOMERS,
}


@pytest.mark.parametrize("text", NOT_OWN)
@pytest.mark.parametrize("form", [Form.BARE, Form.LINKED])
def test_what_mixes_rows_of_several_participants_is_refused(text, form):
    market = Market(form, NOT_OWN[text])
    with pytest.raises(QueryError):
        compile_query(text, market.policy, market.catalogue())


CONDITIONS_ON_GROUPS = {
    "SELECT COUNT(*) FROM (SELECT o_date, COUNT(*) AS n FROM orders GROUP BY 1) t WHERE n > 1": CUSTOMERS,
    "SELECT COUNT(*) FROM (SELECT g_from, COUNT(*) AS n FROM gift GROUP BY g_from) t WHERE n > 1": CUSTOMERS,
    "SELECT COUNT(*) FROM (SELECT o_customer, SUM(i_count) AS s FROM orders JOIN item ON i_order = o_id"
    " GROUP BY o_customer) t WHERE s > 2": BOTH,
}


@pytest.mark.parametrize("text", CONDITIONS_ON_GROUPS)
def test_a_condition_on_what_groups_of_several_participants_show_is_a_threshold(text):
    market = Market(Form.LINKED, CONDITIONS_ON_GROUPS[text])
    plan = compile_query(text, market.policy, market.catalogue())
    assert plan.explanation.own == ()
    assert plan.single.shape is Shape.THRESHOLDS


@pytest.mark.parametrize("form", [Form.BARE, Form.LINKED])
def test_a_sum_of_maxima_is_over_an_answer_and_nothing_of_it_is_own(form):
    """Each maximum is released by itself, and their sum is made of what was released."""
    text = "SELECT SUM(m) FROM (SELECT c_nation, MAX(c_balance) AS m FROM customer GROUP BY c_nation) t"
    market = Market(form, CUSTOMERS)
    plan = compile_query(text, market.policy, market.catalogue())
    assert plan.explanation.own == ()
    assert plan.grouping is not None
    assert plan.single.aggregate.placed


# ------------------------------------------------------------------ the static test is sound

TABLES = {table: list(columns) for table, columns in COLUMNS.items() if table not in ("product", "meeting")}


def scrambled(chance: random.Random) -> str:
    """Return a question whose subquery, group or window is tied to the row around by any equalities."""
    names = {
        alias: chance.choice(["customer", "orders", "orders", "item", "gift", "supplier"]) for alias in "ab"
    }
    outer, inner = names["a"], names["b"]
    kinds = {column: kind for columns in COLUMNS.values() for column, kind in columns.items()}
    pairs = [(x, y) for x in TABLES[outer] for y in TABLES[inner] if kinds[x] == kinds[y]] or [("1", "1")]
    ties = [
        f"b.{y} = a.{x}" if x != "1" else "TRUE"
        for x, y in chance.sample(pairs, min(len(pairs), chance.randint(1, 2)))
    ]
    joined = ""
    if inner == "item" and chance.random() < 0.5:
        joined = f" {chance.choice(['JOIN', 'LEFT JOIN'])} orders o ON o.o_id = b.i_order"
        if outer == "customer" and chance.random() < 0.7:
            ties.append("o.o_customer = a.c_id")
    where = " AND ".join(ties)
    key, value = (f"b.{chance.choice(TABLES[inner])}" for _ in "kv")
    match chance.randrange(6):
        case 0:
            return (
                f"SELECT COUNT(*) FROM {outer} a WHERE (SELECT COUNT(*) FROM {inner} b{joined}"
                f" WHERE {where}) <> 1"
            )
        case 1:
            return (
                f"SELECT COUNT(*) FROM {outer} a WHERE (SELECT COUNT(DISTINCT {value}) FROM {inner} b{joined}"
                f" WHERE {where}) > 1"
            )
        case 2:
            return (
                f"SELECT COUNT(*) FROM (SELECT {key} AS k, COUNT({value}) AS n FROM {outer} a JOIN {inner} b"
                f" ON {where}{joined} GROUP BY {key}) t WHERE n > 1"
            )
        case 3:
            return (
                f"SELECT COUNT(*) FROM (SELECT a.*, b.* FROM {outer} a LEFT JOIN {inner} b ON {where}"
                f" QUALIFY ROW_NUMBER() OVER (PARTITION BY {key} ORDER BY {value}) = 1) t"
            )
        case 4:
            first = TABLES[outer][0]
            return (
                f"SELECT SUM(n) FROM (SELECT a.{first}, COUNT(b.{TABLES[inner][0]}) AS n FROM {outer} a"
                f" LEFT JOIN {inner} b ON {where} GROUP BY a.{first}) t WHERE n <> 1"
            )
    return (
        f"SELECT COUNT(*) FROM {outer} a, LATERAL (SELECT {value} AS v FROM {inner} b{joined}"
        f" WHERE {where} ORDER BY 1 LIMIT 1) t"
    )


def scrambles(chance: random.Random, databases: int, ready=derive) -> Tally:
    """Return what was compared of scrambled questions, on databases of every form."""
    tally = Tally()
    for _ in range(databases):
        market = Market(chance.choice(list(Form)), chance.choice([CUSTOMERS, BOTH]))
        judge = Judge.of(market, Maker(chance, market).contents())
        questions = {}
        for _ in range(24):
            text = scrambled(chance)
            try:
                questions[text] = ready(market, text)
            except QueryError as error:
                tally.refuse("own", error.problem)
        for found in check(judge, questions).values():
            tally.accepted["own"] += 1
            tally.compared["own"] += found.compared
    return tally


def test_whatever_is_called_own_obeys_the_law():
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    tally = scrambles(random.Random(seed), examples(12, least=2))
    assert tally.accepted["own"] > 5
    assert tally.refused["own"].total() > 5


# ------------------------------------------------------------------ twins

EMPTY: dict[str, tuple[Row, ...]] = dict.fromkeys(COLUMNS, ())
SHOP = Contents(
    EMPTY
    | {
        "customer": ((0, 1, "a", "5.00"), (1, 1, "b", "1.00"), (2, 0, "a", "9.00")),
        "supplier": (("x", 1), ("y", 0)),
        "orders": ((0, 0, "1997-01-31", "3.00"), (1, 1, "1997-01-31", "4.00"), (2, 1, "1997-02-01", "8.00")),
        "item": ((0, "x", 1, 2), (0, "y", 1, 2), (1, "x", 0, 1), (2, "y", 1, 3)),
        "gift": ((0, 1, 1), (1, 1, 1), (2, 0, 0)),
    }
)


def broken(text: str, kinds: tuple[str, ...], form: Form = Form.BARE) -> bool:
    """Whether the law fails of a text on a small shop."""
    market = Market(form, kinds)
    try:
        check(Judge.of(market, SHOP), {text: derive(market, text)})
    except LawError:
        return True
    return False


@pytest.mark.parametrize("text", list(NOT_OWN)[:7])
def test_the_twin_that_calls_everything_own_is_caught(text, monkeypatch):
    """Partition by day, a global LIMIT, suppliers forgotten, another column: nothing covers their owners."""
    monkeypatch.setattr(Attribution, "_refuse_mixing", lambda *_: None)
    monkeypatch.setattr(Facts, "uncovered", lambda self, clauses, lookup: Proved())
    assert broken(text, NOT_OWN[text])


def test_the_twin_that_lets_any_key_fix_the_owners_is_caught(monkeypatch):
    monkeypatch.setattr(Facts, "fixed", lambda *_: ())
    text = "SELECT COUNT(*) FROM (SELECT o_date, COUNT(*) AS n FROM orders GROUP BY o_date) t WHERE n > 1"
    assert broken(text, CUSTOMERS)


def test_the_twin_that_takes_where_for_on_is_caught(monkeypatch):
    """Of rows without a partner WHERE says nothing: what it says of the right side does not tie it."""
    text = (
        "SELECT COUNT(*) FROM (SELECT c_id, COUNT(o_id) AS n FROM customer LEFT JOIN orders ON"
        " o_total < c_balance"
        " WHERE o_customer = c_id OR o_id IS NULL GROUP BY c_id) t"
    )
    with pytest.raises(QueryError):
        broken(text, CUSTOMERS)
    monkeypatch.setattr(Attribution, "_refuse_others", lambda *_: None)
    assert broken(text, CUSTOMERS)


def test_the_twin_that_trusts_a_false_key_is_caught(monkeypatch):
    """Two orders share a number that the policy calls unique: the items of one are not the other's."""
    text = "SELECT COUNT(*) FROM item i WHERE (SELECT COUNT(*) FROM item j WHERE j.i_order = i.i_order) = 2"
    twice = Contents({**SHOP.rows, "orders": (*SHOP.rows["orders"], (0, 1, "1997-02-01", "1.00"))})
    market = Market(Form.BARE, CUSTOMERS)
    plan = compile_query(text, market.policy, market.catalogue())
    assert plan.single.shape is Shape.THRESHOLDS, "counts of other people's rows"
    made_one = equalities.Equalities._made_one

    def trusting(self, first, second):
        keyed = [s if s.table.name != "orders" else _with_key(s) for s in (first, second)]
        return made_one(self, *keyed)

    monkeypatch.setattr(equalities.Equalities, "_made_one", trusting)
    with pytest.raises(LawError):
        check(Judge.of(market, twice), {text: derive(market, text)})


def _with_key(scan):
    return dataclasses.replace(scan, table=dataclasses.replace(scan.table, keys=(("o_id",),)))
