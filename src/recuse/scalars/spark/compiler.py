"""An expression → SQL for Spark, in which every subexpression is total by itself.

Guarantee: no part of what is returned can raise on any row, wherever Catalyst evaluates it, with or without
generated code. In ANSI mode Spark fails on overflow, casts and division by zero: so casts are TRY_CASTs,
exact arithmetic is done in types that hold every result, and guards stand on operands (proofs.md,
"Row-wise expressions"; tests/engines/spark/test_scalars.py).
"""

from __future__ import annotations

from dataclasses import dataclass

from recuse.scalars.duckdb import (
    MOST,
    MOST_FOR_CONSTANT,
    MOST_NESTED,
    Bodies,
    no_bodies,
    too_large,
    within,
)
from recuse.scalars.expression import Call, Constant, Convert, Expression, Query, Variable, measure
from recuse.scalars.forms import SqlForm
from recuse.scalars.function import Function, Mistyped
from recuse.scalars.spark import convert
from recuse.scalars.spark.moments import MOMENT_FORMS
from recuse.scalars.spark.numbers import NUMBER_FORMS
from recuse.scalars.spark.spelling import constant, engine_type, stored, whole_text
from recuse.scalars.spark.words import WORD_FORMS
from recuse.scalars.types import Text

FORMS: dict[Function, SqlForm] = {**NUMBER_FORMS, **WORD_FORMS, **MOMENT_FORMS}
"""how Spark is told each function; one that is not here is refused"""


@dataclass(frozen=True, slots=True)
class SparkCompiler:
    """The compiler of one statement's expressions."""

    bodies: Bodies = no_bodies

    def sql(self, expression: Expression) -> str:
        """Return the SQL of an expression, or refuse one that grows too large by its guards.

        What is returned as text is text: bytes that are no characters are NULL.
        """
        size = measure(expression)
        if size.depth > MOST_NESTED:
            raise too_large()
        most = MOST + MOST_FOR_CONSTANT * size.constants
        found = stored(expression) if isinstance(expression, Variable) else self._sql(expression, most)
        readable = isinstance(expression.type, Text) and not isinstance(expression, Constant)
        return f"try_validate_utf8({found})" if readable else found

    def _sql(self, expression: Expression, most: int) -> str:
        return within(self._one(expression, most), most)

    def _one(self, expression: Expression, most: int) -> str:
        match expression:
            case Convert(operand, kind):
                engine_type(kind)
                return convert.form(self._sql(operand, most), operand.type, kind)
            case Variable():
                return self._column(expression)
            case Constant():
                return constant(expression)
            case Query(operands):
                return self.bodies(expression, tuple(self._sql(operand, most) for operand in operands))
            case Call():
                return self._call(expression, most)

    def _call(self, call: Call, most: int) -> str:
        form = FORMS.get(call.function)
        if form is None:
            raise Mistyped(f"{call.function.known_as} is not asked of Spark", "see docs/reference/spark.md")
        inside = self._compared if call.function.loose else self._sql
        return form(call, *(inside(argument, most) for argument in call.arguments))

    def _column(self, column: Variable) -> str:
        """Return a stored value for a function to look at."""
        found = stored(column)
        unbounded = isinstance(column.type, Text) and column.type.length is None
        return whole_text(found) if unbounded else found

    def _compared(self, expression: Expression, most: int) -> str:
        """Return an operand of a comparison: text of any length."""
        return stored(expression) if isinstance(expression, Variable) else self._sql(expression, most)
