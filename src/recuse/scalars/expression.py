"""Typed expressions: every node knows of which type its values are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from recuse.scalars.types import Text, Type

if TYPE_CHECKING:
    from recuse.scalars.function import Function

Value = int | float | str | bool | None
"""A value in Python, as `types` says; NULL is None."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A column of a source, or of anything that an engine knows by these two names."""

    source: str
    name: str
    type: Type
    stored: str = field(default="", compare=False)
    """the type as the catalogue spells it, where it is read in another one"""


@dataclass(frozen=True, slots=True)
class Constant:
    """A value that the question writes down, or that follows from such."""

    value: Value
    """None for NULL, which has a type like any other value"""
    type: Type

    @property
    def is_text(self) -> bool:
        """Whether it is text, which is read as what it stands beside."""
        return isinstance(self.value, str) and isinstance(self.type, Text)


@dataclass(frozen=True, slots=True)
class Call:
    """A function of the table, applied."""

    function: Function
    arguments: tuple[Expression, ...]
    """each of the type that the function takes"""
    type: Type


@dataclass(frozen=True, slots=True)
class Convert:
    """A value brought to another type."""

    operand: Expression
    type: Type
    """where a value has no counterpart in it, the result is NULL"""


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """A subquery as a value or predicate, in a form that its compiler understands; it cannot raise."""

    operands: tuple[Expression, ...]
    body: object
    type: Type


Expression = Variable | Constant | Convert | Call | Query


def operands(expression: Expression) -> tuple[Expression, ...]:
    """Return what an expression is made of."""
    match expression:
        case Convert(operand):
            return (operand,)
        case Call(_, arguments) | Query(arguments):
            return arguments
    return ()


def with_operands(expression: Expression, made: Sequence[Expression]) -> Expression:
    """Return an expression made of others, which have the types of what they stand for."""
    match expression:
        case Convert():
            return replace(expression, operand=made[0])
        case Call():
            return replace(expression, arguments=tuple(made))
        case Query():
            return replace(expression, operands=tuple(made))
    return expression


def parts(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and all its subexpressions."""
    waiting = [expression]
    while waiting:
        found = waiting.pop()
        yield found
        waiting += reversed(operands(found))


@dataclass(frozen=True, slots=True)
class Size:
    """How deep an expression is nested, how many functions that copy stand in each other, its constants."""

    depth: int
    copied: int
    constants: int


def measure(expression: Expression) -> Size:
    """Return the size of an expression; a part that is used twice is seen once."""
    depths: dict[int, tuple[int, int]] = {}
    constants = 0
    waiting = [expression]
    while waiting:
        inside = operands(waiting[-1])
        unseen = [part for part in inside if id(part) not in depths]
        if unseen:
            waiting += unseen
            continue
        found = waiting.pop()
        constants += isinstance(found, Constant) and id(found) not in depths
        copies = isinstance(found, Call) and found.function.copies
        below = [depths[id(part)] for part in inside]
        depths[id(found)] = (
            1 + max((depth for depth, _ in below), default=0),
            copies + max((copied for _, copied in below), default=0),
        )
    return Size(*depths[id(expression)], constants)
