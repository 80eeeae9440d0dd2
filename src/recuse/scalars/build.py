"""An operation over typed arguments → an expression: arguments brought to their types, constants folded."""

from __future__ import annotations

from recuse.scalars import convert
from recuse.scalars.evaluate import evaluate
from recuse.scalars.expression import Call, Constant, Convert, Expression, Value, Variable
from recuse.scalars.function import Mistyped, OtherForm, check_arity
from recuse.scalars.literals import literal
from recuse.scalars.table import OF_ENGINES, TABLE
from recuse.scalars.types import Float, Null, Number, Text, Type


class UnknownReading(Exception):  # noqa: N818
    """Only an engine can say what a constant means."""


def no_reading(value: Value, source: str, target: str) -> Value:
    """Refuse to say what text means: only an engine can."""
    raise UnknownReading(f"{value!r} from {source} to {target}")


def _no_row(column: Variable) -> Value:
    raise UnknownReading(column.name)


def apply(name: str, *arguments: Expression) -> Expression:
    """Return the call of a function: of the first overload that takes these arguments."""
    mistakes: list[Mistyped] = []
    for function in TABLE.get(name) or OF_ENGINES[name]:
        try:
            check_arity(function, len(arguments))
            signature = function.signature(arguments)
        except OtherForm:
            continue
        except Mistyped as mistake:
            mistakes.append(mistake)
            continue
        takes = [bring(argument, kind) for argument, kind in zip(arguments, signature.takes, strict=True)]
        return _folded(Call(function, tuple(takes), signature.gives))
    raise mistakes[0]


def bring(expression: Expression, kind: Type) -> Expression:
    """Return an expression in a type that its values are brought to.

    A text constant becomes what it says, or is refused: it is never NULL because it says nothing.
    """
    if expression.type == kind:
        return expression
    if isinstance(expression, Constant):
        return _constant(expression, kind)
    if isinstance(kind, Float) and isinstance(expression.type, Float) and kind.nan:
        return expression
    convert.check(expression.type, kind)
    return Convert(expression, kind)


def _constant(found: Constant, kind: Type) -> Constant | Convert:
    if found.value is None or isinstance(found.type, Null):
        return Constant(None, kind)
    if isinstance(found.value, str) and isinstance(found.type, Text) and not isinstance(kind, Text):
        found = literal(found.value, kind)
    convert.check(found.type, kind)
    return _folded_constant(Convert(found, kind))


def _folded_constant(found: Convert) -> Constant | Convert:
    try:
        value = evaluate(found, _no_row, no_reading)
    except UnknownReading:
        return found
    return Constant(value, found.type)


def _folded(call: Call) -> Expression:
    """Return the value of a call whose arguments are all written down."""
    if not call.arguments or not call.function.folds:
        return call
    if not all(isinstance(argument, Constant) for argument in call.arguments):
        return call
    try:
        value = evaluate(call, _no_row, no_reading)
    except UnknownReading:
        return call
    return Constant(value, _exactly(value, call.type))


def _exactly(value: Value, kind: Type) -> Type:
    """Return the type of one known value."""
    if isinstance(kind, Number) and isinstance(value, int):
        return Number(kind.scale, value, value)
    return Text(len(value)) if isinstance(kind, Text) and isinstance(value, str) else kind
