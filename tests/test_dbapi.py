"""DB-API 2.0: the public compliance checks that apply (Stuart Bishop's dbapi20, public domain, after which
these are written), and what is ours: ε, parameters, no refund.
"""

from __future__ import annotations

import datetime
import time
import warnings
from decimal import Decimal
from fractions import Fraction

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse import dbapi
from recuse.engines.duckdb import DuckDB
from recuse.session.answer import Answer
from support.shop import COUNT, POLICY, make_shop

GROUPS = """SELECT COUNT(*) AS orders, n.name
FROM orders o JOIN customer c ON o.customer = c.id JOIN nation n ON c.nation = n.id
GROUP BY n.name ORDER BY n.name"""


@pytest.fixture
def connection(tmp_path):
    database, policy = make_shop(tmp_path)
    policy.write_text(POLICY.replace("epsilon = 2", "epsilon = 100"))
    with dbapi.connect(database, policy=policy, epsilon="0.5") as opened:
        yield opened


# ------------------------------------------------------------------ the module


def test_the_module_says_what_it_is():
    assert (dbapi.apilevel, dbapi.threadsafety, dbapi.paramstyle) == ("2.0", 1, "qmark")


def test_the_tree_of_errors():
    assert issubclass(dbapi.Warning, Exception)
    assert issubclass(dbapi.Error, Exception)
    for name in ("InterfaceError", "DatabaseError"):
        assert issubclass(getattr(dbapi, name), dbapi.Error)
    for name in (
        *("OperationalError", "IntegrityError", "InternalError"),
        *("ProgrammingError", "NotSupportedError", "DataError"),
    ):
        assert issubclass(getattr(dbapi, name), dbapi.DatabaseError)


def test_errors_are_attributes_of_connections(connection):
    for name in (
        *("Warning", "Error", "InterfaceError", "DatabaseError", "OperationalError", "IntegrityError"),
        *("InternalError", "ProgrammingError", "NotSupportedError", "DataError"),
    ):
        assert getattr(connection, name) is getattr(dbapi, name)


def test_types_and_constructors():
    ticks = time.mktime((2002, 12, 25, 13, 45, 30, 0, 0, 0))
    assert dbapi.DateFromTicks(ticks) == dbapi.Date(2002, 12, 25)
    assert dbapi.TimeFromTicks(ticks) == dbapi.Time(13, 45, 30)
    assert dbapi.TimestampFromTicks(ticks) == dbapi.Timestamp(2002, 12, 25, 13, 45, 30)
    assert dbapi.Binary(b"x") == b"x"
    kinds = (dbapi.STRING, dbapi.BINARY, dbapi.NUMBER, dbapi.DATETIME, dbapi.ROWID)
    assert len(set(kinds)) == 5


# ------------------------------------------------------------------ connections


def test_commit_and_rollback_do_nothing_and_a_charge_stays(connection):
    connection.commit()
    connection.cursor().execute(COUNT)
    connection.rollback()
    connection.rollback()
    assert connection.session.budget.spent == Fraction(1, 2)


def test_a_closed_connection_does_nothing(connection):
    cursor = connection.cursor()
    connection.close()
    connection.close()
    cursor.close()
    for use in (connection.commit, connection.rollback, connection.cursor, lambda: cursor.execute(COUNT)):
        with pytest.raises(dbapi.Error, match="closed"):
            use()


def test_a_closed_cursor_does_nothing(connection):
    cursor = connection.cursor()
    cursor.execute(COUNT)
    cursor.close()
    cursor.close()
    for use in (lambda: cursor.execute(COUNT), cursor.fetchone, cursor.fetchall, cursor.fetchmany):
        with pytest.raises(dbapi.Error, match="closed"):
            use()
    assert connection.cursor().execute(COUNT).rowcount == 1


# ------------------------------------------------------------------ cursors


def test_description(connection):
    cursor = connection.cursor()
    assert (cursor.description, cursor.rowcount) == (None, -1)
    cursor.execute(GROUPS)
    assert [len(column) for column in cursor.description] == [7, 7]
    assert [column[:2] for column in cursor.description] == [("orders", dbapi.NUMBER), ("name", dbapi.STRING)]
    assert cursor.rowcount == 5
    with pytest.raises(dbapi.ProgrammingError):
        cursor.execute("SELECT * FROM orders")
    assert (cursor.description, cursor.rowcount) == (None, -1), "of a refused question nothing is left"


def test_cursors_do_not_disturb_each_other(connection):
    one, two = connection.cursor(), connection.cursor()
    one.execute(COUNT)
    two.execute(GROUPS)
    assert (one.rowcount, two.rowcount) == (1, 5)


def test_fetching(connection):
    cursor = connection.cursor()
    for fetch in (cursor.fetchone, cursor.fetchmany, cursor.fetchall):
        with pytest.raises(dbapi.Error, match="nothing has been asked"):
            fetch()
    cursor.execute(COUNT)
    assert isinstance(cursor.fetchone()[0], int)
    assert (cursor.fetchone(), cursor.fetchmany(), cursor.fetchall()) == (None, [], [])
    cursor.execute(GROUPS)
    assert cursor.arraysize == 1
    assert len(cursor.fetchmany()) == 1
    cursor.arraysize = 2
    first = cursor.fetchmany()
    assert len(first) == 2
    assert [name for _, name in first] == ["nation-1", "nation-2"], "in the order of the SELECT"
    assert len(cursor.fetchall()) == 2
    assert cursor.fetchmany(3) == []
    assert [name for _, name in connection.cursor().execute(GROUPS)] == [f"nation-{i}" for i in range(5)]


def test_sizes_are_accepted_and_ignored(connection):
    cursor = connection.cursor()
    cursor.setinputsizes((25,))
    cursor.setoutputsize(1000)
    cursor.setoutputsize(1000, 0)


def test_several_questions_at_once_are_not_supported(connection):
    with pytest.raises(dbapi.NotSupportedError):
        connection.cursor().executemany(COUNT + " WHERE id < ?", [(1,), (2,)])
    assert connection.session.budget.spent == 0


def test_the_answer_has_the_intervals(connection):
    cursor = connection.cursor().execute(GROUPS)
    assert isinstance(cursor.answer, Answer)
    assert [int(row.cells[0].value) for row in cursor.answer] == [count for count, _ in cursor.fetchall()]


# ------------------------------------------------------------------ what it costs


def test_epsilon_of_the_connection_and_of_a_comment(connection):
    cursor = connection.cursor()
    assert cursor.execute(COUNT).answer.epsilon == Fraction(1, 2)
    assert cursor.execute(f"/* epsilon = 1/4 */ {COUNT}").answer.epsilon == Fraction(1, 4)
    assert cursor.execute(f"  /*EPSILON=0.1*/{COUNT}").answer.epsilon == Fraction(1, 10)
    assert connection.session.budget.spent == Fraction(17, 20)


def test_without_epsilon_nothing_is_asked(tmp_path):
    database, policy = make_shop(tmp_path)
    with dbapi.connect(database, policy) as connection:
        with pytest.raises(dbapi.ProgrammingError, match="may the answer cost"):
            connection.cursor().execute(COUNT)
        connection.cursor().execute("/* epsilon = 0.5 */ " + COUNT)
        with pytest.raises(dbapi.OperationalError, match="does not cover"):
            connection.cursor().execute("/* epsilon = 3 */ " + COUNT)


@pytest.mark.parametrize(
    "sql",
    [
        "/* epsilon = half */ " + COUNT,
        "/* epsilon = 0 */ " + COUNT,
        COUNT + " /* epsilon = 0.5 */",
        "/* hello */ /* epsilon = 1 */ " + COUNT,
        COUNT + " -- epsilon = 1",
        "/* epsilon = 1 */ /* epsilon = 0.1 */ " + COUNT,
        "DROP TABLE orders",
        COUNT + " WHERE id = ?",
    ],
)
def test_refusals_cost_nothing(connection, sql):
    with pytest.raises(dbapi.ProgrammingError) as caught:
        connection.cursor().execute(sql)
    assert "\n" not in str(caught.value)
    assert connection.session.budget.spent == 0


def test_what_cannot_be_opened(tmp_path):
    _, policy = make_shop(tmp_path)
    with pytest.raises(dbapi.OperationalError, match="no database"):
        dbapi.connect(tmp_path / "no.duckdb", policy)
    with pytest.raises(dbapi.ProgrammingError, match="epsilon"):
        dbapi.connect(tmp_path / "shop.duckdb", policy, epsilon="lots")


# ------------------------------------------------------------------ parameters


def test_parameters_are_the_question_with_their_values(connection):
    cursor = connection.cursor()
    cursor.execute(COUNT + " WHERE id < ? AND price > ?", (500, Decimal("1.5")))
    assert cursor.execute(COUNT + " WHERE id < 500 AND price > 1.5").answer.stored
    assert connection.session.budget.spent == Fraction(1, 2)


@pytest.mark.parametrize("parameters", [(1,), (1, 2, 3), "ab"])
def test_too_few_or_too_many(connection, parameters):
    with pytest.raises(dbapi.ProgrammingError, match=r"marks|type"):
        connection.cursor().execute(COUNT + " WHERE id < ? AND id > ?", parameters)


@pytest.mark.parametrize("value", [b"x", float("nan"), float("inf"), "a\0b", object(), [1], Decimal("NaN")])
def test_what_has_no_literal_is_refused(value):
    with pytest.raises(dbapi.ProgrammingError, match=type(value).__name__):
        dbapi.literal(value)


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63) + 1, 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False, width=32),
    st.decimals(allow_nan=False, allow_infinity=False, min_value=-1000, max_value=1000, places=4),
    st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",))),
    st.dates(),
    st.datetimes(),
)


@pytest.fixture(scope="module")
def engine():
    with DuckDB.open({"one": pd.DataFrame({"x": [1]})}) as opened:
        yield opened.connection


@given(value=VALUES)
def test_a_literal_means_its_value(engine, value):
    """The judge is DuckDB itself, which takes the same value as a real parameter."""
    written = engine.execute(f"SELECT {dbapi.literal(value)}").fetchall()
    ((found,),) = written
    if isinstance(value, float | Decimal):
        assert float(found) == pytest.approx(float(value), rel=1e-12)
    else:
        assert (found, type(found)) == (value, type(value))


@given(value=st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",))))
def test_no_text_breaks_out_of_its_quotes(value):
    text = dbapi.bound("SELECT COUNT(*) FROM t WHERE a = ? AND b = 1", [value])
    assert text.startswith("SELECT COUNT(*) FROM t WHERE a = '")
    assert text.endswith("' AND b = 1")
    inside = text.removeprefix("SELECT COUNT(*) FROM t WHERE a = '").removesuffix("' AND b = 1")
    assert "'" not in inside.replace("''", "")


def test_dates_and_times_have_literals():
    assert dbapi.literal(datetime.date(2026, 1, 2)) == "DATE '2026-01-02'"
    assert dbapi.literal(datetime.datetime(2026, 1, 2, 3, 4)) == "TIMESTAMP '2026-01-02 03:04:00'"


# ------------------------------------------------------------------ tools


def test_pandas_reads_answers(connection):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="pandas only supports SQLAlchemy", category=UserWarning)
        frame = pd.read_sql(GROUPS, connection)
        one = pd.read_sql(COUNT + " WHERE id < ?", connection, params=(500,))
    assert list(frame.columns) == ["orders", "name"]
    assert list(frame["name"]) == [f"nation-{i}" for i in range(5)]
    assert frame["orders"].dtype == "int64"
    assert one.shape == (1, 1)
    assert connection.session.budget.spent == 1
