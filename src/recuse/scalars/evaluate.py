"""What an expression means: its value in a row, in Python. The judge of every compiler."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from recuse.scalars import convert
from recuse.scalars.convert import TextReading
from recuse.scalars.expression import Call, Constant, Convert, Expression, Value, Variable

RowValues = Callable[[Variable], Value]


def evaluate(expression: Expression, row: RowValues, reading: TextReading) -> Value:
    """Return the value of an expression; `reading` says what the engine makes of text."""
    match expression:
        case Constant(value):
            return value
        case Variable():
            return row(expression)
        case Convert(operand):
            return step(expression, (evaluate(operand, row, reading),), reading)
        case Call(_, arguments):
            values = [evaluate(argument, row, reading) for argument in arguments]
            return step(expression, values, reading)
    raise TypeError("a subquery has no value in Python")


def step(expression: Convert | Call, values: Sequence[Value], reading: TextReading) -> Value:
    """Return the value of a conversion or a call from those of its operands."""
    if isinstance(expression, Convert):
        return convert.value(values[0], expression.operand.type, expression.type, reading)
    if expression.function.strict and None in values:
        return None
    found: Value = expression.function.value(expression, *values)
    return found
