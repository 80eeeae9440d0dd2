"""One person more, at every extreme of every type: no question fails or takes another form for it.

`neighbours.sql` has the questions: whatever release, function or clause is new belongs there.
"""

from __future__ import annotations

import warnings

import duckdb
import pytest

from recuse import dbapi
from recuse.engines.duckdb import DuckDB
from recuse.errors import RecuseError, UnansweredError
from recuse.privacy import Epsilon
from recuse.session.answer import Answer
from recuse.session.session import Session, connect
from support.visits import POLICY, questions_beside

QUESTIONS = questions_beside(__file__)
PERSON = (
    "id INTEGER PRIMARY KEY, town INTEGER, name VARCHAR, big BIGINT, huge HUGEINT, dec DECIMAL(38,10),"
    " w DECIMAL(18,4), x DOUBLE, f FLOAT, born DATE, seen TIMESTAMP, clock TIME, u UBIGINT, b BOOLEAN,"
    " uid UUID"
)
EXTREME_PERSON = (
    "99, 2147483647, repeat('é☃', 5000), 9223372036854775807, 170141183460469231731687303715884105727,"
    " 9999999999999999999999999999.9999999999, 99999999999999.9999, 'nan', '-inf', '5881580-07-10',"
    " '294247-01-10 04:00:54.775806', '24:00:00', 18446744073709551615, NULL, NULL"
)
EXTREME_VISITS = (
    "(99, 9223372036854775807, repeat('%_\\', 3000), 'nan', 'infinity', 'infinity',"
    " 999999999999999999999999999999999999.99, -2147483648)",
    "(99, -9223372036854775808, '', '-inf', '5877642-06-25 (BC)', '290309-12-22 (BC) 00:00:00',"
    " -999999999999999999999999999999999999.99, 2147483647)",
    "(99, 9223372036854775807, NULL, -0.0, NULL, NULL, 999999999999999999999999999999999999.99, NULL)",
)


def made(*, extreme: bool) -> duckdb.DuckDBPyConnection:
    """Return twelve people and their visits, and with them somebody at every extreme."""
    found = duckdb.connect(":memory:", config={"threads": 1})
    found.execute(f"CREATE TABLE person ({PERSON})")
    found.execute(
        "INSERT INTO person SELECT i, i % 3, 'n' || i, i, i, i, i, i, i, DATE '1990-01-01' + i::INTEGER,"
        " TIMESTAMP '1990-01-01' + to_days(i::INTEGER), TIME '12:00', i, i % 2 = 0, uuid()"
        " FROM range(12) r(i)"
    )
    found.execute(
        "CREATE TABLE visit (person INTEGER, n BIGINT, txt VARCHAR, x DOUBLE, d DATE, t TIMESTAMP,"
        " m DECIMAL(38,2), k INTEGER)"
    )
    found.execute(
        "INSERT INTO visit SELECT i % 12, i, 't' || i, i, DATE '2000-01-01' + i::INTEGER,"
        " TIMESTAMP '2000-01-01' + to_days(i::INTEGER), i, i % 4 FROM range(36) r(i)"
    )
    found.execute("CREATE TABLE town AS SELECT i::INTEGER AS id, 'town-' || i AS name FROM range(3) r(i)")
    if extreme:
        found.execute(f"INSERT INTO person VALUES ({EXTREME_PERSON})")
        found.execute(f"INSERT INTO visit VALUES {', '.join(EXTREME_VISITS)}")
    return found


def shown(answer: Answer) -> str:
    """Return the names of an answer's columns, which is shown in every way that there is."""
    assert str(answer)
    assert answer._repr_html_()
    return " ".join(answer.to_arrow().column_names[: len(answer.names)])


def told(session: Session, sql: str) -> str:
    """Return what can be seen beside the noise: what is refused and why, or that there is an answer.

    How many rows there are is noise, where ends are released or keys are found.
    """
    delta = "1e-6" if "/* delta */" in sql else None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return shown(session.ask(sql, 4, delta=delta))
    except UnansweredError:
        return "failed after the charge"
    except RecuseError as error:
        return str(error)


@pytest.fixture(scope="module")
def sessions():
    with (
        connect(made(extreme=False), POLICY) as without,
        connect(made(extreme=True), POLICY) as beside,
    ):
        yield without, beside


@pytest.mark.parametrize(
    "sql",
    [
        sql if place % 8 == 0 else pytest.param(sql, marks=pytest.mark.slow)
        for place, sql in enumerate(QUESTIONS)
    ],
    ids=range(len(QUESTIONS)),
)
def test_somebody_at_every_extreme_changes_no_form(sql, sessions):
    without, beside = (told(session, sql) for session in sessions)
    assert without == beside
    assert without != "failed after the charge"


def test_the_twin_that_casts_as_it_is_written_is_caught(sessions, monkeypatch):
    run = DuckDB.run

    def careless(self, statements):
        return run(self, [sql.replace("TRY_CAST(", "CAST(") for sql in statements])

    monkeypatch.setattr(DuckDB, "run", careless)
    sql = "SELECT COUNT(*) FROM visit WHERE CAST(n AS INTEGER) > 5"
    without, beside = (told(session, sql) for session in sessions)
    assert without != beside


@pytest.mark.parametrize(("value", "source"), [("big", "person"), ("x", "visit"), ("m", "visit")])
def test_distributions_have_one_form(value, source, sessions):
    for edges in ({"edges": [-10, 0, 10]}, {"bins": 4}):
        forms = [shown(session.cdf(value, source, 4, **edges)) for session in sessions]
        assert forms[0] == forms[1]


def test_a_cursor_describes_its_columns_alike(sessions):
    seen = []
    for session in sessions:
        cursor = dbapi.Connection(session, Epsilon.of(4), "selective").cursor()
        cursor.execute("SELECT COUNT(*), SUM(n), AVG(m), MAX(x), MEDIAN(n) FROM visit")
        seen.append((cursor.description, cursor.rowcount, [len(row) for row in cursor.fetchall()]))
    assert seen[0] == seen[1]
