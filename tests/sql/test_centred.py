"""Variances, correlations and lines: what they mean, how ε is split, what their intervals can hold."""

from __future__ import annotations

from fractions import Fraction

import duckdb
import numpy as np
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse.engines.collect import collect
from recuse.errors import QueryError
from recuse.krelation.build import canonical_rows, without
from recuse.policy import Policy
from recuse.session.parts import Parts
from recuse.session.session import connect
from recuse.sql.centred import product_granularity
from recuse.sql.compile import compile_query
from recuse.sql.placeholder import LARGER_SHARE
from support.noise import Seeded
from support.profiles import examples
from support.sql.shop import POLICY as SHOP
from support.sql.shop import full_databases, the_catalogue

POLICY = Policy.parse("""
[[protect]]
table = "person"
key = ["id"]
[[link]]
table = "reading"
column = ["of"]
to = "person"
[[public]]
table = "place"
[sum]
granularity = 0.01
[budget]
epsilon = 1000
""")
ONE = ["VAR_POP(x)", "VAR_SAMP(x)", "VARIANCE(x)", "STDDEV(x)", "STDDEV_POP(x)", "STDDEV_SAMP(x)"]
TWO = [
    *("COVAR_POP(y, x)", "COVAR_SAMP(y, x)", "CORR(y, x)", "REGR_SLOPE(y, x)", "REGR_INTERCEPT(y, x)"),
    *("REGR_R2(y, x)", "REGR_AVGX(y, x)", "REGR_AVGY(y, x)", "REGR_COUNT(y, x)", "REGR_SXX(y, x)"),
    *("REGR_SYY(y, x)", "REGR_SXY(y, x)"),
]


def mostly_slow(quick, found):
    """Return the cases, those that are not quick marked as slow."""
    return [pytest.param(*one, marks=[] if one in quick else pytest.mark.slow) for one in found]


@pytest.fixture(scope="module")
def database():
    connection, draw = duckdb.connect(), np.random.default_rng(5)
    x = draw.normal(500, 40, 1_600).round(2)
    y = (3 * x + draw.normal(0, 90, 1_600)).round(2)
    made = pyarrow.table({"id": np.arange(1_600), "x": x, "y": y})
    connection.execute("CREATE TABLE person AS SELECT i AS id FROM range(800) t(i)")
    connection.execute(
        'CREATE TABLE reading AS SELECT id, id % 800 AS "of", id % 2 AS kind, '
        "CASE WHEN id % 50 > 0 THEN CAST(x AS DECIMAL(9, 2)) END AS x, "
        f"CASE WHEN id % 70 > 0 THEN CAST(y AS DECIMAL(9, 2)) END AS y FROM made WHERE id < {len(made)}"
    )
    connection.execute("CREATE TABLE place AS SELECT i AS id, i * i AS size FROM range(10) t(i)")
    yield connection
    connection.close()


def answer(database, text, epsilon=1, seed=1, policy=POLICY):
    with connect(database, policy, parts=Parts(noise=Seeded(seed))) as session:
        return session.ask(text, epsilon)


@pytest.mark.parametrize(
    "what", mostly_slow([("STDDEV(x)",), ("CORR(y, x)",)], [(what,) for what in (*ONE, *TWO)])
)
def test_with_much_epsilon_it_is_what_the_engine_says(database, what):
    text = f"SELECT {what} FROM reading"
    (exact,) = database.execute(text).fetchone()
    found = float(answer(database, text, 900).value)
    assert found == pytest.approx(exact, rel=1e-2, abs=1e-3 if "INTERCEPT" not in what else 15), "of 1,500"


@pytest.mark.parametrize(
    "what",
    mostly_slow(
        [("STDDEV(x)",)],
        [("STDDEV(x)",), ("CORR(y, x)",), ("REGR_SLOPE(y, x)",), ("VAR_POP(x) FILTER (WHERE y > 1500)",)],
    ),
)
def test_of_groups_too(database, what):
    text = f"SELECT kind, {what} FROM reading WHERE kind IN (0, 1) GROUP BY kind"
    exact = dict(database.execute(text).fetchall())
    for row in answer(database, text, 900):
        assert float(row.cells[0].value) == pytest.approx(exact[row.keys[0]], rel=3e-2)


@pytest.mark.slow
def test_at_one_it_is_near(database):
    (exact,) = database.execute("SELECT STDDEV(x) FROM reading").fetchone()
    errors = [
        abs(float(answer(database, "SELECT STDDEV(x) FROM reading", 1, s)) / exact - 1) for s in range(7)
    ]
    assert sorted(errors)[3] < 0.1


def test_epsilon_is_charged_as_asked_and_split_as_said(database):
    with connect(database, POLICY) as session:
        text = "SELECT VAR_POP(x) FROM reading"
        question = session.question(text, 1)
        firsts = [part.mechanism.epsilon for first in question.firsts for part in first.parts]
        assert firsts == [Fraction(1, 4), Fraction(1, 4)]
        assert [part.mechanism.epsilon for part in question.parts] == [LARGER_SHARE]
        explained = "\n".join(session.explain(text).lines(200))
        assert "1/2 for the 2 aggregates that are released first" in explained
        assert "how many rows there are is released" in explained
        assert "the mean of x is released" in explained
        assert "sum of products in units of 0.0001" in explained
        both = session.question("SELECT CORR(y, x), STDDEV(x) FROM reading", 1)
        parts = [part.mechanism.epsilon for asked in (both, *both.firsts) for part in asked.parts]
        assert sum(parts) == 1
        assert session.ask(text, 2).epsilon == 2


GROUPS = "WHERE kind IN (0, 1) GROUP BY kind"
IMPOSSIBLE = {
    "VAR_POP(x)": (0, None),
    "STDDEV(x)": (0, None),
    "CORR(y, x)": (-1, 1),
    "REGR_R2(y, x)": (0, 1),
    "REGR_SXX(y, x)": (0, None),
}


@pytest.mark.parametrize(
    ("what", "grouped"),
    mostly_slow(
        [("VAR_POP(x)", ""), ("CORR(y, x)", GROUPS)],
        [*((what, "") for what in IMPOSSIBLE), *((what, GROUPS) for what in ("VAR_POP(x)", "CORR(y, x)"))],
    ),
)
def test_no_interval_and_no_value_is_impossible(database, what, grouped):
    least, most = IMPOSSIBLE[what]
    for seed in range(2):
        epsilon = [Fraction(1, 200), Fraction(1, 10)][seed % 2]
        for row in answer(database, f"SELECT {what} FROM reading {grouped}", epsilon, seed):
            (cell,) = row.cells
            low, high = cell.interval
            if cell.value is not None:
                assert low is not None
                assert low >= least
                assert cell.value >= least
                assert most is None or (cell.value <= most and high is not None and high <= most)


def test_nobody_has_no_variance(database):
    cells = [answer(database, "SELECT STDDEV(x) FROM reading WHERE x < 0", 1, s).value for s in range(4)]
    assert None in cells


def test_of_public_rows_the_engine_says_it(database):
    found = answer(database, "SELECT STDDEV(size) FROM place")
    assert float(found.rows[0].keys[0]) == database.execute("SELECT STDDEV(size) FROM place").fetchone()[0]


def test_what_is_not_understood_is_refused():
    for what in ("VAR_POP(DISTINCT o_total)", "STDDEV(c_name)", "CORR(o_total, c_name)"):
        text = f"SELECT {what} FROM orders JOIN customer ON o_customer = c_id"
        with pytest.raises(QueryError):
            compile_query(text, SHOP, the_catalogue())


def test_products_are_rounded_finely_enough_and_fit_64_bits():
    assert product_granularity(Fraction(1, 100)) == Fraction(1, 10_000)
    assert product_granularity(Fraction(1)) == Fraction(1, 100)
    for granularity in (Fraction(1, 100), Fraction(1), Fraction(100)):
        assert (3 * 10**8 * min(granularity * 10, 1)) ** 2 / product_granularity(granularity) < 2**63


LAW = [
    "SELECT VAR_POP(o_total) FROM orders",
    "SELECT CORR(i_count, o_total) FROM item JOIN orders ON i_order = o_id",
    "SELECT STDDEV(o_total) FROM orders WHERE o_customer IN (SELECT g_from FROM gift)",
]


@pytest.mark.parametrize("text", mostly_slow([(LAW[0],)], [(text,) for text in LAW]))
@settings(max_examples=examples(4))
@given(
    database=full_databases(), centre=st.sampled_from([None, Fraction(0), Fraction(-7, 3), Fraction(10**12)])
)
def test_whatever_the_centre_a_withdrawal_takes_rows_and_moves_none(text, database, centre):
    plan = compile_query(text, SHOP, the_catalogue())
    plan = plan.filled([centre] * len(plan.firsts))
    found = collect(database.load(), plan)
    for name in sorted(database.participants(), key=repr):
        for whole, fewer in zip(found, collect(database.without(name).load(), plan), strict=True):
            assert canonical_rows(fewer[0]) == canonical_rows(without(whole[0], name))


def test_a_twin_that_takes_the_true_mean_is_caught():
    """A withdrawal moves the true mean, so everybody's square: by more than the one who left brings."""
    people = [0.0] * 50 + [1_000.0]
    mean = sum(people) / 51
    whole, fewer = (sum((v - sum(some) / len(some)) ** 2 for v in some) for some in (people, people[:-1]))
    assert abs(whole - fewer) > (1_000 - mean) ** 2
    fixed = [sum((value - mean) ** 2 for value in some) for some in (people, people[:-1])]
    assert abs(fixed[0] - fixed[1]) == pytest.approx((1_000 - mean) ** 2)
