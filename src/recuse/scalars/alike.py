"""The one type that several values are brought to, and the order in which values are compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recuse.scalars.expression import Constant, Expression
from recuse.scalars.function import OPAQUE, Mistyped
from recuse.scalars.literals import literal, read_beside
from recuse.scalars.types import (
    Null,
    Opaque,
    Text,
    Type,
    common,
    words,
)

CAST = "say what they are: CAST(x AS VARCHAR), CAST(x AS BIGINT)"


def alike(arguments: Sequence[Expression], *, reading: bool = True) -> Type:
    """Return the one type that all arguments are brought to.

    A text constant is read as what it stands beside; so is any other text, if `reading`, as DuckDB does
    when it compares.
    """
    for place, argument in enumerate(arguments):
        if isinstance(argument.type, Opaque):
            raise Mistyped(f"values {words(argument.type)} are not compared", OPAQUE, place)
    written = [argument for argument in arguments if isinstance(argument, Constant) and argument.is_text]
    others = [argument.type for argument in arguments if argument not in written]
    known = [kind for kind in others if not isinstance(kind, Text | Null)]
    if not known:
        return common(argument.type for argument in arguments) or Text()
    target = common(known)
    if target is None:
        raise Mistyped(f"{words(known[0])} stands beside {_other(known)}", CAST)
    if any(isinstance(kind, Text) for kind in others):
        if not reading:
            raise Mistyped(f"text stands beside {words(target)}", CAST)
        target = read_beside(target)
    for place, argument in enumerate(arguments):
        if isinstance(argument, Constant) and isinstance(argument.value, str) and argument.is_text:
            target = common([target, _literal_type(argument.value, target, place)]) or target
    return target


def _literal_type(written: str, target: Type, place: int) -> Type:
    try:
        return literal(written, target).type
    except Mistyped as mistake:
        raise Mistyped(mistake.problem, mistake.hint, place) from None


def _other(kinds: Sequence[Type]) -> str:
    return next((words(kind) for kind in kinds[1:] if type(kind) is not type(kinds[0])), words(kinds[-1]))


def key(value: Any) -> Any:
    """Return what a value is ordered by: NaN lies above all numbers, text is ordered by its bytes."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if isinstance(value, float):
        return (value != value, 0.0 if value != value else value)
    return value
