"""Compilers and functions with one fault each, which the fuzz must find."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import cycle

from recuse.scalars import types
from recuse.scalars.duckdb import Compiler, name
from recuse.scalars.expression import Call, Constant, Convert, Expression, Variable
from recuse.scalars.function import Function, Signature
from recuse.scalars.spelling import cast, constant, spelled
from recuse.scalars.table import TABLE

OPERATORS = frozenset({"+", "-", "*", "/", "//", "%"})


@dataclass(frozen=True)
class Naive:
    """A compiler of plain operators and casts, and TRY around the whole: what was written before."""

    def sql(self, expression: Expression) -> str:
        """Return the whole in TRY, in the type that was predicted."""
        return f"TRY(CAST({self._sql(expression)} AS {spelled(expression.type)}))"

    def _sql(self, expression: Expression) -> str:
        match expression:
            case Constant():
                return constant(expression)
            case Variable():
                return name(expression)
            case Convert(operand, kind):
                return cast(self._sql(operand), spelled(kind))
            case Call(function, arguments):
                operands = [self._sql(argument) for argument in arguments]
                if function.name in OPERATORS and len(operands) == 2:
                    return f"({operands[0]} {function.name} {operands[1]})"
                return function.duckdb(expression, *operands)
        raise TypeError("no subqueries here")


GUARDS = cycle(("TRY({0} // {1})", "(TRY(({0} // {1}) + 1) - 1)"))


def guard_around(call: Call, left: str, right: str) -> str:
    """Return a quotient whose guard stands around the division, not on the divisor.

    Both ways of writing it hold the division, which DuckDB then takes out of both.
    """
    kinds = [a.type for a in call.arguments if isinstance(a.type, types.Number)]
    held = spelled(types.hull([*kinds, call.type, types.SMALLINT]))
    return cast(next(GUARDS).format(cast(left, held), cast(right, held)), spelled(call.type))


def guarded_around() -> dict[str, tuple[Function, ...]]:
    """Return a table in which // is guarded from outside."""
    return {**TABLE, "//": tuple(replace(row, duckdb=guard_around) for row in TABLE["//"])}


def too_narrow() -> dict[str, tuple[Function, ...]]:
    """Return a table that takes text to be shorter than 128 characters."""
    row = TABLE["length"][0]

    def signature(arguments: object) -> Signature:
        return Signature(row.signature(arguments).takes, types.TINYINT)  # type: ignore[arg-type]

    return {**TABLE, "length": (replace(row, signature=signature),)}


def not_narrowed() -> dict[str, tuple[Function, ...]]:
    """Return a table in which DuckDB's own type of a function is not the predicted one."""
    row = TABLE["year"][0]
    return {
        **TABLE,
        "year": (replace(row, duckdb=lambda call, x: row.duckdb(call, x).replace("SMALLINT", "BIGINT")),),
    }


def signed_zero() -> Compiler:
    """Return a compiler that reads floats as they are stored, -0.0 and both NaNs."""

    @dataclass(frozen=True)
    class Loose(Compiler):
        def _column(self, column: Variable) -> str:
            return self._bare(column)

    return Loose()
