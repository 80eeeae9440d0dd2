"""What the fuzz demands of a statement: nothing raises, every value, type and bound is right."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from recuse.scalars import types
from recuse.scalars.duckdb import Compiler
from recuse.scalars.evaluate import step
from recuse.scalars.expression import Call, Constant, Convert, Expression, Value, Variable, parts
from recuse.scalars.function import Mistyped
from recuse.scalars.spelling import spelled
from support.scalars import contexts, extremes


def inexact(expression: Expression) -> bool:
    """Return whether a transcendental function stands below another operation: then 1 ulp can become more."""
    return any(
        isinstance(part, Call) and part.function.name in contexts.TRANSCENDENTAL
        for part in list(parts(expression))[1:]
    )


def same(found: Value, wanted: Value, *, ulp: bool) -> bool:
    """Return whether two values are one: sign of zero and NaN included."""
    if isinstance(found, float) and isinstance(wanted, float):
        if math.isnan(found) or math.isnan(wanted):
            return math.isnan(found) and math.isnan(wanted)
        if ulp and found != wanted:
            return math.nextafter(found, wanted) == wanted
        return found == wanted and math.copysign(1, found) == math.copysign(1, wanted)
    return type(found) is type(wanted) and found == wanted


def within(value: Value, kind: types.Type) -> bool:
    """Return whether a value lies in the bounds of its type."""
    match kind, value:
        case _, None:
            return True
        case ((types.Number() | types.Date() | types.Timestamp()), int()):
            return kind.low <= value <= kind.high
        case types.Text(length=length), str():
            return length is None or len(value) <= length
        case types.Float(nan=nan), float():
            one_form = math.copysign(1, value) > 0 if math.isnan(value) or value == 0 else True
            return one_form and (nan or not math.isnan(value))
        case types.Time(), int():
            return 0 <= value <= types.MICROSECONDS
    return True


@dataclass
class Bench:
    """A database with the table of extremes, and what is found wrong on it."""

    con: duckdb.DuckDBPyConnection
    rows: Sequence[dict[str, Value]]
    reading: Callable[[Value, str, str], Value]
    compiled: Callable[[Expression], str] = field(default_factory=lambda: Compiler().sql)
    known: dict[int, list[Value]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    expressions: int = 0
    values: int = 0
    statements: int = 0
    refused: int = 0

    def column(self, expression: Expression) -> list[Value]:
        """Return what an expression means in every row."""
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
                return [step(expression, (value,), self.reading) for value in self.column(operand)]
            case Call(_, arguments):
                columns = [self.column(argument) for argument in arguments]
                rows = zip(*columns, strict=True) if columns else [()] * len(self.rows)
                return [step(expression, values, self.reading) for values in rows]
        raise TypeError("no subqueries here")

    def sql(self, expression: Expression) -> str | None:
        """Return the compiled form, None if it is refused for its size."""
        try:
            return self.compiled(expression)
        except Mistyped:
            self.refused += 1
            return None

    def statement(self, expressions: Sequence[Expression], rng: random.Random, more: int = 2) -> None:
        """Check several expressions in one SELECT, then some of them in other clauses."""
        self.known.clear()
        pairs = [(e, sql) for e in expressions if (sql := self.sql(e)) is not None]
        if not pairs:
            return
        self.expressions += len(pairs)
        wrong = self._select(pairs)
        if wrong and len(pairs) > 1:
            alone = [found for pair in pairs for found in self._select([pair])]
            wrong = alone or wrong
        self.wrong += wrong
        if wrong:
            return
        for context in rng.sample(contexts.ALL, more):
            self.statements += 1
            chosen = rng.sample(pairs, min(len(pairs), 3))
            try:
                problem = context(self, chosen)
            except duckdb.Error as error:
                problem = f"raised {error}"
            if problem:
                listed = "\n   ".join(sql for _, sql in chosen)
                self.wrong.append(f"{context.__name__}: {problem[:600]}\n   {listed[:3000]}")

    def _select(self, pairs: Sequence[tuple[Expression, str]]) -> list[str]:
        self.statements += 1
        listed = ", ".join(sql for _, sql in pairs)
        try:
            kinds, _ = found = extremes.arrow(self.con, f"SELECT {listed} FROM t ORDER BY rid")
        except duckdb.Error as error:
            return [f"raised {str(error)[:400]}\n   {listed[:3000]}"]
        wrong = []
        for place, (expression, sql) in enumerate(pairs):
            problem = self._judge(
                expression, kinds[place], extremes.plain(found[1].column(place), expression.type)
            )
            if problem:
                wrong.append(f"{problem}\n   {shown(expression)}\n   {sql[:3000]}")
        return wrong

    def _judge(self, expression: Expression, kind: str, found: Sequence[Value]) -> str | None:
        wanted = spelled(expression.type)
        if kind.replace(" ", "") != wanted.replace(" ", ""):
            return f"type {kind}, predicted {wanted}"
        if inexact(expression):
            return None
        ulp = isinstance(expression, Call) and expression.function.name in contexts.TRANSCENDENTAL
        for row, (have, should) in enumerate(zip(found, self.column(expression), strict=True)):
            self.values += 1
            if not same(have, should, ulp=ulp):
                return f"value {have!r}, reference {should!r} in row {row}"
            if not within(have, expression.type):
                return f"value {have!r} is not {expression.type}"
        return None

    def grouped(self, expressions: Sequence[Expression]) -> None:
        """Check that every copy of a row gives the same value as the others, whatever thread reads it."""
        self.known.clear()
        pairs = [(e, sql) for e in expressions if (sql := self.sql(e)) is not None]
        self.expressions += len(pairs)
        for expression, sql in pairs:
            counted = f"SELECT rid, {sql} AS x, count(*) FROM t GROUP BY ALL ORDER BY rid"
            try:
                kinds, found = extremes.arrow(self.con, counted)
            except duckdb.Error as error:
                self.wrong.append(f"raised {error}\n   {sql[:3000]}")
                continue
            if found.num_rows != len(self.rows):
                self.wrong.append(f"{found.num_rows} groups\n   {sql[:3000]}")
            elif problem := self._judge(
                expression, kinds[1], extremes.plain(found.column(1), expression.type)
            ):
                self.wrong.append(f"{problem}\n   {sql[:3000]}")

    def smallest(self, expressions: Sequence[Expression]) -> list[str]:
        """Return what is wrong with the smallest subexpressions that show something wrong."""
        found: dict[str, Expression] = {}
        for expression in expressions:
            for part in parts(expression):
                found.setdefault(shown(part), part)
        for text in sorted(found, key=len):
            sql = self.sql(found[text])
            if sql is not None and not isinstance(found[text].type, types.Opaque):
                wrong = self._select([(found[text], sql)])
                if wrong:
                    return wrong
        return []


def shown(expression: Expression) -> str:
    """Return an expression in a readable form."""
    match expression:
        case Call(function, arguments):
            return f"{function.name}({', '.join(map(shown, arguments))})"
    if hasattr(expression, "operand"):
        return f"to({shown(expression.operand)}, {expression.type})"
    if hasattr(expression, "name"):
        return str(expression.name)
    return f"{getattr(expression, 'value', expression)!r}"


def bench(rng: random.Random, folder: Path | None, form: str, threads: int = 1) -> Bench:
    """Return a bench over a stored table, a Parquet file or a table made from a CSV file."""
    con = duckdb.connect()
    con.execute(f"SET threads = {threads}")
    extremes.table(con, rng, folder, form)
    return Bench(con, [dict(row) for row in extremes.rows(con)], extremes.reading())
