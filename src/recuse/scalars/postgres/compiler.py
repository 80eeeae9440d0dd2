"""An expression → SQL for PostgreSQL, in which every subexpression is total by itself.

Guarantee: no part of what is returned can raise on any row, wherever the planner evaluates it. PostgreSQL
has no TRY, folds constants when it plans, and evaluates the operands of AND and OR in any order. So guards
stand on operands: of division, of casts, of functions with a domain; exact arithmetic is done in `numeric`,
which holds every result of numbers of 38 digits; floats are brought between sizes whose sums and products are
floats (proofs.md, "Row-wise expressions"; tests/engines/postgres/test_scalars.py).
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
from recuse.scalars.floats import FLOATS
from recuse.scalars.forms import SqlForm
from recuse.scalars.function import Function, Mistyped
from recuse.scalars.integers import is_integer
from recuse.scalars.postgres import convert, magnitude
from recuse.scalars.postgres.moments import MOMENT_FORMS
from recuse.scalars.postgres.numbers import NUMBER_FORMS
from recuse.scalars.postgres.spelling import (
    ZERO,
    compared,
    constant,
    is_padded,
    named,
    shown,
    stored,
    whole_text,
)
from recuse.scalars.postgres.words import WORD_FORMS
from recuse.scalars.types import Boolean, Float, Number, Opaque, Text

FORMS: dict[Function, SqlForm] = {**NUMBER_FORMS, **WORD_FORMS, **MOMENT_FORMS}
"""how PostgreSQL is told each function; one that is not here is refused"""
ARITHMETIC = frozenset({*magnitude.OPERATIONS, magnitude.NEGATION})
_PATTERNS = frozenset({"like", "ilike", "pg regexp_matches"})
_OF_ONE_FLOAT = frozenset(row for row in FLOATS if row.name in ("sqrt", "ln", "log10", "exp"))
_LOOSE = frozenset({"length", "strlen"})


@dataclass(frozen=True, slots=True)
class PostgresCompiler:
    """The compiler of one statement's expressions."""

    bodies: Bodies = no_bodies

    def sql(self, expression: Expression) -> str:
        """Return the SQL of an expression, or refuse one that grows too large by its guards."""
        size = measure(expression)
        if size.depth > MOST_NESTED:
            raise too_large()
        most = MOST + MOST_FOR_CONSTANT * size.constants
        found = self._read(expression) if isinstance(expression, Variable) else self._sql(expression, most)
        return shown(found, expression.type)

    def _sql(self, expression: Expression, most: int) -> str:
        return within(self._one(expression, most), most)

    def _one(self, expression: Expression, most: int) -> str:
        match expression:
            case Convert(operand, kind):
                return convert.form(self._sql(operand, most), operand.type, kind)
            case Variable():
                return self._column(expression)
            case Constant():
                return constant(expression)
            case Query(operands):
                if isinstance(expression.type, Float):
                    raise Mistyped(
                        "floats of many rows are not put together in PostgreSQL", "cast them first"
                    )
                return self.bodies(expression, tuple(self._sql(operand, most) for operand in operands))
            case Call(function) if function in ARITHMETIC:
                found = magnitude.arithmetic(expression, lambda part: self._sql(part, most))
                return f"({found.sql} + {ZERO})"
            case Call():
                return self._call(expression, most)

    def _call(self, call: Call, most: int) -> str:
        form = FORMS.get(call.function)
        if form is None:
            raise Mistyped(
                f"{call.function.known_as} is not asked of PostgreSQL", "see docs/reference/postgresql.md"
            )
        _check(call)
        inside = self._loose if call.function.loose or call.function.name in _LOOSE else self._sql
        operands = [inside(argument, most) for argument in call.arguments]
        if call.function.name in _PATTERNS and isinstance(call.arguments[0], Variable):
            # as it is stored: CHAR(n) is matched with the spaces that fill it up
            padded = is_padded(call.arguments[0])
            operands[0] = whole_text(named(call.arguments[0])) if padded else operands[0]
        return form(call, *operands)

    def _read(self, column: Variable) -> str:
        """Return a stored value in the one form that its type has."""
        sql = stored(column)
        return convert.one_form(sql) if isinstance(column.type, Float) and column.stored else sql

    def _column(self, column: Variable) -> str:
        """Return a stored value for a function to look at."""
        found = self._read(column)
        unbounded = isinstance(column.type, Text) and column.type.length is None
        return whole_text(found) if unbounded else found

    def _loose(self, expression: Expression, most: int) -> str:
        """Return an operand of a comparison: there all NaNs are one, and both zeros."""
        if isinstance(expression, Variable):
            return named(expression) if isinstance(expression.type, Opaque) else compared(expression)
        return self._sql(expression, most)


def _check(call: Call) -> None:
    """Refuse what PostgreSQL means otherwise: of numerics, of filled text, of truth values as text."""
    if call.function.loose and any(map(is_padded, call.arguments)):
        for place, argument in enumerate(call.arguments):
            if isinstance(argument, Constant) and str(argument.value).endswith(" "):
                hint = "leave them out: CHAR(n) is compared without the spaces that fill it up"
                raise Mistyped("this constant ends with spaces", hint, place)
    for place, argument in enumerate(call.arguments):
        if not isinstance(argument, Convert):
            continue
        source = argument.operand.type
        numeric = isinstance(source, Number) and is_integer(argument.operand) is not True
        if call.function in _OF_ONE_FLOAT and numeric:
            hint = f"cast it: {call.function.name}(CAST(x AS double precision))"
            raise Mistyped("PostgreSQL computes this of a numeric with other digits", hint, place)
        if call.function.name in ("concat", "concat_ws") and isinstance(source, Boolean):
            raise Mistyped("concat writes a truth value as one letter", "write CASE WHEN x THEN …", place)
