"""One person more, at every extreme of PostgreSQL's types: no question fails or takes another form for it."""

from __future__ import annotations

import warnings

import pytest

from recuse.errors import RecuseError, UnansweredError
from recuse.session.session import Session, connect
from support.visits import POLICY, questions_beside

pytestmark = pytest.mark.engine

QUESTIONS = questions_beside(__file__)
TABLES = (
    "CREATE TABLE person (id integer PRIMARY KEY, town integer, name text, fixed char(5), big bigint,"
    " dec numeric(38,10), x double precision, f real, born date)",
    "INSERT INTO person SELECT i, i % 3, 'n' || i, 'n' || i, i, i, i, i, DATE '1990-01-01' + i"
    " FROM generate_series(0, 11) i",
    "CREATE TABLE visit (person integer, n bigint, txt text, x double precision, d date, t timestamp,"
    " m numeric(30,2), k integer)",
    "INSERT INTO visit SELECT i % 12, i, 't' || i, i, DATE '2000-01-01' + i,"
    " TIMESTAMP '2000-01-01' + i * INTERVAL '1 day', i, i % 4 FROM generate_series(0, 35) i",
    "CREATE TABLE town AS SELECT i AS id, 'town-' || i AS name FROM generate_series(0, 2) i",
)
EXTREMES = (
    "INSERT INTO person VALUES (99, 2147483647, repeat('é☃', 5000), '', 9223372036854775807,"
    " 'NaN', 'NaN', '-Infinity', '5874897-12-31')",
    "INSERT INTO visit VALUES"
    " (99, 9223372036854775807, repeat('%_\\', 3000), 'NaN', 'infinity', 'infinity', 'NaN', -2147483648),"
    " (99, -9223372036854775808, '', '-Infinity', '4713-01-01 BC', '4713-01-01 00:00:00 BC',"
    "  -9999999999999999999999999999.99, 2147483647),"
    " (99, 0, 'nan', 1.7976931348623157e308, '5874897-12-31', '294276-12-31 23:59:59.999999',"
    "  9999999999999999999999999999.99, 0),"
    " (99, NULL, NULL, 5e-324, '-infinity', '-infinity', NULL, NULL)",
)


@pytest.fixture(scope="module")
def sessions(server, tmp_path_factory):
    ledgers = tmp_path_factory.mktemp("ledgers")
    uris = [server.uri(server.database(*TABLES, *more)) for more in ((), EXTREMES)]
    with (
        connect(uris[0], POLICY, ledger=ledgers / "without") as without,
        connect(uris[1], POLICY, ledger=ledgers / "beside") as beside,
    ):
        yield without, beside


def told(session: Session, sql: str) -> str:
    """Return what can be seen beside the noise: what is refused and why, or that there is an answer."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return "answered: " + " ".join(session.ask(sql, 4).names)
    except UnansweredError:
        return "failed after the charge"
    except RecuseError as error:
        return str(error)


@pytest.mark.parametrize("sql", QUESTIONS, ids=range(len(QUESTIONS)))
def test_somebody_at_every_extreme_changes_no_form(sql, sessions):
    without, beside = (told(session, sql) for session in sessions)
    assert without == beside
    assert without != "failed after the charge"
