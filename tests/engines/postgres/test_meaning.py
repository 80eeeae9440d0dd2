"""A question means what PostgreSQL means by it: each difference between engines is a question here.

Asked of us without noise, and asked of PostgreSQL as it is written: the answers are the same.
"""

from __future__ import annotations

import pytest

from engines.conformance import relation_of
from recuse.engines.engine import Engine
from recuse.errors import QueryError
from recuse.policy import Policy
from recuse.sql.compile import compile_query
from recuse.sql.identity import meaning
from support.postgres import Server

pytestmark = pytest.mark.engine

POLICY = Policy.parse(
    """
[[protect]]
table = "m"
key = ["id"]
[sum]
granularity = 0.000001
[budget]
epsilon = 1
"""
)
MADE = (
    "CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')",
    "CREATE DOMAIN cents AS numeric(9, 2) CHECK (VALUE >= -1000)",
    """CREATE TABLE m (id integer PRIMARY KEY, i integer, j smallint, k bigint, n numeric(9, 2),
    w numeric(5, 0), f double precision, t text, c char(5), v varchar(10), d date, ts timestamp,
    tz timestamptz, b boolean,
    e mood, dom cents, "Mixed Name" integer)""",
    r"""INSERT INTO m VALUES
    (1, 7, 2, 5000000000, 2.50, 7, 2.5, 'abc', 'ab', 'ab', '2024-02-29', '2024-02-29 12:34:56.789',
     '2024-02-29 23:30:00-02', true, 'sad', 1.50, 1),
    (2, -7, 2, -3, -2.50, -7, -2.5, ' x ', 'a b', 'a b', '2023-01-01', '2023-01-01', '2023-01-01 00:00+00',
     false, 'ok', -1, 2),
    (3, 0, 1, 0, 0, 0, 0, E'tab\t', '', '', '1970-01-01', '1970-01-01', '1970-01-01 00:00+00', NULL,
     'happy', 0, 3),
    (4, 8, 3, 9, 3.50, 8, 3.5, '10%', '12', '12', '2020-12-27', '2020-12-27 00:00:01.5', '2020-12-27', true,
     'happy', 2, 4),
    (5, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (6, 1000000, 32767, 1, 1000.10, 99999, 0.1, 'a\b', 'AB', 'Zebra', 'infinity', 'infinity', '-infinity',
     false, 'sad', 9, 6)""",
)
CONDITIONS = (
    "i / 2 = 3",  # cut, and toward zero
    "i / 2 = -3",
    "n / 2 = 1.25",
    "w / 2 = 3.5",  # a numeric without places is no integer
    "i / 2.0 = 3.5",
    "f / 2 = 1.25",
    "i % 4 = -3",
    "mod(n, 2) = 0.5",
    "1e1 / 4 = 2.5 AND id = 1",  # 1e1 is a numeric
    "round(f) = 2",  # halves to even
    "round(n) = 3",  # halves away from zero
    "round(n, 1) = 2.5",
    "CAST(f AS integer) = 2",
    "CAST(n AS integer) = 3",
    "f::int + 1 = 5",
    "t LIKE '10\\%'",  # a backslash escapes
    "t LIKE 'a\\\\b'",
    "t LIKE '10!%' ESCAPE '!'",
    "t NOT ILIKE 'A%'",
    "c LIKE 'ab'",  # filled up with spaces
    "c LIKE 'ab%'",
    "c = 'ab'",
    "length(c) = 2",
    "c = v",
    "c || 'x' = 'abx'",
    "v < 'a'",  # by the collation of the database
    "t ~ 'b.?$'",
    "t !~ '^a'",
    "trim(t) = 'x'",
    "trim(t) LIKE '%\t'",  # a tab is no space
    "ltrim(t, ' ') = 'x '",
    "trim(both 'a' from t) = 'bc'",
    "substring(t, 0, 2) = 'a'",
    "substring(t from 2 for 2) = 'bc'",
    "substr(t, -1, 4) = 'ab'",
    "left(t, -1) = 'ab'",
    "right(t, -2) = 'c'",
    "split_part(t, 'b', -1) = 'c'",
    "reverse(t) = 'cba'",
    "position('b' in t) = 2",
    "concat(t, NULL, 'x') = 'abcx'",
    "t || NULL IS NULL AND t IS NOT NULL",
    "extract(dow FROM d) = 0",  # a Sunday
    "extract(isodow FROM d) = 7",
    "extract(second FROM ts) = 1.5",
    "extract(epoch FROM ts) = 1709210096.789",
    "extract(milliseconds FROM ts) = 1500",
    "date_part('year', d) = 2024",
    "extract(year FROM d) / 2 = 1011.5",  # a numeric
    "d + 1 = DATE '2024-03-01'",
    "d + INTERVAL '1 month' = TIMESTAMP '2024-03-29 00:00:00'",
    "CASE WHEN d < DATE '5000-01-01' THEN d - DATE '2023-01-01' END = 424",
    "date_trunc('month', ts) = TIMESTAMP '2024-02-01 00:00:00'",
    "d > DATE '5000-01-01'",  # infinity
    "extract(day FROM tz) = 1",  # in UTC
    "tz < TIMESTAMP '1900-01-01 00:00:00'",
    "b",
    "b IS NOT TRUE",
    "e = 'happy'",
    "e IN ('sad', 'ok')",
    "dom > 1",
    '"Mixed Name" = 2',
    "M.ID = 2",  # folded
    "k / 2 = 2500000000",
    "greatest(i, NULL, 3) = 3",
    "coalesce(n, -1) = -1",
    "nullif(i, 7) IS NULL",
    "f = 0.1",
    "n::text = '2.50'",
    "(n * n)::text = '6.2500'",
    "ts::date = '2024-02-29'",
    "t::varchar(1) = 'a'",
    "n::numeric > 3",
    "j # 2 = 0",
    "i & 3 = 3",
    "abs(i) = 7 AND -i = 7",
    "sqrt(abs(f)) < 1.6",
    "i = ANY (ARRAY[7, 8])",
    "i <> ALL (ARRAY[7, 8])",
    "i BETWEEN -7 AND 7",
    "octet_length(t) = 3",
    "starts_with(t, 'ab')",
    "lpad(t, 5, '*') = '**abc'",
    "make_date(2024, CASE WHEN j < 13 THEN j END, 29) = d",
    "i IS DISTINCT FROM 7",
    "CASE WHEN i > 0 THEN n ELSE f END > 1",
)
SUMS = (
    "i",
    "n",
    "f",
    "n * (1 - 0.06)",
    "i / 2",
    "n / 3",
    "w",
    "k - i",
    "CASE WHEN b THEN 1 ELSE 0 END",
    "b::int",
)
REFUSED = {
    "t SIMILAR TO 'a%'": "not asked of PostgreSQL",
    "t ~* 'A'": "not asked of PostgreSQL",
    "to_char(d, 'YYYY') = '2024'": "not asked of PostgreSQL",
    "year(d) = 2024": "not asked of PostgreSQL",
    "strlen(t) = 3": "strlen is not asked of PostgreSQL",
    "power(i, 2) = 4": "not asked of PostgreSQL",
    "c = 'ab '": "ends with spaces",
    "sqrt(n) > 1": "other digits",
    "f % 2 = 0": "% is not asked of PostgreSQL",
    "n::char(3) = 'a'": "this type is not accepted",
    "t COLLATE \"C\" < 'a'": "not asked of PostgreSQL",
    "ts AT TIME ZONE 'UTC' > ts": "not asked of PostgreSQL",
    "date_trunc('century', ts) = ts": "not asked of PostgreSQL",
    "e < 'ok'": "an order of their own",
    "t ~ 'a{300}'": "counts to 255",
    "round(f, 2) = 1": "rounds no double precision",
    "t LIKE '10\\'": "ends with the character that escapes",
    "ctid IS NULL": "ctid",
    "tableoid IS NULL": "tableoid",
}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_condition_holds_where_postgresql_says_so(
    server: Server, name: str, engine: Engine, condition: str
):
    sql = f"SELECT COUNT(*) FROM m WHERE {condition}"
    assert relation_of(engine, sql, POLICY).true_answer() == server.answer(name, sql)


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_question_has_an_identity(engine: Engine, condition: str):
    """What was compiled is read again, to see which questions are the same."""
    written = (
        f"SELECT COUNT(*) FROM m WHERE {condition}",
        f"SELECT COUNT(1) AS n FROM m WHERE ({condition})",
    )
    found = [meaning(compile_query(sql, POLICY, engine.catalogue())) for sql in written]
    assert found[0] == found[1]


@pytest.mark.parametrize("value", SUMS)
def test_a_sum_is_postgresqls(server: Server, name: str, engine: Engine, value: str):
    sql = f"SELECT SUM({value}) FROM m"
    exact = f"SELECT CAST(SUM(round(CAST({value} AS numeric) * 1000000)) AS bigint) FROM m"
    assert relation_of(engine, sql, POLICY).true_answer() == server.answer(name, exact)


@pytest.mark.parametrize("condition", REFUSED)
def test_what_is_not_built_is_refused_by_its_name(engine: Engine, condition: str):
    with pytest.raises(QueryError, match=REFUSED[condition]):
        relation_of(engine, f"SELECT COUNT(*) FROM m WHERE {condition}", POLICY)
