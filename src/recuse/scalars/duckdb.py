"""An expression → SQL for DuckDB, in which every subexpression is total by itself.

Guarantee: no part of what is returned can raise on any row, wherever an optimiser evaluates it: guards
stand on operands, casts are TRY_CASTs or widen, and the DuckDB type of every part is that of its own type,
so that DuckDB converts nothing (proofs.md, "Row-wise expressions"; tests/scalars/test_fuzz.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from recuse.scalars import convert
from recuse.scalars.expression import Call, Constant, Convert, Expression, Query, Variable, measure
from recuse.scalars.function import Mistyped
from recuse.scalars.spelling import cast, constant, spelled, try_cast
from recuse.scalars.types import Float, Number, Opaque, Timestamp

MOST = 60_000
"""Characters of one compiled expression; DuckDB binds as many in about half a second."""
MOST_FOR_CONSTANT = 60
MOST_COPIED = 2
"""IN and initcap inside of each other; DuckDB takes time that doubles with each."""
MOST_NESTED = 100
"""Operations inside of each other; DuckDB's parser stops at a thousand brackets."""

ColumnNames = Callable[[Variable], str]
"""how a column is written"""
Bodies = Callable[[Query, tuple[str, ...]], str]
"""how a subquery is written, given its operands"""


def name(column: Variable) -> str:
    """Return a column as it is written in SQL: "source"."name"."""
    quoted = ['"' + part.replace('"', '""') + '"' for part in (column.source, column.name) if part]
    return ".".join(quoted)


def too_large() -> Mistyped:
    """Return the refusal of an expression that grows too large by its guards."""
    return Mistyped("this expression is nested too deeply", "write it more simply")


def within(sql: str, most: int) -> str:
    """Return a compiled part, or refuse one of more characters."""
    if len(sql) > most:
        raise too_large()
    return sql


def no_bodies(_: Query, __: tuple[str, ...]) -> str:
    """Refuse subqueries: whoever has them says how they are written."""
    raise TypeError("no subqueries here")


@dataclass(frozen=True, slots=True)
class Compiler:
    """The compiler of one statement's expressions."""

    names: ColumnNames = name
    bodies: Bodies = no_bodies

    def sql(self, expression: Expression) -> str:
        """Return the SQL of an expression, or refuse one that grows too large by its guards."""
        size = measure(expression)
        if size.depth > MOST_NESTED or size.copied > MOST_COPIED:
            raise too_large()
        return self._sql(expression, MOST + MOST_FOR_CONSTANT * size.constants)

    def _sql(self, expression: Expression, most: int) -> str:
        return within(self._one(expression, most), most)

    def _one(self, expression: Expression, most: int) -> str:
        match expression:
            case Constant():
                return constant(expression)
            case Variable():
                return self._column(expression)
            case Convert(operand, Number() as kind) if isinstance(operand.type, Float):
                return convert.into(self._raw(operand, most), kind)  # to a number NaN has no counterpart
            case Convert(operand, kind):
                return convert.form(self._sql(operand, most), operand.type, kind)
            case Query(operands):
                return self.bodies(expression, tuple(self._sql(operand, most) for operand in operands))
            case Call(function, arguments):
                if function.raw:
                    return convert.number_or_null(self._raw(expression, most))
                inside = self._loose if function.loose else self._sql
                found = function.duckdb(expression, *(inside(argument, most) for argument in arguments))
                return convert.number_or_null(found) if function.mends else found

    def _column(self, column: Variable) -> str:
        """Return a stored value in the one form that its type has."""
        sql = self._bare(column)
        return convert.one_form(sql) if isinstance(column.type, Float) and column.stored else sql

    def _bare(self, column: Variable) -> str:
        sql, wanted = self.names(column), spelled(column.type)
        if isinstance(column.type, Opaque) or column.stored in ("", wanted):
            return sql
        if isinstance(column.type, Timestamp):
            return try_cast(sql, wanted)
        return cast(sql, wanted)

    def _loose(self, expression: Expression, most: int) -> str:
        """Return an operand of a comparison: there all NaNs are one, and both zeros."""
        if isinstance(expression, Variable):
            return self._bare(expression)
        return self._sql(expression, most)

    def _raw(self, expression: Expression, most: int) -> str:
        """Return a float that may be -0.0, or NaN for NULL: the end of the chain mends both."""
        match expression:
            case Variable(type=Float()):
                return self._bare(expression)
            case Convert(operand, Float()) if isinstance(operand.type, Float):
                return self._raw(operand, most)
            case Call(function, arguments) if function.raw:
                raw = (self._raw(argument, most) for argument in arguments)
                return within(function.duckdb(expression, *raw), most)
        return self._sql(expression, most)
