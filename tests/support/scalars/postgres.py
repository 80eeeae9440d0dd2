"""The fuzz of PostgreSQL's compiler: its table of extremes, its expressions. `postgres_meaning` judges."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from typing import Any

import pyarrow

from recuse.scalars import types
from recuse.scalars.expression import Call, Constant, Convert, Expression, Value, Variable, parts
from recuse.scalars.function import Mistyped
from recuse.scalars.postgres.compiler import ARITHMETIC, FORMS, PostgresCompiler
from recuse.scalars.postgres.spelling import ZONED
from recuse.scalars.spelling import quoted
from recuse.scalars.table import OF_ENGINES, TABLE
from recuse.scalars.types import Boolean, Date, Float, Number, Text, Time, Timestamp, Uuid
from recuse.sql.identity import canonical
from support.scalars import generate
from support.scalars.generate import CONSTANTS, KINDS, RECIPES, Generator, of
from support.scalars.postgres_meaning import UNSURE, meaning

ENUM = "ENUM('low', 'high', 'a ''b')"
STORED = {
    "i2": "smallint", "i4": "integer", "i8": "bigint", "n9": "numeric(9,2)", "n18": "numeric(18,6)",
    "n38": "numeric(38,0)", "nf": "numeric(38,10)", "f8": "double precision", "f4": "real", "t": "text",
    "v": "character varying(20)", "c": "character(5)", "b": "boolean", "d": "date",
    "ts": "timestamp without time zone", "tz": "timestamp with time zone", "tm": "time without time zone",
    "u": "uuid", "e": ENUM,
}  # fmt: skip
AS_READ = {ENUM: ENUM, "timestamp with time zone": ZONED}
"""how the catalogue spells what it does not spell in capitals"""
COLUMNS = {
    name: Variable("t", name, types.stored(spelled), spelled)
    for name, kind in STORED.items()
    for spelled in [AS_READ.get(kind, kind.upper())]
}
VALUES: dict[str, list[str | None]] = {
    "i2": ["0", "1", "-1", "32767", "-32768", None, "7", "-3"],
    "i4": ["0", "1", "-1", "2147483647", "-2147483648", None, "12", "-5"],
    "i8": ["0", "1", "-1", "9223372036854775807", "-9223372036854775808", None, "1000000007"],
    "n9": ["0", "1", "-0.01", "9999999.99", "-9999999.99", None, "NaN", "0.5", "2.5", "-2.50"],
    "n18": ["0", "0.000001", "999999999999.999999", "-999999999999.999999", None, "NaN", "0.333333"],
    "n38": ["0", "1", "9" * 38, "-" + "9" * 38, None, "NaN", "-7"],
    "nf": ["0", "0.0000000001", "9" * 28 + "." + "9" * 10, None, "NaN", "-1.5"],
    "f8": ["0", "-0", "1.5", "2.5", "-0.5", "NaN", "Infinity", "-Infinity", "1e308", "5e-324", None, "1e-300",
           "9.3e18", "-9223372036854775808", "1e40", "0.1"],
    "f4": ["0", "-0", "1.5", "NaN", "Infinity", "3e38", "1e-45", None, "0.1"],
    "t": ["", "a", "A b", " x ", "12", "-3.50", "1e5", "1e999", "2020-02-29", "2019-02-29", "0000-01-01",
          "true",           "9" * 40, "ä€𝄞", "a,b,,c", None, "2020-01-01 10:00:00", "24:00",
          "%_\\", "x" * 5000, "1e-400",
          "NaN",           "5a7f8a3c-0b1d-4e5f-8a9b-0c1d2e3f4a5b", "aaa\nb", "+7", " 8 ", "1_000", "0x1F",
          "9223372036854775808"],
    "v": ["", "abc", "  7", None, "2024-12-31", "b%", "Ab,cd"],
    "c": ["", "abc", "a b", None, "12", "xyzzy"],
    "b": ["true", "false", None],
    "d": ["1970-01-01", "0001-01-01", "9999-12-31", "infinity", "-infinity", "4713-01-01 BC", "5874897-12-31",
          "2024-02-29", None, "2023-12-31", "2021-01-03"],
    "ts": ["1970-01-01", "0001-01-01", "9999-12-31 23:59:59.999999", "infinity", "-infinity", "4713-01-01 BC",
           "294276-12-31 23:59:59.999999", "2024-02-29 12:34:56.789", None, "2021-01-03 00:00:00.5"],
    "tz": ["1970-01-01 00:00+00", "infinity", "-infinity", "2024-02-29 12:34:56.789+02", None,
           "9999-12-31 23:59:59+00"],
    "tm": ["00:00", "24:00", "12:34:56.789", None, "23:59:59.999999"],
    "u": ["5a7f8a3c-0b1d-4e5f-8a9b-0c1d2e3f4a5b", "00000000-0000-0000-0000-000000000000", None],
    "e": ["low", "high", "a 'b", None],
}  # fmt: skip
ROWS = 40
PG_ENDS = {-2147472692: types.ANY_DAY - 1, -2147472691: -types.ANY_DAY}
LAST, BEFORE = 2**64, -types.ANY_MOMENT


def made(rng: random.Random) -> list[dict[str, str | None]]:
    """Return rows in which every extreme of every column stands."""
    return [
        {
            name: values[row % len(values)] if row < 2 * len(values) else rng.choice(values)
            for name, values in VALUES.items()
        }
        for row in range(ROWS)
    ]


def literal(text: str | None, kind: str) -> str:
    target = "mood" if kind == ENUM else kind
    return f"CAST({'NULL' if text is None else quoted(text)} AS {target})"


def statements(rows: Sequence[dict[str, str | None]]) -> Iterator[str]:
    """Yield what makes the table of extremes."""
    yield "CREATE TYPE public.mood AS ENUM ('low', 'high', 'a ''b')"
    columns = ", ".join(f"{name} {'public.mood' if kind == ENUM else kind}" for name, kind in STORED.items())
    yield f"CREATE TABLE public.t (rid integer, {columns})"
    for number, row in enumerate(rows):
        listed = ", ".join(
            literal(row[name], kind).replace("AS mood", "AS public.mood") for name, kind in STORED.items()
        )
        yield f"INSERT INTO public.t VALUES ({number}, {listed})"


# ------------------------------------------------------------------ values from Arrow


def plain(column: pyarrow.ChunkedArray, kind: types.Type) -> list[Value]:
    """Return a column's values as the total language has them."""
    match kind:
        case Date():
            return [
                None if v is None else PG_ENDS.get(v, v) for v in column.cast(pyarrow.int32()).to_pylist()
            ]
        case Timestamp():
            return [None if v is None else _moment(v) for v in column.cast(pyarrow.int64()).to_pylist()]
        case Time():
            return column.cast(pyarrow.int64()).to_pylist()
        case Number(scale=scale):
            with localcontext() as wide:
                wide.prec = 90
                return [None if v is None else int(Decimal(v).scaleb(scale)) for v in column.to_pylist()]
    return column.to_pylist()


def _moment(value: int) -> int:
    if value == -9222425352054775808:
        return BEFORE
    if value == -9222425352054775809:
        return LAST
    return value + 2**64 if value < -(2**58) else value


# ------------------------------------------------------------------ expressions

NAMES = [
    name
    for name, rows in {**TABLE, **OF_ENGINES}.items()
    if any(row in FORMS or row in ARITHMETIC for row in rows)
]
OWN_RECIPES = {name: RECIPES.get(name.removeprefix("pg "), of("exact")) for name in OF_ENGINES}
OWN_RECIPES["pg numeric"] = of("exact")
LEAVES = {kind: [c for c in COLUMNS.values() if holds(c.type)] for kind, holds in KINDS.items()}


@dataclass
class PostgresGenerator(Generator):
    """Expressions over PostgreSQL's table, of the functions that it is told."""

    most: int = 30
    names: Sequence[str] = field(default_factory=lambda: [*NAMES, *["cast"] * 8])

    def expression(self) -> Expression:
        while True:
            found = self.apply(self.rng.choice(self.names), self.rng.choice((0, 1, 1, 2, 2, 3)))
            if found is not None and not isinstance(found, Constant):
                return found

    def make(self, kind: str, depth: int) -> Expression:
        holds = KINDS[kind]
        if depth > 0:
            known = [old for old in self.made if holds(old.type)]
            if known and self.rng.random() < 0.25:
                return self.rng.choice(known)
            for _ in range(4):
                found = self.apply(self.rng.choice(self.names), depth - 1)
                if found is not None and holds(found.type):
                    return found
        return self.rng.choice(
            CONSTANTS[kind] if self.rng.random() < 0.3 or not LEAVES[kind] else LEAVES[kind]
        )

    def _arguments(self, name: str, depth: int) -> Sequence[Expression]:
        return (OWN_RECIPES.get(name) or RECIPES[name])(self, depth)

    def _cast(self, depth: int) -> Expression:
        return generate.build.bring(self.make("any", depth), self.rng.choice(TARGETS))


TARGETS = [
    types.SMALLINT, types.INTEGER, types.BIGINT, types.decimal(9, 2), types.decimal(38, 0),
    types.decimal(20, 10),
    Float(), Text(), Boolean(), Date(), Timestamp(), Time(), Uuid(),
]  # fmt: skip


# ------------------------------------------------------------------ the bench


@dataclass
class PostgresBench:
    """A cursor on a database with the table of extremes, and what is found wrong on it."""

    cursor: Any
    read: Any
    texts: Sequence[dict[str, str | None]]
    rows: list[dict[str, Value]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    expressions: int = 0
    values: int = 0
    sure: int = 0
    refused: int = 0
    known: dict[int, list[Value]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        compiler = PostgresCompiler()
        listed = ", ".join(f"{compiler.sql(column)} AS {name}" for name, column in COLUMNS.items())
        found = self.read(self.cursor, f"SELECT {listed} FROM public.t ORDER BY rid")
        columns = {name: plain(found[name], column.type) for name, column in COLUMNS.items()}
        self.rows = [{name: columns[name][row] for name in columns} for row in range(found.num_rows)]

    def column(self, expression: Expression) -> list[Value]:
        if id(expression) not in self.known:
            self.known[id(expression)] = self._column(expression)
        return self.known[id(expression)]

    def _column(self, expression: Expression) -> list[Value]:
        match expression:
            case Constant(value):
                return [value] * len(self.rows)
            case Variable(_, name):
                return [row[name] for row in self.rows]
            case Convert(operand):
                return [meaning(expression, (value,)) for value in self.column(operand)]
            case Call(_, arguments):
                columns = [self.column(argument) for argument in arguments]
                rows = zip(*columns, strict=True) if columns else [()] * len(self.rows)
                return [meaning(expression, values) for values in rows]
        raise TypeError("no subqueries here")

    def statement(self, expressions: Sequence[Expression], rng: random.Random) -> None:
        """Check some expressions in a SELECT, in conditions and groups, and with constants."""
        self.known.clear()
        pairs = []
        for expression in expressions:
            try:
                pairs.append((expression, PostgresCompiler().sql(expression)))
            except Mistyped:
                self.refused += 1
        self.expressions += len(pairs)
        if not pairs:
            return
        listed = ", ".join(f"{sql} AS x{n}" for n, (_, sql) in enumerate(pairs))
        canonical(f"SELECT {pairs[0][1]}", "postgres")  # an identity is read from it
        found = self._run(f'SELECT {listed} FROM public.t AS "t" ORDER BY rid', pairs)
        if found is None:
            return
        for place, (expression, sql) in enumerate(pairs):
            self._judge(expression, sql, plain(found.column(place), expression.type))
        row = rng.choice(self.texts)
        constants = ", ".join(
            f"{literal(row[name], kind).replace('AS mood', 'AS public.mood')} AS {name}"
            for name, kind in STORED.items()
        )
        self._run(f'SELECT {listed} FROM (SELECT {constants}) AS "t"', pairs)
        expression, sql = rng.choice(pairs)
        condition = sql if isinstance(expression.type, Boolean) else f"({sql}) IS NOT NULL"
        other = rng.choice(pairs)[1]
        self._run(
            f'SELECT count(*) AS n, {other} AS x FROM public.t AS "t" JOIN public.t AS s '
            f'ON s.rid = "t".rid AND {condition} '
            f"WHERE s.rid < 30 OR {condition} GROUP BY 2",
            pairs,
        )

    def _run(self, sql: str, pairs: Sequence[tuple[Expression, str]]) -> pyarrow.Table | None:
        try:
            return self.read(self.cursor, sql)
        except Exception as error:
            alone = [one for _, one in pairs if not self._runs(f'SELECT {one} AS x FROM public.t AS "t"')]
            self.wrong.append(f"raised {str(error)[:300]}\n   {(alone or [sql])[0][:3000]}")
            return None

    def _runs(self, sql: str) -> bool:
        try:
            self.read(self.cursor, sql)
        except Exception:
            return False
        return True

    def _judge(self, expression: Expression, sql: str, found: Sequence[Value]) -> None:
        for row, (have, should) in enumerate(zip(found, self.column(expression), strict=True)):
            self.values += 1
            if should is UNSURE:
                continue
            self.sure += 1
            if not _same(have, should):
                shown = ", ".join(
                    f"{p.name}={self.texts[row][p.name]!r}"
                    for p in parts(expression)
                    if isinstance(p, Variable)
                )
                self.wrong.append(f"value {have!r}, reference {should!r} where {shown}\n   {sql[:3000]}")
                return


def _same(found: Value, wanted: Value) -> bool:
    if isinstance(found, float) and isinstance(wanted, float):
        both = math.isnan(found) and math.isnan(wanted)
        return both or (found == wanted and math.copysign(1, found) == math.copysign(1, wanted))
    return found == wanted and isinstance(found, bool) == isinstance(wanted, bool)
