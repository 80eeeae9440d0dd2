"""Random expressions as people write them, over a table whose rows hold the extremes of every type."""

from __future__ import annotations

import random
from dataclasses import dataclass

COLUMNS = {
    "number": {
        "t8": "TINYINT",
        "i": "INTEGER",
        "b": "BIGINT",
        "h": "HUGEINT",
        "u": "UBIGINT",
        "d": "DECIMAL(9,2)",
        "w": "DECIMAL(38,10)",
    },
    "float": {"x": "DOUBLE", "f": "FLOAT"},
    "text": {"s": "VARCHAR", "e": "ENUM('low', 'mid', 'high')"},
    "truth": {"flag": "BOOLEAN"},
    "date": {"day": "DATE"},
    "moment": {"ts": "TIMESTAMP", "ns": "TIMESTAMP_NS"},
    "time": {"clock": "TIME"},
    "uuid": {"uid": "UUID"},
}
EXTREMES = {
    "TINYINT": ["-128", "127", "0", "NULL"],
    "INTEGER": ["-2147483648", "2147483647", "0", "1", "90", "NULL"],
    "BIGINT": ["-9223372036854775808", "9223372036854775807", "0", "2", "NULL"],
    "HUGEINT": [
        "'-170141183460469231731687303715884105728'",
        "'170141183460469231731687303715884105727'",
        "99999999999999999999999999999999999999",
        "0",
        "NULL",
    ],
    "UBIGINT": ["18446744073709551615", "0", "7", "NULL"],
    "DECIMAL(9,2)": ["-9999999.99", "9999999.99", "0", "0.5", "NULL"],
    "DECIMAL(38,10)": [
        "9999999999999999999999999999.9999999999",
        "-9999999999999999999999999999.9999999999",
        "0.0000000001",
        "0",
        "NULL",
    ],
    "DOUBLE": [
        "'nan'",
        "'-nan'",
        "'inf'",
        "'-inf'",
        "'-0.0'",
        "0.0",
        "5e-324",
        "1.7976931348623157e308",
        "0.5",
    ],
    "FLOAT": ["'nan'", "'-inf'", "'-0.0'", "0.0", "3.4028235e38", "1e-45", "NULL"],
    "VARCHAR": [
        "''",
        "'a'",
        "'A '",
        "' 12 '",
        "'1e400'",
        "'nan'",
        "'2000-02-30'",
        "'2000-02-29'",
        "'ß'",
        "'%_'",
        "NULL",
    ],
    "ENUM('low', 'mid', 'high')": ["'low'", "'mid'", "'high'", "NULL"],
    "BOOLEAN": ["TRUE", "FALSE", "NULL"],
    "DATE": [
        "'infinity'",
        "'-infinity'",
        "'5881580-07-10'",
        "'5877642-06-25 (BC)'",
        "'2000-02-29'",
        "'1970-01-01'",
        "NULL",
    ],
    "TIMESTAMP": [
        "'infinity'",
        "'-infinity'",
        "'294247-01-10 04:00:54.775806'",
        "'1999-12-31 23:59:59.999999'",
        "NULL",
    ],
    "TIMESTAMP_NS": ["'2262-04-11 23:47:16.854775'", "'1999-12-31 23:59:59.999999'", "NULL"],
    "TIME": ["'00:00:00'", "'24:00:00'", "'23:59:59.999999'", "NULL"],
    "UUID": ["'00000000-0000-0000-0000-000000000000'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'", "NULL"],
}
CONSTANTS = {
    "number": [
        "0",
        "1",
        "-1",
        "2.5",
        "90",
        "0.05",
        "170141183460469231731687303715884105",
        "9223372036854775807",
    ],
    "float": ["1e0", "0.5e0", "1e308", "CAST('nan' AS DOUBLE)", "CAST('-inf' AS DOUBLE)", "-0e0"],
    "text": ["'a'", "''", "'12'", "'A '", "'2000-01-01'"],
    "truth": ["TRUE", "FALSE", "NULL"],
    "date": ["DATE '2000-02-29'", "DATE '1970-01-01'"],
    "moment": ["TIMESTAMP '2000-01-01 00:00:00'", "'2000-01-01'::timestamp"],
    "time": ["TIME '12:00'"],
    "uuid": ["CAST('ffffffff-ffff-ffff-ffff-ffffffffffff' AS UUID)"],
}
# what gives a value of a kind: {kind} stands for an expression of that kind
FORMS = {
    "number": """
        {number} + {number}|{number} - {number}|{number} * {number}|{number} // {number}
        {number} % {number}
        -{number}|abs({number})|round({number}, 1)|round({number}, -2)|floor({number})|sign({number})
        trunc({number})
        length({text})|year({date})|month({moment})|date_diff('day', {date}, {date})|{date} - {date}
        CAST({text} AS INTEGER)|CAST({float} AS BIGINT)|CAST({number} AS DECIMAL(9,2))
        CAST({truth} AS INTEGER)
        CASE WHEN {truth} THEN {number} ELSE {number} END|coalesce({number}, {number})
        nullif({number}, {number})
        greatest({number}, {number})|position({text} IN {text})|extract(hour FROM {time})
        dayofweek({date})
        width_bucket({number}, 0, 100, 7)
    """,
    "float": """
        {float} + {float}|{float} - {float}|{float} * {float}|{number} / {number}|{float} / {float}
        sqrt({float})
        ln({float})|exp({float})|pow({float}, {number})|-{float}|round({float}, 2)
        CAST({number} AS DOUBLE)
        CAST({text} AS DOUBLE)|sin({float})|least({float}, {float})|abs({float})|log(2, {float})
        CASE WHEN {truth} THEN {float} END
    """,
    "text": """
        lower({text})|upper({text})|trim({text})|substring({text}, {number}, 3)|left({text}, {number})
        {text} || {text}|concat({text}, {number})|replace({text}, 'a', 'bb')|lpad({text}, 5, '*')
        reverse({text})
        CAST({number} AS VARCHAR)|CAST({float} AS VARCHAR)|CAST({date} AS VARCHAR)
        split_part({text}, 'a', {number})
        CASE WHEN {truth} THEN {text} ELSE {text} END|dayname({date})|initcap({text})
        strftime({date}, '%Y-%m')|strftime('%d %H', {moment})
    """,
    "truth": """
        {number} = {number}|{number} < {number}|{float} >= {float}|{text} = {text}|{date} <= {date}
        {moment} > {date}
        {truth} AND {truth}|{truth} OR {truth}|NOT {truth}|{number} IS NULL
        {float} IS NOT DISTINCT FROM {float}
        {number} BETWEEN {number} AND {number}|{number} IN (1, 90, {number})|{text} LIKE '%a_'
        {text} ILIKE 'A%'
        isnan({float})|{time} < {time}|{uuid} = {uuid}|{number} = {float}|{text} = {number}
        starts_with({text}, {text})
        regexp_matches({text}, '^[a-c]+$')|{truth} IS TRUE|{moment} IN ({moment}, {moment})
        {date} = {text}
    """,
    "date": """
        {date} + {number}|{date} - {number}|CAST({text} AS DATE)|CAST({moment} AS DATE)|last_day({date})
        make_date({number}, 2, {number})|coalesce({date}, {date})|CASE WHEN {truth} THEN {date} END
    """,
    "moment": """
        {date} + INTERVAL 3 MONTH|{moment} - INTERVAL '5' DAY|date_trunc('month', {date})
        CAST({text} AS TIMESTAMP)
        date_trunc('week', {moment})|greatest({moment}, {date})
    """,
    "time": "CAST({moment} AS TIME)|CAST({text} AS TIME)",
    "uuid": "CAST({text} AS UUID)|coalesce({uuid}, {uuid})",
}


def _split(text: str) -> list[str]:
    """Return the forms of a text: a single | stands between them, || is SQL's own."""
    marked = text.replace("||", "\0")
    return [
        form.strip().replace("\0", "||")
        for line in marked.splitlines()
        for form in line.split("|")
        if form.strip()
    ]


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes expressions over the columns of an alias; some parts are written twice."""

    chance: random.Random
    alias: str
    kept: dict[str, list[str]]

    def write(self, kind: str, depth: int) -> str:
        kept = self.kept.setdefault(kind, [])
        if kept and self.chance.random() < 0.25:
            return self.chance.choice(kept)
        found = self._write(kind, depth)
        kept.append(found)
        return found

    def _write(self, kind: str, depth: int) -> str:
        if depth == 0 or self.chance.random() < 0.15:
            if self.chance.random() < 0.3:
                return self.chance.choice(CONSTANTS[kind])
            return f"{self.alias}.{self.chance.choice(list(COLUMNS[kind]))}"
        form = self.chance.choice(_split(FORMS[kind]))
        while "{" in form:
            start = form.index("{")
            end = form.index("}", start)
            form = form[:start] + self.write(form[start + 1 : end], depth - 1) + form[end + 1 :]
        return f"({form})"


def rows(chance: random.Random, count: int) -> list[str]:
    """Return VALUES of so many rows, each owned by one of a few people."""
    types = [kind for columns in COLUMNS.values() for kind in columns.values()]
    found = []
    for _ in range(count):
        values = [f"CAST({chance.choice(EXTREMES[kind])} AS {kind})" for kind in types]
        found.append(f"({chance.randrange(1, 5)}, {chance.randrange(1, 5)}, {', '.join(values)})")
    return found


def table(name: str) -> str:
    """Return the statement that makes the table."""
    columns = ", ".join(f"{name} {kind}" for columns in COLUMNS.values() for name, kind in columns.items())
    return f"CREATE TABLE {name} (p INTEGER, q INTEGER, {columns})"


KINDS = list(COLUMNS)


def question(chance: random.Random) -> str:
    """Return a question that uses random expressions in one of the places where one can stand."""
    depth = chance.randrange(1, 4)
    a, b = (Writer(chance, alias, {}) for alias in "ab")
    truth, kind = a.write("truth", depth), chance.choice(KINDS)
    value, other = a.write(kind, depth), b.write(kind, depth)
    number = a.write(chance.choice(["number", "float", "truth"]), depth)
    return chance.choice(
        [
            f"SELECT COUNT(*) FROM t a WHERE {truth}",
            f"SELECT COUNT(*) FROM t a WHERE NOT {truth} OR {a.write('truth', depth)}",
            f"SELECT COUNT(*) FROM t a JOIN u b ON {value} = {other}",
            f"SELECT COUNT(*) FROM (SELECT DISTINCT {value} AS v, {a.write(kind, depth)} AS w FROM t a) d",
            f"SELECT COUNT(*) FROM (SELECT {value} AS v FROM t a UNION SELECT {other} FROM u b) d",
            f"SELECT COUNT(*) FROM (SELECT {value} AS v FROM t a INTERSECT SELECT {other} FROM u b) d",
            f"SELECT COUNT(DISTINCT {value}) FROM t a",
            f"SELECT SUM({number}) FILTER (WHERE {truth}) FROM t a",
            f"SELECT SUM(CASE WHEN {truth} THEN {number} END) FROM t a",
            f"SELECT COUNT(*) FROM t a WHERE EXISTS (SELECT 1 FROM u b WHERE {value} = {other} AND {truth})",
            f"SELECT COUNT(*) FROM t a WHERE {value} IN (SELECT {other} FROM u b)",
            f"SELECT COUNT(*) FROM t a WHERE {truth} OR EXISTS (SELECT 1 FROM u b WHERE {other} IS NOT NULL)",
        ]
    )
