"""Every function of the total language can be written in SQL, and is answered by DuckDB as it says."""

from __future__ import annotations

from contextlib import suppress

import duckdb
import pytest
from sqlglot import exp

from recuse.errors import QueryError
from recuse.policy import Link, Policy, Protect
from recuse.scalars import expression
from recuse.scalars.duckdb import Compiler
from recuse.scalars.expression import Call, Constant, parts
from recuse.scalars.postgres.own import OWN
from recuse.scalars.table import ROWS
from recuse.scalars.types import stored
from recuse.sql.catalogue import Catalogue, Column, Table
from recuse.sql.compile import compile_query
from recuse.sql.elaborate import Elaborator
from recuse.sql.parse import parse
from recuse.sql.spoken import NODES, speaks
from support.profiles import some

TYPES = {
    "i": "INTEGER",
    "d": "DECIMAL(9,2)",
    "x": "DOUBLE",
    "s": "VARCHAR",
    "flag": "BOOLEAN",
    "day": "DATE",
    "ts": "TIMESTAMP",
    "clock": "TIME",
}
# what is written, and what it is in the one row below
WRITTEN = """
i = 7 -> true
i <> 7 -> false
i < 8 -> true
i <= 7 -> true
i > 7 -> false
i >= 7 -> true
i IS DISTINCT FROM NULL -> true
i IS NOT DISTINCT FROM 7 -> true
i BETWEEN 1 AND 7 -> true
i NOT BETWEEN 1 AND 7 -> false
i IN (1, 7) -> true
i NOT IN (1, 7) -> false
flag AND i = 7 -> true
flag OR i = 8 -> true
NOT flag -> false
i IS NULL -> false
i IS NOT NULL -> true
(i > NULL) IS UNKNOWN -> true
flag IS TRUE -> true
flag IS NOT FALSE -> true
CASE WHEN i > 5 THEN 'big' ELSE 'small' END -> big
CASE i WHEN 7 THEN 'seven' END -> seven
if(i > 5, 1, 2) -> 1
coalesce(NULL, i) -> 7
ifnull(NULL, i) -> 7
nullif(i, 7) -> NULL
greatest(i, 9) -> 9
least(i, 9) -> 7
i + 1 -> 8
i - 1 -> 6
i * d -> 17.50
i // 2 -> 3
i % 4 -> 3
mod(i, 4) -> 3
-i -> -7
abs(-i) -> 7
sign(d) -> 1
round(d, 1) -> 2.5
round(i, -1) -> 10
floor(d) -> 2
ceil(d) -> 3
ceiling(d) -> 3
trunc(d) -> 2
i & 3 -> 3
i | 8 -> 15
xor(i, 2) -> 5
i / 2 -> 3.5
x + 1 -> 1.5
sqrt(x * 8) -> 2.0
cbrt(x * 16) -> 2.0
exp(x - 0.5) -> 1.0
ln(x + 0.5) -> 0.0
log(100) -> 2.0
log(x * 200) -> 2.0
log10(x * 2000) -> 3.0
log2(x * 16) -> 3.0
log(3, x * 18) -> 2.0
pow(x, 2) -> 0.25
power(x, 2) -> 0.25
x ** 2 -> 0.25
sin(x - 0.5) -> 0.0
cos(x - 0.5) -> 1.0
tan(x - 0.5) -> 0.0
cot(x) -> 1.830487721712452
asin(x * 2) -> 1.5707963267948966
acos(x * 2) -> 0.0
atan(x - 0.5) -> 0.0
atan2(x, x) -> 0.7853981633974483
sinh(x - 0.5) -> 0.0
cosh(x - 0.5) -> 1.0
tanh(x - 0.5) -> 0.0
asinh(x - 0.5) -> 0.0
acosh(x * 2) -> 0.0
atanh(x - 0.5) -> 0.0
degrees(x - 0.5) -> 0.0
radians(x - 0.5) -> 0.0
pi() > x -> true
width_bucket(i, 0, 10, 5) -> 4
isnan(x) -> false
isinf(x) -> false
isfinite(x) -> true
CAST(x AS FLOAT) -> 0.5
CAST(d AS INTEGER) -> 3
d::BIGINT -> 3
TRY_CAST(s AS INTEGER) -> NULL
lower(s) -> abc def
upper(s) -> ABC DEF
initcap(s) -> Abc Def
length(s) -> 7
char_length(s) -> 7
strlen(s) -> 7
octet_length(s) -> 7
ascii(s) -> 65
unicode(s) -> 65
ord(s) -> 65
translate(s, 'Ab', 'xy') -> xyc def
reverse(s) -> fed cbA
trim('  ' || s) -> Abc def
ltrim(s, 'A') -> bc def
rtrim(s, 'ef') -> Abc d
trim(BOTH 'f' FROM s) -> Abc de
substring(s, 2, 2) -> bc
substring(s FROM 2 FOR 2) -> bc
substr(s, -3) -> def
left(s, 3) -> Abc
right(s, 3) -> def
split_part(s, ' ', 2) -> def
s || '!' -> Abc def!
concat(s, i) -> Abc def7
concat_ws('-', s, i) -> Abc def-7
replace(s, 'def', 'x') -> Abc x
lpad(s, 9, '*') -> **Abc def
rpad(s, 9, '*') -> Abc def**
repeat(left(s, 1), 3) -> AAA
position('d' IN s) -> 5
strpos(s, 'd') -> 5
instr(s, 'd') -> 5
contains(s, 'c d') -> true
starts_with(s, 'Ab') -> true
prefix(s, 'Ab') -> true
ends_with(s, 'ef') -> true
suffix(s, 'ef') -> true
s LIKE 'A%' -> true
s NOT LIKE 'A%' -> false
s ILIKE 'aB%' -> true
s LIKE 'A!bc%' ESCAPE '!' -> true
regexp_matches(s, '[a-z]+') -> true
s ~ '[a-z]+' -> true
regexp_full_match(s, '[a-z]+') -> false
year(day) -> 2024
extract(year FROM day) -> 2024
date_part('year', day) -> 2024
quarter(day) -> 1
month(day) -> 2
day(day) -> 29
dayofmonth(day) -> 29
dayofweek(day) -> 4
weekday(day) -> 4
extract(dow FROM day) -> 4
isodow(day) -> 4
dayofyear(day) -> 60
extract(doy FROM day) -> 60
week(day) -> 9
weekofyear(day) -> 9
isoyear(day) -> 2024
yearweek(day) -> 202409
century(day) -> 21
decade(day) -> 202
millennium(day) -> 3
hour(ts) -> 13
extract(hour FROM clock) -> 9
minute(ts) -> 45
second(ts) -> 10
millisecond(ts) -> 10250
microsecond(ts) -> 10250000
epoch(day) -> 1709164800.0
extract(epoch FROM day) -> 1709164800.0
epoch_ms(ts) -> 1709214310250
epoch_us(ts) -> 1709214310250000
dayname(day) -> Thursday
monthname(day) -> February
last_day(day) -> 2024-02-29
strftime(day, '%Y-%m') -> 2024-02
strftime('%j', day) -> 060
make_date(2024, 2, 30) -> NULL
make_date(2024, i, 1) -> 2024-07-01
date_trunc('month', day) -> 2024-02-01 00:00:00
date_diff('day', DATE '2024-01-01', day) -> 59
datediff('month', DATE '2023-12-31', day) -> 2
age(day, DATE '2024-01-01') -> 59
day + 1 -> 2024-03-01
day - 1 -> 2024-02-28
day - DATE '2024-01-01' -> 59
day + INTERVAL 1 YEAR -> 2025-02-28 00:00:00
day - INTERVAL '2' MONTH -> 2023-12-29 00:00:00
date_add(day, INTERVAL 1 DAY) -> 2024-03-01 00:00:00
date(ts) -> 2024-02-29
day > TIMESTAMP '2024-02-28 23:00:00' -> true
ts >= '2024-02-29'::timestamp -> true
clock < TIME '12:00' -> true
"""
PAIRS = [tuple(line.split(" -> ")) for line in WRITTEN.strip().splitlines()]


def lookup(node: exp.Expr) -> expression.Variable:
    return expression.Variable("", node.name, stored(TYPES[node.name]), TYPES[node.name])


@pytest.mark.parametrize(("text", "_"), some(PAIRS, 0.3))
def test_a_question_with_it_is_understood_as_written(text, _):
    table = Table("t", (Column("p", "INTEGER"), *(Column(name, kind) for name, kind in TYPES.items())))
    policy = Policy(protect=(Protect.virtual("person"),), links=(Link.all("t", "p", to="person"),))
    plan = compile_query(f"SELECT COUNT(*) FROM t WHERE ({text}) IS NULL", policy, Catalogue((table,)))
    assert len(plan.explanation.understood[0]) < 2 * len(text) + 80


def read(text: str) -> expression.Expression:
    (node,) = parse(f"SELECT {text}").expressions
    return Elaborator(lookup, f"SELECT {text}").expression(node)


@pytest.fixture(scope="module")
def connection():
    made = duckdb.connect()
    made.execute(f"CREATE TABLE t ({', '.join(f'{name} {kind}' for name, kind in TYPES.items())})")
    made.execute(
        "INSERT INTO t VALUES (7, 2.5, 0.5, 'Abc def', TRUE, '2024-02-29', '2024-02-29 13:45:10.25', '09:30')"
    )
    return made


@pytest.mark.parametrize(("text", "expected"), some(PAIRS, 0.5))
def test_it_is_read_and_means_what_people_expect(connection, text, expected):
    sql = Compiler().sql(read(text))
    ((found,),) = connection.sql(f"SELECT CAST({sql} AS VARCHAR) FROM t").fetchall()
    assert ("NULL" if found is None else found) == expected


def test_every_function_can_be_written():
    spoken = set()
    for text, _ in PAIRS:
        (node,) = parse(f"SELECT {text}").expressions
        spoken |= {found[0] for part in node.walk() if (found := speaks(part)) is not None}
        spoken |= {part.function.name for part in parts(read(text)) if isinstance(part, Call)}
    assert {row.name for row in ROWS if not row.inner} <= spoken
    engines_own = {row.name.removeprefix("pg ") for row in OWN}
    assert {name for name, _ in NODES.values()} <= {row.name for row in ROWS} | engines_own


def test_constants_are_folded_before_any_engine_sees_them():
    for text in (
        "1 + 2 * 3",
        "upper('a') || 'b'",
        "DATE '2024-01-31' + INTERVAL 1 MONTH",
        "1 // 0",
        "0.1 + 0.2",
    ):
        assert isinstance(read(text), Constant)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("s + 1", "this is text, and a number is needed"),
        ("lower(i)", "text is needed"),
        ("day > 'x'", "this constant is no DATE"),
        ("CAST('2024-13-01' AS DATE)", "this constant is no DATE"),
        ("CAST(i AS BLOB)", "this type is not accepted"),
        ("clock + INTERVAL 1 HOUR", "a date or timestamp is needed"),
        ("ts - TIMESTAMP '2024-01-01'", "number"),
        ("day + INTERVAL (i) DAY", "must be written down"),
        ("round(d, i)", "written down"),
        ("s LIKE s", "a pattern is written down"),
        ("regexp_matches(s, '(?=a)')", "regular expression"),
        ("lpad(s, 5, '')", "at least one character"),
        ("strftime(day, '%Q')", "the code %Q is not understood"),
        ("random()", "not among the accepted ones"),
        ("length(s, s)", "this form of length"),
        ("x AT TIME ZONE 'UTC'", "time zones"),
        ("CASE WHEN flag THEN 1 ELSE s END", "stands beside"),
        ("99999999999999999999999999999999999999999", "too many digits"),
        ("to_timestamp(i)", "not accepted"),
    ],
)
def test_what_is_refused_is_told_in_words(text, told):
    with pytest.raises(QueryError, match=told.replace("(", r"\(")):
        read(text)


def test_whatever_function_is_named_is_understood_or_refused(connection):
    """Of the functions of DuckDB, and of those that the parser knows, none makes reading fail otherwise."""
    listed = {name for (name,) in connection.sql("SELECT function_name FROM duckdb_functions()").fetchall()}
    names = {name for name in listed if name.isidentifier()} | {name.lower() for name in exp.FUNCTION_BY_NAME}
    assert len(names) > 500
    for name in sorted(names):
        for arguments in ("i", "ts, i", "s, 'a', i"):
            with suppress(QueryError):
                read(f"{name}({arguments})")
