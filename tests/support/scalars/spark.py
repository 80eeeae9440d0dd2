"""The fuzz of Spark's compiler: its table of extremes, its expressions, its meaning in Python.

Where the meaning hangs on Spark itself (letters beyond ASCII, transcendental functions) a value is UNSURE:
then only that nothing raises is checked.
"""

from __future__ import annotations

import datetime
import math
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from typing import Any

import pyarrow

from recuse.scalars import convert, literals, types
from recuse.scalars.evaluate import step
from recuse.scalars.expression import Call, Constant, Convert, Expression, Value, Variable, parts
from recuse.scalars.function import Mistyped
from recuse.scalars.numbers import NUMBERS
from recuse.scalars.spark.compiler import FORMS, SparkCompiler
from recuse.scalars.spark.convert import READ
from recuse.scalars.spark.spelling import ZONED
from recuse.scalars.table import OF_ENGINES, TABLE
from recuse.scalars.types import Boolean, Date, Float, Number, Text, Timestamp
from recuse.sql.identity import canonical
from support.scalars import generate
from support.scalars.generate import CONSTANTS, KINDS, RECIPES, Generator, of
from support.scalars.postgres_meaning import UNSURE

NAN, INF = float("nan"), float("inf")
EPOCH = datetime.datetime(1970, 1, 1)


def _day(text: str) -> int:
    return (datetime.date.fromisoformat(text) - EPOCH.date()).days


def _moment(text: str) -> int:
    return round((datetime.datetime.fromisoformat(text) - EPOCH) / datetime.timedelta(microseconds=1))


STORED: dict[str, tuple[str, pyarrow.DataType, list[Any]]] = {
    "i1": ("TINYINT", pyarrow.int8(), [0, 1, -1, 127, -128, None, 7]),
    "i2": ("SMALLINT", pyarrow.int16(), [0, 1, -1, 32767, -32768, None, 7, -3]),
    "i4": ("INTEGER", pyarrow.int32(), [0, 1, -1, 2**31 - 1, -(2**31), None, 12, -5]),
    "i8": ("BIGINT", pyarrow.int64(), [0, 1, -1, 2**63 - 1, -(2**63), None, 10**9 + 7]),
    "n9": (
        "DECIMAL(9,2)", pyarrow.decimal128(9, 2),
        ["0", "1", "-0.01", "9999999.99", "-9999999.99", None, "0.50", "2.50", "-2.50"],
    ),
    "n10": ("DECIMAL(10,0)", pyarrow.decimal128(10, 0), ["0", "1", "-1", "9999999999", "-9999999999", None]),
    "n18": (
        "DECIMAL(18,6)", pyarrow.decimal128(18, 6),
        ["0", "0.000001", "999999999999.999999", "-999999999999.999999", None, "0.333333"],
    ),
    "n38": (
        "DECIMAL(38,0)", pyarrow.decimal128(38, 0),
        ["0", "1", "9" * 38, "-" + "9" * 38, None, "-7", "5" * 38],
    ),
    "nf": (
        "DECIMAL(38,10)", pyarrow.decimal128(38, 10),
        ["0", "0.0000000001", "9" * 28 + "." + "9" * 10, None, "-1.5", "-" + "9" * 28 + "." + "9" * 10],
    ),
    "nz": ("DECIMAL(38,38)", pyarrow.decimal128(38, 38), ["0", "0." + "9" * 38, "-0." + "9" * 38, None]),
    "f8": (
        "DOUBLE", pyarrow.float64(),
        [0.0, -0.0, 1.5, 2.5, -0.5, NAN, INF, -INF, 1e308, 5e-324, None, 1e-300, 9.3e18, -(2.0**63), 1e40,
         0.1, 2.0**63, -2.5, 9.007199254740993e15],
    ),
    "f4": ("FLOAT", pyarrow.float32(), [0.0, -0.0, 1.5, NAN, INF, 3e38, 1e-45, None, 0.1]),
    "t": (
        "VARCHAR", pyarrow.string(),
        ["", "a", "A b", " x ", "12", "-3.50", "1e5", "1e999", "2020-02-29", "2019-02-29", "0000-01-01",
         "true", "9" * 40, "ä€𝄞", "a,b,,c", None, "2020-01-01 10:00:00", "24:00", "%_\\", "x" * 5000,
         "1e-400", "NaN", "aaa\nb", "+7", " 8 ", "1_000", "0x1F", "9223372036854775808", "\0", "12\n", "1e40",
         "0.000000000049", "9" * 38 + ".5", "2020-1-1", "9999-12-31 23:59:59.999999", "-0", "1.",
         ".5", "ẞ", "yes", "\t1"],
    ),
    "v": ("VARCHAR", pyarrow.string(), ["", "abc", "  7", None, "2024-12-31", "b%", "Ab,cd"]),
    "b": ("BOOLEAN", pyarrow.bool_(), [True, False, None]),
    "d": (
        "DATE", pyarrow.date32(),
        [0, _day("0001-01-01"), _day("9999-12-31"), 2**31 - 1, -(2**31), _day("2024-02-29"), None,
         _day("2023-12-31"), _day("2021-01-03"), _day("0001-01-01") - 1, _day("9999-12-31") + 1],
    ),
    "ts": (
        "TIMESTAMP", pyarrow.timestamp("us"),
        [0, _moment("0001-01-01"), _moment("9999-12-31 23:59:59.999999"), 2**63 - 1, -(2**63), None,
         _moment("2024-02-29 12:34:56.789"), _moment("2021-01-03 00:00:00.5"), -1],
    ),
    "tz": (
        ZONED, pyarrow.timestamp("us", tz="UTC"),
        [0, 2**63 - 1, -(2**63), _moment("2024-02-29 10:34:56.789"), None, _moment("9999-12-31 23:59:59"),
         _moment("0001-01-01"), _moment("1582-10-10 12:00:00")],
    ),
}  # fmt: skip
"""columns: the type as the catalogue spells it, as a file has it, and its extremes"""
COLUMNS = {
    name: Variable("t", name, types.stored(spelled), spelled) for name, (spelled, *_) in STORED.items()
}
ROWS = 48


def made(rng: random.Random) -> pyarrow.Table:
    """Return rows in which every extreme of every column stands."""
    columns = {
        name: [
            values[row % len(values)] if row < 2 * len(values) else rng.choice(values) for row in range(ROWS)
        ]
        for name, (_, _, values) in STORED.items()
    }
    arrays = {name: _array(columns[name], STORED[name][1]) for name in STORED}
    return pyarrow.table({"rid": pyarrow.array(range(ROWS), pyarrow.int32()), **arrays})


def _array(values: Sequence[Any], kind: pyarrow.DataType) -> pyarrow.Array:
    if pyarrow.types.is_decimal(kind):
        with localcontext() as wide:
            wide.prec = 60
            step_ = Decimal(1).scaleb(-kind.scale)
            return pyarrow.array([None if v is None else Decimal(v).quantize(step_) for v in values], kind)
    return pyarrow.array(values, kind)


# ------------------------------------------------------------------ values from Arrow


def plain(column: pyarrow.ChunkedArray, kind: types.Type) -> list[Value]:
    """Return a column's values as the total language has them."""
    match kind:
        case Date():
            return column.cast(pyarrow.int32()).to_pylist()
        case Timestamp():
            return column.cast(pyarrow.int64()).to_pylist()
        case Number(scale=scale):
            with localcontext() as wide:
                wide.prec = 90
                return [None if v is None else int(Decimal(v).scaleb(scale)) for v in column.to_pylist()]
    return column.to_pylist()


# ------------------------------------------------------------------ meaning

_TRANSCENDENTAL = frozenset({"exp", "ln", "log10", "log2"})
_LETTERS = frozenset({"lower", "upper"})


def meaning(expression: Convert | Call, values: Sequence[Value]) -> Value:
    """Return the value of an operation from those of its operands, UNSURE where only Spark knows."""
    if any(value is UNSURE for value in values):
        return UNSURE
    if isinstance(expression, Convert):
        return _converted(values[0], expression.operand.type, expression.type)
    name = expression.function.name
    if name in _TRANSCENDENTAL:
        return None if values[0] is None else UNSURE
    if name in _LETTERS and any(isinstance(v, str) and not v.isascii() for v in values):
        return UNSURE
    if expression.function in NUMBERS and name in ("+", "-", "*") and None not in values:
        return _arithmetic(expression, values)
    if name == "//" and values[0] == types.BIGINT.low and values[1] == -1:
        return None
    return step(expression, values, nothing_read)


def _arithmetic(expression: Call, values: Sequence[Value]) -> Value:
    """Return a result of at most 38 digits; UNSURE where the test of its size may say that it has more."""
    left, right = int(values[0] or 0), int(values[1] or 0)
    name = expression.function.name
    found = left * right if name == "*" else left + right if name == "+" else left - right
    if abs(found) > types.LIMIT:
        return None
    return UNSURE if abs(found) > 98 * 10**36 else found


def nothing_read(*_: object) -> Value:
    raise AssertionError("Spark's readings are above")


def _converted(value: Value, source: types.Type, target: types.Type) -> Value:
    if value is None:
        return None
    match source, target:
        case Text(), (Number() | Float() | Boolean() | Date() | Timestamp()):
            return _read(str(value).strip(" "), target)
        case Float(), Number():
            return _rounded(float(value), target)
        case ((Date() | Timestamp()), Text()):
            day = int(value) if isinstance(source, Date) else int(value) // types.MICROSECONDS
            if not types.FIRST_DAY <= day <= types.LAST_DAY:
                return None
        case Number(scale=scale), Float():
            return int(value) / 10**scale
    return convert.value(value, source, target, nothing_read)


def _rounded(value: float, target: Number) -> Value:
    if not math.isfinite(value):
        return None
    if target.scale == 0 and types.BIGINT.low <= target.low and target.high <= types.BIGINT.high:
        found = round(value)
    else:
        with localcontext() as wide:
            wide.prec = 400
            found = int(Decimal(repr(value)).scaleb(target.scale).quantize(Decimal(1), ROUND_HALF_UP))
        if abs(found) > types.LIMIT:
            return None
    return found if target.low <= found <= target.high else None


def _fits(text: str, pattern: str) -> bool:
    return re.fullmatch(READ[pattern], text, re.ASCII) is not None


def _read(text: str, target: types.Type) -> Value:
    match target:
        case Number():
            integers = target in (types.TINYINT, types.SMALLINT, types.INTEGER, types.BIGINT)
            if not _fits(text, "integer" if integers else "number"):
                return None
            exact = Fraction(text) * 10**target.scale
            found = int(exact + Fraction(1, 2)) if exact >= 0 else -int(-exact + Fraction(1, 2))
            return found if target.low <= found <= target.high else None
        case Float():
            return float(text) + 0.0 if _fits(text, "float") else None
        case Boolean():
            return text[0] in "tTyY1" if _fits(text, "boolean") else None
    if not _fits(text, "date" if isinstance(target, Date) else "timestamp"):
        return None
    return literals.literal(text, target).value


# ------------------------------------------------------------------ expressions

NAMES = [name for name, rows in {**TABLE, **OF_ENGINES}.items() if any(row in FORMS for row in rows)]
OWN_RECIPES = {name: RECIPES.get(name.split(" ", 1)[1], of("exact")) for name in OF_ENGINES}
LEAVES = {kind: [c for c in COLUMNS.values() if holds(c.type)] for kind, holds in KINDS.items()}
TARGETS = [
    types.TINYINT, types.SMALLINT, types.INTEGER, types.BIGINT, types.decimal(9, 2), types.decimal(38, 0),
    types.decimal(20, 10), types.decimal(38, 20), types.decimal(3, 3), types.whole(0, 255),
    Float(), Text(), Text(3), Boolean(), Date(), Timestamp(),
]  # fmt: skip


@dataclass
class SparkGenerator(Generator):
    """Expressions over Spark's table, of the functions that it is told."""

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


# ------------------------------------------------------------------ the bench

Read = Callable[[str], pyarrow.Table]


@dataclass
class SparkBench:
    """Where the table of extremes is asked, and what is found wrong on it."""

    read: Read
    rows: list[dict[str, Value]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    expressions: int = 0
    values: int = 0
    sure: int = 0
    refused: int = 0
    known: dict[int, list[Value]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        compiler = SparkCompiler()
        listed = ", ".join(f"{compiler.sql(column)} AS {name}" for name, column in COLUMNS.items())
        found = self.read(f"SELECT {listed} FROM t ORDER BY rid")
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

    def compiled(self, expressions: Sequence[Expression]) -> Iterator[tuple[Expression, str]]:
        for expression in expressions:
            try:
                yield expression, SparkCompiler().sql(expression)
            except Mistyped:
                self.refused += 1

    def statement(self, expressions: Sequence[Expression], rng: random.Random) -> None:
        """Check some expressions in one wide SELECT, then in conditions, joins and groups."""
        self.known.clear()
        pairs = list(self.compiled(expressions))
        self.expressions += len(pairs)
        if not pairs:
            return
        canonical(f"SELECT {pairs[0][1]}", "spark")  # an identity is read from it
        listed = ", ".join(f"{sql} AS x{n}" for n, (_, sql) in enumerate(pairs))
        found = self._run(f"SELECT {listed} FROM t ORDER BY rid", pairs)
        if found is None:
            return
        for place, (expression, sql) in enumerate(pairs):
            self._judge(expression, sql, found.column(place))
        tests = [sql if isinstance(e.type, Boolean) else f"({sql}) IS NOT NULL" for e, sql in pairs]
        some = rng.sample(tests, min(len(tests), 4))
        other = rng.choice(pairs)[1]
        self._run(
            f"SELECT count(*) AS n, {other} AS x FROM t JOIN (SELECT rid AS k FROM t) AS s ON s.k = t.rid "
            f"AND ({some[0]}) WHERE s.k < 30 OR ({some[-1]}) GROUP BY 2 HAVING count({other}) >= 0",
            pairs,
        )
        self._run(f"SELECT count(*) AS n FROM t WHERE {' AND '.join(f'({one})' for one in some)}", pairs)

    def _run(self, sql: str, pairs: Sequence[tuple[Expression, str]]) -> pyarrow.Table | None:
        try:
            return self.read(sql)
        except Exception as error:
            alone = [one for _, one in pairs if not self._runs(f"SELECT {one} AS x FROM t")]
            self.wrong.append(f"raised {str(error)[:300]}\n   {(alone or [sql])[0][:3000]}")
            return None

    def _runs(self, sql: str) -> bool:
        try:
            self.read(sql)
        except Exception:
            return False
        return True

    def _judge(self, expression: Expression, sql: str, column: pyarrow.ChunkedArray) -> None:
        kind = KINDS_OF_ARROW.get(type(expression.type))
        if kind is not None and not kind(column.type):
            self.wrong.append(f"{column.type} for {expression.type}\n   {sql[:2000]}")
            return
        found = plain(column, expression.type)
        for row, (have, should) in enumerate(zip(found, self.column(expression), strict=True)):
            self.values += 1
            if should is UNSURE:
                continue
            self.sure += 1
            if not _same(have, should):
                shown = ", ".join(
                    f"{p.name}={self.rows[row][p.name]!r}"
                    for p in parts(expression)
                    if isinstance(p, Variable)
                )
                self.wrong.append(f"value {have!r}, reference {should!r} where {shown}\n   {sql[:3000]}")
                return


KINDS_OF_ARROW: dict[type, Callable[[pyarrow.DataType], bool]] = {
    Float: pyarrow.types.is_float64,
    Text: pyarrow.types.is_string,
    Boolean: pyarrow.types.is_boolean,
    Date: pyarrow.types.is_date32,
    Timestamp: lambda kind: kind == pyarrow.timestamp("us"),
}


def _same(found: Value, wanted: Value) -> bool:
    if isinstance(found, float) and isinstance(wanted, float):
        both = math.isnan(found) and math.isnan(wanted)
        return both or (found == wanted and math.copysign(1, found) == math.copysign(1, wanted))
    return found == wanted and isinstance(found, bool) == isinstance(wanted, bool)
