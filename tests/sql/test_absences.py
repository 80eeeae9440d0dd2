"""Negation, outer joins and EXCEPT: every construct on every sub-database, its terms and its shape."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import pytest

from recuse.engines.collect import collect
from recuse.errors import QueryError
from recuse.krelation.relation import KRelation, Shape
from recuse.mechanism.answer import answers_at
from recuse.mechanism.mechanisms import mechanism_for
from recuse.mechanism.prepared import prepare
from recuse.privacy import Epsilon
from recuse.solver.fast import fast_programs
from recuse.sql.compile import compile_query
from recuse.sql.plan import Plan
from recuse.sql.render import plain, render
from support.noise import NoNoise, Seeded
from support.profiles import examples, some
from support.sql.market import MARKETS, Form, Maker, Market, close_engines
from support.sql.shop import POLICY, Database, the_catalogue
from support.sql.subdatabases import Judge, LawError, check, close_judge, derive

BOTH = Market(Form.BARE, ("customer", "supplier"))
KEYED = Market(Form.KEYED, ("customer", "supplier"))

LAWS = """
SELECT COUNT(*) FROM supplier s WHERE NOT EXISTS (SELECT 1 FROM customer c WHERE c.c_nation = s.s_nation)
SELECT COUNT(*) FROM supplier s WHERE s_nation NOT IN (SELECT c_nation FROM customer)
SELECT COUNT(*) FROM item WHERE (i_order, i_count) NOT IN (SELECT o_id, o_customer FROM orders)
SELECT COUNT(*) FROM supplier WHERE (s_nation IN (SELECT c_nation FROM customer)) IS NULL
SELECT COUNT(*) FROM supplier WHERE s_nation <= ALL (SELECT c_nation FROM customer WHERE c_id <> 1)
SELECT COUNT(*) FROM orders o WHERE o_total >= ALL (SELECT p.o_total FROM orders p WHERE p.o_date = o.o_date)
SELECT COUNT(*) FROM orders o WHERE o_total = (SELECT MAX(o_total) FROM orders p WHERE p.o_date = o.o_date)
SELECT COUNT(*) FROM supplier WHERE NOT s_nation > (SELECT MIN(c_nation) FROM customer)
SELECT COUNT(*) FROM supplier WHERE (SELECT MIN(c_nation) FROM customer) <> s_nation
SELECT COUNT(*) FROM supplier WHERE (s_nation <= (SELECT MAX(c_nation) FROM customer)) IS NULL
SELECT COUNT(*) FROM item i WHERE CASE WHEN i_count > 1 THEN i_order IN (SELECT o_id FROM orders) ELSE NOT EXISTS (SELECT 1 FROM gift WHERE g_product = i_product) END
SELECT COUNT(*) FROM nation WHERE EXISTS (SELECT 1 FROM customer WHERE c_nation = n_id) <> (n_id IN (SELECT s_nation FROM supplier))
SELECT COUNT(*) FROM nation WHERE CAST(EXISTS (SELECT 1 FROM customer WHERE c_nation = n_id) AS INTEGER) + CAST(EXISTS (SELECT 1 FROM supplier WHERE s_nation = n_id) AS INTEGER) = 1
SELECT SUM(i_count) FROM item i WHERE i_count = 1 OR NOT EXISTS (SELECT 1 FROM gift WHERE g_product = i_product)
SELECT COUNT(*) FROM supplier LEFT JOIN customer ON c_nation = s_nation
SELECT COUNT(*) FROM supplier LEFT JOIN customer ON c_nation = s_nation AND c_name >= 'b' WHERE c_id IS NULL
SELECT SUM(COALESCE(i_count, -1)) FROM supplier LEFT JOIN item ON i_supplier = s_id AND i_count > 1
SELECT COUNT(*) FROM customer RIGHT JOIN supplier ON c_nation = s_nation WHERE c_id IS NULL OR c_id > 0
SELECT COUNT(*) FROM customer FULL JOIN supplier ON c_nation = s_nation
SELECT SUM(n) FROM (SELECT c_nation AS n FROM customer) a FULL JOIN (SELECT s_nation AS n FROM supplier) b USING (n)
SELECT SUM(n) FROM (SELECT c_nation AS n FROM customer) a RIGHT JOIN (SELECT s_nation AS n FROM supplier) b USING (n)
SELECT COUNT(*) FROM (SELECT * FROM (SELECT c_nation AS n, c_id FROM customer) a NATURAL RIGHT JOIN (SELECT s_nation AS n, s_id FROM supplier) b) t WHERE n >= 0 AND c_id IS NULL
SELECT COUNT(*) FROM nation LEFT JOIN customer ON c_nation = n_id LEFT JOIN supplier ON s_nation = n_id AND c_id IS NOT NULL
SELECT COUNT(*) FROM supplier LEFT JOIN (customer c JOIN orders ON o_customer = c_id) ON c.c_nation = s_nation
SELECT COUNT(*) FROM supplier ANTI JOIN customer ON c_nation = s_nation
SELECT COUNT(*) FROM (SELECT c_nation FROM customer EXCEPT SELECT s_nation FROM supplier) t
SELECT COUNT(*) FROM (SELECT c_nation FROM customer EXCEPT SELECT s_nation FROM supplier) t LEFT JOIN gift ON g_from = c_nation
SELECT COUNT(DISTINCT s_nation) FROM supplier s WHERE NOT EXISTS (SELECT 1 FROM customer WHERE c_nation = s.s_nation)
SELECT COUNT(DISTINCT s_nation) FROM supplier LEFT JOIN customer ON c_nation = s_nation
SELECT COUNT(DISTINCT c_name) FROM supplier LEFT JOIN customer ON c_nation = s_nation
SELECT COUNT(*) FROM nation WHERE n_id IN (SELECT s_nation FROM supplier LEFT JOIN customer ON c_nation = s_nation)
SELECT SUM(CASE WHEN s_nation IN (SELECT c_nation FROM customer) THEN 2 ELSE -1 END) FROM supplier
SELECT COUNT(*) FILTER (WHERE s_nation NOT IN (SELECT c_nation FROM customer)) FROM supplier
SELECT COUNT(CASE WHEN NOT EXISTS (SELECT 1 FROM customer WHERE c_nation = s_nation) THEN 1 END) FROM supplier
SELECT COUNT(*) FROM (SELECT s_nation, EXISTS (SELECT 1 FROM customer WHERE c_nation = s_nation) AS e FROM supplier) t WHERE NOT e OR s_nation = 1
SELECT n_name, COUNT(*) FROM nation LEFT JOIN supplier ON s_nation = n_id GROUP BY n_name
SELECT n_name, COUNT(*) FROM supplier LEFT JOIN nation ON s_nation = n_id WHERE NOT EXISTS (SELECT 1 FROM customer WHERE c_nation = n_id) GROUP BY n_name
SELECT COUNT(*) FROM item i WHERE NOT EXISTS (SELECT 1 FROM orders WHERE o_id = i.i_product)
SELECT COUNT(*) FROM gift WHERE g_from NOT IN (SELECT o_customer FROM orders) AND g_to NOT IN (SELECT o_customer FROM orders WHERE o_total > 0)
""".strip().splitlines()  # noqa: E501


@pytest.fixture(autouse=True, scope="module")
def _close():
    yield
    close_engines()
    close_judge()


def test_every_construct_on_every_sub_database():
    """And the relation without a participant is that of the database without them."""
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    for text in some([*LAWS], 0.3):
        for _ in range(examples(2, least=1)):
            market = chance.choice(MARKETS)
            judge = Judge.of(market, Maker(chance, market).contents())
            try:
                check(judge, {text: derive(market, text)})
            except LawError as broken:
                raise AssertionError(f"seed {seed}: {broken}") from None


# ------------------------------------------------------------------ terms and shapes


def compiled(text: str, market: Market = BOTH) -> Plan:
    return compile_query(text, market.policy, market.catalogue())


NOT_TWICE = (
    "SELECT COUNT(*) FROM supplier s WHERE s_nation NOT IN (SELECT c_nation FROM customer) "
    "AND NOT EXISTS (SELECT 1 FROM orders WHERE o_date > '1997-01-01' AND o_id = s_nation)"
)
TERMS = {
    "SELECT COUNT(*) FROM supplier s WHERE s_nation NOT IN (SELECT c_nation FROM customer)": (
        2,
        Shape.CLAUSES,
    ),
    NOT_TWICE: (2, Shape.CLAUSES),
    "SELECT COUNT(*) FROM supplier LEFT JOIN customer ON c_nation = s_nation": (3, Shape.CLAUSES),
    "SELECT COUNT(c_id) FROM supplier LEFT JOIN customer ON c_nation = s_nation": (1, Shape.CONJUNCTIONS),
    "SELECT COUNT(*) FROM nation WHERE EXISTS (SELECT 1 FROM customer WHERE c_nation = n_id) "
    "<> EXISTS (SELECT 1 FROM supplier WHERE s_nation = n_id)": (2, Shape.TREES),
    "SELECT AVG(CASE WHEN EXISTS (SELECT 1 FROM customer WHERE c_nation = s_nation) THEN 1 ELSE 0 END) "
    "FROM supplier": (1, Shape.CLAUSES),
}


@pytest.mark.parametrize("text", TERMS)
def test_there_are_no_more_terms_than_the_theorem_says(text):
    measure = compiled(text).measures[0]
    assert (len(measure.tables), measure.shape) == TERMS[text]
    assert measure.signed is (TERMS[text][0] > 1)


ONE_ROW = "SELECT COUNT(*) FROM item i WHERE NOT EXISTS (SELECT 1 FROM orders WHERE o_id = i.i_product)"


def test_what_matches_one_row_at_most_has_no_or():
    assert compiled(ONE_ROW, KEYED).single.shape is Shape.CONJUNCTIONS
    assert compiled(ONE_ROW, BOTH).single.shape is Shape.CLAUSES  # nothing enforces the key there


def test_own_absences_are_conditions_of_the_row():
    text = "SELECT COUNT(*) FROM customer LEFT JOIN orders ON o_customer = c_id WHERE o_id IS NULL"
    assert not compiled(text, KEYED).single.signed


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM nation WHERE n_id IN (SELECT s_nation FROM supplier WHERE s_id NOT IN (SELECT i_supplier FROM item))",  # noqa: E501
        "SELECT COUNT(DISTINCT s_nation) FROM supplier WHERE s_id NOT IN (SELECT i_supplier FROM item)",
        "SELECT COUNT(*) FROM (SELECT s_nation FROM supplier EXCEPT SELECT c_nation FROM customer WHERE c_name NOT IN (SELECT i_supplier FROM item)) t",  # noqa: E501
        "SELECT COUNT(*) FROM customer FULL JOIN supplier ON c_nation = s_nation FULL JOIN gift ON g_from = s_nation",  # noqa: E501
    ],
)
def test_a_negation_below_an_or_is_refused(text):
    with pytest.raises(QueryError):
        compiled(text)


@pytest.mark.parametrize("text", [LAWS[0], LAWS[1], LAWS[14], LAWS[25]])
def test_what_is_understood_is_the_question(text):
    """The plain form, before and after signs are split, answers as DuckDB answers the text."""
    market = Market(Form.BARE, ("customer", "supplier"))
    judge = Judge.of(market, Maker(random.Random(7), market).contents())
    everybody = (1 << len(judge.names)) - 1
    (asked,) = compiled(text, market).asked
    shown = render(plain(asked)).replace('"memory"."main".', "")
    assert judge.rows_of(shown, everybody) == judge.rows_of(text, everybody)


# ------------------------------------------------------------------ what is released

NOT_IN = "SELECT COUNT(*) FROM supplier WHERE s_nation NOT IN (SELECT c_nation FROM customer)"
ROWS = Database(
    {"supplier": [(name, 1) for name in "abcdef"], "customer": [(1, 2, None), (2, 1, None), (3, 1, None)]}
)


def relation() -> KRelation:
    ((found,),) = collect(ROWS.load(), compile_query(NOT_IN, POLICY, the_catalogue()))
    return found


def test_a_count_with_negation_has_two_signs_and_is_not_lifted():
    found = relation()
    mechanism = mechanism_for("selective", Epsilon.of(1), found.shape)
    assert found.signed
    assert found.true_answer() == 0
    lifting = replace(mechanism, offset=Fraction(99))
    for seed in range(20):
        plain, lifted = (
            each.release(prepare(found, fast_programs), Seeded(seed)).value for each in (mechanism, lifting)
        )
        assert plain == lifted


def test_a_relation_that_says_it_has_no_sign_cannot_have_one():
    """The twin of a lift with signs: it cannot be built."""
    with pytest.raises(ValueError, match="without a sign"):
        replace(relation(), signed=False)


def test_a_count_with_negation_is_whole_and_not_negative():
    mechanism = mechanism_for("split", Epsilon.of(1), relation().shape)
    raw = replace(
        answers_at(prepare(relation(), fast_programs), Fraction(8), mechanism, NoNoise())[0],
        value=-2.5,
        interval=(-9, -1),
    )
    shown = raw.rounded(signed=True, counted=True)
    assert (shown.value, shown.interval, shown.signed, shown.counted) == (0, (0, 0), True, True)
    assert raw.rounded(signed=True).value == -2
