"""Types as catalogues spell them."""

from __future__ import annotations

import duckdb
import pytest

from recuse.errors import QueryError
from recuse.policy import Policy
from recuse.scalars.types import Opaque, Timestamp, stored
from recuse.session.session import connect

POLICY = Policy.parse('[[protect]]\ntable = "t"\nkey = ["id"]\n[budget]\nepsilon = 10')


def test_moments_with_a_zone_are_not_read_as_they_are():
    assert isinstance(stored("TIMESTAMP WITH TIME ZONE"), Opaque)
    assert isinstance(stored("TIMESTAMPTZ"), Opaque)
    assert isinstance(stored("TIMESTAMP IN UTC"), Timestamp)


@pytest.mark.parametrize(
    "asked",
    [
        "COUNT(*) FROM t WHERE m > TIMESTAMP '2000-01-01'",
        "COUNT(DISTINCT m) FROM t",
        "COUNT(*) FROM t a JOIN t b ON a.m = b.m",
        "COUNT(*) FROM t a WHERE (SELECT COUNT(*) FROM t b WHERE b.m = a.m) > 1",
    ],
)
def test_no_question_compares_them_in_duckdb(asked):
    """In summer's last night two of them are one local time: a unique key would be none."""
    with duckdb.connect(":memory:") as data:
        data.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, m TIMESTAMPTZ UNIQUE)")
        with connect(data, POLICY) as session, pytest.raises(QueryError):
            session.compile(f"SELECT {asked}")
