"""One person's key at the end of its type: the groups of all others are released as without them."""

from __future__ import annotations

from decimal import Decimal
from itertools import product

import duckdb
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.engines import places
from recuse.policy import Policy
from recuse.session.parts import Parts
from recuse.session.session import connect
from support.noise import Seeded
from support.profiles import some

POLICY = Policy.parse('[[protect]]\ntable = "person"\nkey = ["id"]\n\n[budget]\nepsilon = 1000\n')
ENDS = {
    "BIGINT": (-(2**63), 2**63 - 1),
    "UBIGINT": (0, 2**64 - 1),
    "HUGEINT": (-(2**127), 2**127 - 1),
    "DECIMAL(38, 0)": (-(10**38) + 1, 10**38 - 1),
}
BY_KEY = "SELECT key, COUNT(*) FROM person GROUP BY key"
QUESTIONS = (BY_KEY, f"{BY_KEY} ORDER BY COUNT(*) DESC LIMIT 2")


def answered(kind: str, odd: int | None, sql: str) -> list[object]:
    connection = duckdb.connect(":memory:", config={"threads": 1})
    connection.execute(f"CREATE TABLE person (id INTEGER, key {kind})")
    connection.execute("INSERT INTO person SELECT i, i % 3 FROM range(300) r(i)")
    if odd is not None:
        connection.execute("INSERT INTO person VALUES (?, ?)", [300, odd])
    with connect(connection, POLICY, parts=Parts(noise=Seeded(5))) as session:
        return [row.keys for row in session.ask(sql, 100).rows]


@pytest.mark.parametrize(("kind", "sql"), some([*product(ENDS, QUESTIONS)], 0.2))
def test_a_key_at_the_end_of_its_type_is_in_no_group(kind, sql):
    without = answered(kind, None, sql)
    assert {0, 1} <= {int(key) for (key,) in without if key is not None}
    for odd in ENDS[kind]:
        assert answered(kind, odd, sql) == without


NUMBERS = st.one_of(
    st.integers(-5, 5),
    st.integers(-(2**63), 2**63 - 1),
    st.sampled_from([-(2**63), 2**63 - 1, 2**64, -(2**127), 10**37]),
)


@given(st.lists(st.none() | NUMBERS), NUMBERS, st.integers(0, 9))
def test_places_are_those_of_whole_numbers_of_any_size(values, first, count):
    wide = any(value is not None and not -(2**63) <= value < 2**63 for value in values)
    if wide:
        values = [None if value is None else max(min(value, 10**38 - 1), 1 - 10**38) for value in values]
    kind = pyarrow.decimal128(38, 0) if wide else pyarrow.int64()
    made = [value if value is None or not wide else Decimal(value) for value in values]
    found = places._among(pyarrow.chunked_array([made], kind), first, count, 77)
    expected = [(value or 0) - first for value in values]
    assert found.tolist() == [place if 0 <= place < count else 77 for place in expected]
    assert found.dtype == "int64"
