"""What makes two SQL questions the same: their meaning, field by field, and nothing else."""

from __future__ import annotations

import time
from dataclasses import dataclass, fields, replace
from fractions import Fraction

import duckdb
import pytest

from recuse.policy import Policy
from recuse.privacy import Delta
from recuse.session.fingerprint import question_key
from recuse.session.session import connect
from recuse.sql.aggregates import COUNT, SUM
from recuse.sql.derivation import Below, DerivationTable, Group, OwnerColumns
from recuse.sql.dialect import DUCKDB
from recuse.sql.finish import Shown
from recuse.sql.formula import Operator, Term, operation
from recuse.sql.grouping import Grouping, KeySet
from recuse.sql.identity import canonical, meaning
from recuse.sql.kinds import ColumnKind
from recuse.sql.placeholder import DECIMAL, WHOLE
from recuse.sql.plan import DerivationQuery, FirstPlan, Plan
from recuse.sql.sharing import Sharing
from recuse.sql.touch import Touch

POLICY = Policy.parse("""
[[protect]]
table = "person"
key = ["id"]

[[link]]
table = "visit"
column = ["person"]
to = "person"

[[domain]]
table = "person"
column = "town"
values = ["Rome", "Oslo"]

[budget]
epsilon = 100
""")


@pytest.fixture(scope="module")
def session():
    connection = duckdb.connect()
    connection.execute("CREATE TABLE person (id INTEGER PRIMARY KEY, town VARCHAR, age INTEGER)")
    connection.execute("CREATE TABLE visit (person INTEGER, day INTEGER, cost DECIMAL(8, 2))")
    with connect(connection, POLICY) as opened:
        yield opened


JOIN = "SELECT COUNT(*) FROM person p JOIN visit v ON v.person = p.id WHERE p.age > 40 AND v.day = 3"
SAME = [
    ("SELECT COUNT(*) FROM visit", "SELECT COUNT(1) FROM visit"),
    ("SELECT COUNT(*) FROM visit", "SELECT COUNT(*) AS n FROM visit AS w"),
    ("SELECT COUNT(*) FROM visit", "select count(*) /* all */ from main.visit"),
    ("SELECT COUNT(*) FROM visit", "SELECT 2 * COUNT(*) AS twice FROM visit"),
    ("SELECT COUNT(*) FROM person WHERE age > 40", "SELECT COUNT(*) FROM person WHERE age > '40'"),
    ("SELECT COUNT(*) FROM person WHERE age > 40", "SELECT COUNT(*) FROM person WHERE 40 < age"),
    (JOIN, "SELECT COUNT(1) FROM person a JOIN visit b ON a.id = b.person WHERE 3 = b.day AND a.age > '40'"),
    (JOIN, "SELECT COUNT(*) FROM person a, visit b WHERE b.day = 3 AND b.person = a.id AND a.age > 40"),
    (
        "SELECT COUNT(*) FROM visit WHERE day = 1 OR cost < 3",
        "SELECT COUNT(*) FROM visit WHERE cost < 3 OR day = 1",
    ),
    (
        "SELECT town, COUNT(*) FROM person GROUP BY town",
        "SELECT COUNT(*) AS n, town AS t FROM person GROUP BY town ORDER BY n DESC",
    ),
    (
        "SELECT town, COUNT(*) FROM person GROUP BY town",
        "SELECT town, COUNT(*) AS n FROM person GROUP BY ALL HAVING n > 3 ORDER BY n DESC LIMIT 2",
    ),
    (
        "SELECT town, COUNT(*) FROM person GROUP BY town",
        "WITH t AS (SELECT town, COUNT(*) AS n FROM person GROUP BY town) SELECT n + 1 FROM t WHERE n > 3",
    ),
    (
        "SELECT COUNT(*) FROM person WHERE age > (SELECT AVG(age) FROM person)",
        "SELECT COUNT(*) FROM person p WHERE p.age > (select avg(q.age) from person AS q)",
    ),
    (
        "SELECT COUNT(*) FROM person p WHERE EXISTS (SELECT 1 FROM visit v WHERE v.person = p.id)",
        "SELECT COUNT(*) FROM person x WHERE EXISTS (SELECT 1 FROM visit y WHERE x.id = y.person)",
    ),
    (
        "SELECT COUNT(*) FROM person p WHERE NOT EXISTS (SELECT 1 FROM visit v WHERE v.person = p.id)",
        "SELECT COUNT(*) FROM person x WHERE NOT EXISTS (SELECT 1 FROM visit y WHERE x.id = y.person)",
    ),
    (
        "SELECT COUNT(*) FROM person p WHERE (SELECT COUNT(*) FROM visit v WHERE v.person = p.id) >= 2",
        "SELECT COUNT(1) FROM person q WHERE '2' <= (SELECT COUNT(1) FROM visit w WHERE q.id = w.person)",
    ),
    (
        "SELECT town, COUNT(*) FROM person GROUP BY town",
        "SELECT town, COUNT(*) AS n, RANK() OVER (ORDER BY COUNT(*) DESC) FROM person GROUP BY town",
    ),
    (
        "SELECT town, COUNT(*) FROM person GROUP BY town",
        "SELECT town, COUNT(*) AS n FROM person GROUP BY 1 QUALIFY ROW_NUMBER() OVER (ORDER BY n DESC) <= 1",
    ),
    ("SELECT MEDIAN(age) FROM person", "SELECT QUANTILE_CONT(p.age, 0.5) AS m FROM person p"),
    (
        "SELECT MEDIAN(age) FROM person",
        "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age) FROM person",
    ),
    ("SELECT AVG(age) FROM person", "SELECT SUM(age) / COUNT(age) FROM person"),
    ("SELECT STDDEV(age) FROM person", "SELECT STDDEV_SAMP(p.age) AS d FROM person p"),
    ("SELECT COUNT(*) FROM visit", 'SELECT COUNT(*) FROM "public"."visit"'),
    (
        "SELECT COUNT(*) FROM visit WHERE DATE '2024-01-01' < CURRENT_DATE",
        "SELECT COUNT(*) FROM visit WHERE TO_DATE('2024-01-01', 'YYYY-MM-DD') < CURRENT_DATE",
    ),
    (
        "SELECT COUNT(*) FROM person WHERE age > 40",
        'SELECT COUNT(*) FROM "public"."person" WHERE "public"."person"."age" > 40',
    ),
]
OTHER = [
    ("SELECT MAX(age) FROM person", "SELECT MIN(age) FROM person"),
    ("SELECT MEDIAN(age) FROM person", "SELECT QUANTILE_CONT(age, 0.9) FROM person"),
    ("SELECT STDDEV(age) FROM person", "SELECT AVG(age) FROM person"),
    ("SELECT MODE(town) FROM person", "SELECT town, COUNT(*) FROM person GROUP BY town"),
    (
        "SELECT COUNT(*) FROM person p WHERE (SELECT COUNT(*) FROM visit v WHERE v.person = p.id) >= 2",
        "SELECT COUNT(*) FROM person p WHERE (SELECT COUNT(day) FROM visit v WHERE v.person = p.id) >= 2",
    ),
    ("SELECT COUNT(*) FROM visit", "SELECT COUNT(*) FROM person"),
    ("SELECT COUNT(*) FROM visit", "SELECT COUNT(day) FROM visit"),
    ("SELECT COUNT(*) FROM visit", "SELECT SUM(1) FROM visit"),
    ("SELECT COUNT(*) FROM visit", "SELECT COUNT(DISTINCT day) FROM visit"),
    ("SELECT COUNT(*) FROM visit", "SELECT COUNT(*) FROM visit a, visit b"),
    ("SELECT COUNT(*) FROM visit", "SELECT COUNT(*), SUM(cost) FROM visit"),
    ("SELECT SUM(cost) FROM visit", "SELECT SUM(cost + 1) FROM visit"),
    ("SELECT COUNT(*) FROM person WHERE age > 40", "SELECT COUNT(*) FROM person WHERE age < 40"),
    ("SELECT COUNT(*) FROM person WHERE age > 40", "SELECT COUNT(*) FROM person WHERE age >= 40"),
    ("SELECT COUNT(*) FROM person WHERE age > 40", "SELECT COUNT(*) FROM person WHERE 40 > age"),
    (JOIN, JOIN.replace("p.age > 40 AND", "p.age > 40 OR")),
    (
        "SELECT COUNT(*) FROM visit a, visit b WHERE a.person = b.person AND a.day = 1",
        "SELECT COUNT(*) FROM visit a, visit b WHERE a.person = b.person AND a.day = 2",
    ),
    (
        "SELECT COUNT(*) FROM visit WHERE day = 1 AND (cost < 3 OR cost > 5)",
        "SELECT COUNT(*) FROM visit WHERE (day = 1 AND cost < 3) OR cost > 5",
    ),
    (
        "SELECT COUNT(*) FROM visit WHERE (day = 1 OR cost < 3) IN (TRUE)",
        "SELECT COUNT(*) FROM visit WHERE day = 1 OR (cost < 3) IN (TRUE)",
    ),
    (
        "SELECT COUNT(*) FROM visit WHERE (day + 1) * 2 = 4",
        "SELECT COUNT(*) FROM visit WHERE day + 1 * 2 = 4",
    ),
    (
        "SELECT town, COUNT(*) FROM person GROUP BY town",
        "SELECT town, COUNT(*) FROM person WHERE town IN ('Rome', 'Paris') GROUP BY town",
    ),
    ("SELECT town, COUNT(*) FROM person GROUP BY town", "SELECT COUNT(*) FROM person"),
    (
        "SELECT town, COUNT(*) FROM person GROUP BY town",
        "SELECT town, COUNT(*) FROM person GROUP BY town HAVING SUM(age) > 3",
    ),
    (
        "SELECT COUNT(*) FROM person WHERE age > (SELECT AVG(age) FROM person)",
        "SELECT COUNT(*) FROM person WHERE age > (SELECT 2 * AVG(age) FROM person)",
    ),
    (
        "SELECT COUNT(*) FROM person WHERE age > (SELECT AVG(age) FROM person)",
        "SELECT COUNT(*) FROM person WHERE age > (SELECT AVG(age) FROM person WHERE age > 40)",
    ),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_another_spelling_is_no_other_question(session, one, other):
    assert meaning(session.compile(one)) == meaning(session.compile(other))


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_another_meaning_is_another_question(session, one, other):
    assert meaning(session.compile(one)) != meaning(session.compile(other))


def test_the_same_question_in_other_words_is_charged_once(session):
    first = session.ask(JOIN, 1)
    again = session.ask(SAME[6][1] + " -- in other words", 1)
    assert (first.stored, again.stored, again.value) == (False, True, first.value)
    doubled = session.ask(JOIN.replace("COUNT(*)", "2 * COUNT(*) AS twice"), 1)
    assert (doubled.names, doubled.value, doubled.stored) == (("twice",), 2 * first.value, True)


def test_how_many_groups_are_drawn_belongs_to_the_question_where_they_are_drawn():
    policy = Policy.parse(
        '[[protect]]\nkind = "person"\n[[public]]\ntable = "place"\n'
        '[[link]]\ntable = "talk"\ncolumn = ["a"]\nto = "person"\n'
        '[[link]]\ntable = "talk"\ncolumn = ["b"]\nto = "person"\n'
    )
    connection = duckdb.connect()
    connection.execute("CREATE TABLE place (id INTEGER PRIMARY KEY)")
    connection.execute("CREATE TABLE talk (a INTEGER, b INTEGER, place INTEGER)")
    asked = "SELECT p.id, COUNT(*) AS n FROM talk JOIN place p ON p.id = talk.place GROUP BY p.id"
    with connect(connection, policy) as shared:
        all_groups, five, six = (
            meaning(shared.compile(asked + end))
            for end in (" ORDER BY n DESC", " ORDER BY n DESC LIMIT 5", " ORDER BY n DESC LIMIT 6")
        )
        other = "SELECT q.id, COUNT(1) FROM talk t, place q WHERE t.place = q.id GROUP BY 1"
        again = meaning(shared.compile(other + " ORDER BY 2 DESC LIMIT 5"))
    assert five == again
    assert all_groups != five != six


def test_delta_makes_another_question():
    policy = replace(POLICY, delta=Delta.of("1e-4"), domains=())
    connection = duckdb.connect()
    connection.execute("CREATE TABLE person (id INTEGER PRIMARY KEY, town VARCHAR, age INTEGER)")
    connection.execute("CREATE TABLE visit (person INTEGER, day INTEGER, cost DECIMAL(8, 2))")
    text = "SELECT town, COUNT(*) FROM person GROUP BY town"
    with connect(connection, policy) as opened:
        keys = [question_key(opened.question(text, 1, delta=delta)) for delta in ("1e-6", "1e-5", "1e-6")]
    assert keys[0] == keys[2] != keys[1]


# ------------------------------------------------------------------ field by field


@dataclass(frozen=True)
class Meant:
    text: str

    def sql(self) -> str:
        return self.text


INNER = DerivationTable("SELECT 1 AS key FROM s AS a", ("key",), (), ())
TABLE = DerivationTable("SELECT 1 AS x FROM t AS a", (), (OwnerColumns("person", ("x",)),), ())
MEASURE = DerivationQuery((TABLE,), "shape", COUNT, Fraction(1), Sharing.TOGETHER, signed=False)
GROUPING = Grouping(("g",), (("a", "b"),), (), disjoint=True)
ALONE = Plan(
    (MEASURE,), (Shown("n", Term(0), ColumnKind.INTEGER),), None, (), (), None, (), "SELECT …", DUCKDB
)
FIRST = FirstPlan(ALONE, WHOLE, "(SELECT COUNT(*) FROM t)")
PLAN = Plan((MEASURE,), (), GROUPING, (), (FIRST,), None, (), "SELECT …", DUCKDB)

CHANGES = {
    DerivationTable: {
        "sql": "SELECT 2 AS x FROM t AS a",
        "key": ("x",),
        "owners": (OwnerColumns("place", ("x",)),),
        "below": (Below.__new__(Below),),
        "value": "x",
        "meant": Meant("SELECT 3 AS x FROM t AS a"),
    },
    DerivationQuery: {
        "tables": (TABLE, TABLE),
        "aggregate": SUM,
        "granularity": Fraction(1, 4),
        "sharing": Sharing.ONE_OWNER,
        "touches": (Touch("person", (((0,),),)),),
        "bound": 7,
    },
    Grouping: {
        "keys": (("a", "c"),),
        "tables": ("SELECT 1 AS group_1",),
        "disjoint": False,
        "sets": (KeySet((), None), KeySet((0,), None)),
    },
    Plan: {"measures": (), "grouping": None, "firsts": (), "finding": MEASURE},
    FirstPlan: {"plan": replace(ALONE, measures=()), "type": DECIMAL, "end": True},
}
LEFT_OUT = {
    DerivationQuery: {
        "shape": "follows from the tables",
        "signed": "follows from the aggregate and the statements: what is taken away is -COUNT or -SUM",
        "typical": "follows from the statements and the policy, whose hash stands beside the identity",
        "sized": "follows from the policy, and is for messages",
        "single": "follows from the statements and the policy",
        "place": "follows from its place among the measures, and from how many sets there are",
    },
    Grouping: {"names": "how columns are called"},
    Plan: {
        "columns": "names, and formulas over what is released",
        "steps": "what is done with rows that are released",
        "explanation": "words",
        "asked": "for messages",
        "text": "the spelling",
        "dialect": "what the statements are written in",
        "public": "a question about nobody is never stored",
        "first_share": "the parts of a question have their ε",
    },
    DerivationTable: {
        "listed": "the same rows, before they are summed",
        "loose": "the same rows, where they are kept before they are summed",
        "joins": "what an engine goes through for the same rows",
    },
    FirstPlan: {"text": "the spelling"},
}


@pytest.mark.parametrize("kind", CHANGES, ids=lambda kind: kind.__name__)
def test_every_field_is_in_the_identity_or_left_out_for_a_reason(kind):
    assert {field.name for field in fields(kind)} == set(CHANGES[kind]) | set(LEFT_OUT[kind])


def changed(kind: type, name: str, value: object) -> Plan:
    if kind is DerivationTable:
        if name == "below":
            value = (replace_below(),)
        return replace(PLAN, measures=(replace(MEASURE, tables=(replace(TABLE, **{name: value}),)),))
    if kind is DerivationQuery:
        return replace(PLAN, measures=(replace(MEASURE, **{name: value}),))
    if kind is Grouping:
        return replace(PLAN, grouping=replace(GROUPING, **{name: value}))
    if kind is FirstPlan:
        return replace(PLAN, firsts=(replace(FIRST, **{name: value}),))
    return replace(PLAN, **{name: value})


def test_the_formula_of_a_number_that_stands_in_a_question_belongs_to_it():
    """Unlike a formula over the answer, it decides which rows are meant."""
    twice = operation(Operator.ADD, Term(0), Term(0))
    doubled = replace(ALONE, columns=(Shown("n", twice, ColumnKind.INTEGER),))
    assert meaning(replace(PLAN, firsts=(replace(FIRST, plan=doubled),))) != meaning(PLAN)
    assert meaning(doubled) == meaning(ALONE)


def replace_below() -> Below:
    return Below(Group((INNER,)), ("x",))


def test_how_many_rows_are_needed_below_belongs_to_the_identity():
    tables = [replace(TABLE, below=(Below(Group((INNER,), least), ("x",)),)) for least in (2, 3)]
    two, three = (replace(PLAN, measures=(replace(MEASURE, tables=(table,)),)) for table in tables)
    assert meaning(two) != meaning(three)


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind, names in CHANGES.items() for name in names], ids=str
)
def test_a_field_that_changes_makes_another_question(kind, name):
    assert meaning(changed(kind, name, CHANGES[kind][name])) != meaning(PLAN)


def test_a_spelling_keeps_what_a_statement_means():
    """The twin that sorts the sides of < as well is caught by rows."""
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT i AS x, i % 3 AS y FROM range(20) r(i)")
    sql = "SELECT a.x, b.x FROM t AS a CROSS JOIN t AS b WHERE a.x > b.x AND (b.y = 1 OR a.y < 1) AND TRUE"
    rows = connection.execute(sql).fetchall()
    assert sorted(connection.execute(canonical(sql)).fetchall()) == sorted(rows)
    twin = canonical(sql).replace("a2.x < a1.x", "a1.x < a2.x")
    assert twin != canonical(sql)
    assert sorted(connection.execute(twin).fetchall()) != sorted(rows)


@pytest.mark.parametrize("connector", ["AND", "OR"])
def test_a_long_chain_has_its_identity_soon_and_in_any_order(connector):
    """Sorting at every link took minutes for a few hundred links, and more were nested too deep."""
    parts = [f"a.x > {number}" for number in range(600)]
    start = time.process_time()
    one, other = (
        canonical(f"SELECT 1 FROM t AS a WHERE {f' {connector} '.join(order)}")
        for order in (parts, parts[::-1])
    )
    assert one == other
    assert time.process_time() - start < 10
