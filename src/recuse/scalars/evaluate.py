"""What an expression means: its value in a row, in Python. The judge of every compiler."""

from __future__ import annotations

from collections.abc import Callable

from recuse.scalars import convert
from recuse.scalars.convert import Reading
from recuse.scalars.expression import Call, Column, Constant, Convert, Expression, Value

Row = Callable[[Column], Value]


def evaluate(expression: Expression, row: Row, reading: Reading) -> Value:
    """Return the value of an expression; `reading` says what the engine makes of text."""
    match expression:
        case Constant(value):
            return value
        case Column():
            return row(expression)
        case Convert(operand, kind):
            return convert.value(evaluate(operand, row, reading), operand.type, kind, reading)
        case Call(function, arguments):
            values = [evaluate(argument, row, reading) for argument in arguments]
            if function.strict and None in values:
                return None
            found: Value = function.value(expression, *values)
            return found
    raise TypeError("a subquery has no value in Python")
