"""What an output column says of the measures: one of them, a number, or arithmetic over them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction


class Operator(Enum):
    """Arithmetic over answers."""

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"


@dataclass(frozen=True, slots=True)
class Term:
    """The answer to the measure of that number."""

    measure: int


@dataclass(frozen=True, slots=True)
class FixedNumber:
    """A number that the query writes down."""

    value: Fraction


@dataclass(frozen=True, slots=True)
class Operation:
    """Two formulas and what is done with them."""

    operator: Operator
    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class Rounded:
    """A formula rounded to so many decimal places, halves away from zero."""

    formula: Formula
    places: int


Formula = Term | FixedNumber | Operation | Rounded


def measures_in(formula: Formula) -> Iterator[int]:
    """Yield the measures that a formula uses, repeats included."""
    match formula:
        case Term(measure):
            yield measure
        case Operation(_, left, right):
            yield from measures_in(left)
            yield from measures_in(right)
        case Rounded(inner):
            yield from measures_in(inner)
