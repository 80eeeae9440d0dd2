"""What is made of answers: formulas over measures, keys and constants, and what is done with rows.

    Term, ShownKey, OfKeys, ReleasedFirst, FixedNumber, FixedValue    what a formula begins with
    Windowed                                             what a row's window says: ranks, totals
    Operation                                            arithmetic, comparisons, logic, CASE and the like
    Stacked                                              a column of several answers under each other
    Keep, Look, Arrange, FirstRows, Stack                HAVING, QUALIFY; windows; ORDER BY; LIMIT; UNION

All of it is computed from what was released and from what is public: post-processing, so it is free.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from enum import Enum
from fractions import Fraction

from recuse.scalars.expression import Expression


class OverRows(Enum):
    """What a window says of the rows of an answer."""

    ROW_NUMBER = "row_number"
    RANK = "rank"
    DENSE_RANK = "dense_rank"
    COUNT = "count"
    SUM = "sum"
    AVG = "avg"
    MIN = "min"
    MAX = "max"
    SHIFTED = "lag"
    """what another row says: so many before or behind"""


class Operator(Enum):
    """What is done with formulas; a moment is a number of days or seconds since `ORIGIN`."""

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"
    MODULO = "%"
    WHOLE_DIVIDE = "//"
    ROUND = "round"
    FLOOR = "floor"
    CEIL = "ceil"
    ABS = "abs"
    SIGN = "sign"
    SQRT = "sqrt"
    GREATEST = "greatest"
    LEAST = "least"
    NOT_BELOW = "not below"
    NOT_ABOVE = "not above"
    """a number, and an end that it is known to keep: unlike GREATEST and LEAST they leave NULL alone"""
    COALESCE = "coalesce"
    NULLIF = "nullif"
    CASE = "case"
    EQUAL = "="
    LESS = "<"
    AT_MOST = "<="
    SAME = "is not distinct from"
    IS_NULL = "is null"
    AND = "and"
    OR = "or"
    NOT = "not"
    DATE = "date"
    MOMENT = "timestamp"
    SINCE = "since"


ORIGIN = date(2000, 1, 1)
"""where days and seconds are counted from"""


@dataclass(frozen=True, slots=True)
class Term:
    """The answer to a measure.

    Its number is its place among the measures of the question.
    """

    measure: int


@dataclass(frozen=True, slots=True)
class ShownKey:
    """A key of GROUP BY, as it is shown."""

    position: int
    """its place in GROUP BY"""


@dataclass(frozen=True, slots=True)
class OfKeys:
    """A row-wise expression of the keys: its variables are named by the keys' places in GROUP BY."""

    expression: Expression


@dataclass(frozen=True, slots=True)
class ReleasedFirst:
    """A scalar that was released before the question was asked.

    A question may need several; they are numbered in the order of their release. All of them are released
    for a part of the question's own ε.
    """

    number: int


@dataclass(frozen=True, slots=True)
class FixedNumber:
    """A number that the query writes down."""

    value: Fraction
    """exactly as it is written"""


@dataclass(frozen=True, slots=True)
class FixedValue:
    """Text, a truth value, a date or NULL that the query writes down."""

    value: object
    """as Python has it: str, bool, date, datetime, None"""


@dataclass(frozen=True, slots=True)
class Operation:
    """What is done with formulas; CASE takes conditions and values in turn, and a value for all else."""

    operator: Operator
    arguments: tuple[Formula, ...]


def operation(operator: Operator, *arguments: Formula) -> Operation:
    """Return the operation on some formulas."""
    return Operation(operator, arguments)


@dataclass(frozen=True, slots=True)
class Windowed:
    """What a function says of the rows of an answer that share a partition, up to a row in their order.

    `place` is which window of the question it is: the rows that it sees are those of its own step.
    """

    place: int
    function: OverRows
    argument: Formula | None
    partition: tuple[Formula, ...] = ()
    order: tuple[OrderTerm, ...] = ()
    shift: int = 0
    """how many rows behind the row the other one is; before it, below 0"""


@dataclass(frozen=True, slots=True)
class OrderTerm:
    """One item of ORDER BY.

    Where NULL stands is said, whatever the dialect's default.
    """

    formula: Formula
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True, slots=True)
class Stacked:
    """What a column of several answers under each other shows: the formula of the row that it is."""

    rows: tuple[Formula, ...]


Formula = Term | ShownKey | OfKeys | ReleasedFirst | FixedNumber | FixedValue | Operation | Windowed | Stacked


@dataclass(frozen=True, slots=True)
class Keep:
    """Keep the rows for which a formula is true: HAVING."""

    condition: Formula
    """neither false nor NULL"""


@dataclass(frozen=True, slots=True)
class FirstRows:
    """Leave out the first rows, and all after so many more: OFFSET and LIMIT."""

    offset: int
    limit: int | None


@dataclass(frozen=True, slots=True)
class Arrange:
    """Put the rows in order; rows that are equal stay as they are."""

    terms: tuple[OrderTerm, ...]
    """the first decides, the next where it ties"""


@dataclass(frozen=True, slots=True)
class Look:
    """Work out windows over the rows that there are."""

    windows: tuple[Windowed, ...]


@dataclass(frozen=True, slots=True)
class Stack:
    """Make so many rows of each: several answers under each other; of UNION, equal rows are one."""

    count: int
    different: tuple[Formula, ...] | None = None
    """what tells rows apart, where equal ones are one"""


FinishingStep = Keep | Look | Arrange | FirstRows | Stack


def largest_rows(steps: tuple[FinishingStep, ...]) -> int | None:
    """Return how many rows are left by ORDER BY the first measure DESC LIMIT k; None if it is not that."""
    match steps:
        case (Arrange((OrderTerm(Term(0), True, False), *_)), FirstRows(offset, int(limit))):
            return offset + limit
    return None


def parts_of(formula: Formula) -> Iterator[Formula]:
    """Yield a formula and all that it is made of."""
    yield formula
    for part in _inside(formula):
        yield from parts_of(part)


def in_row(formula: Formula, place: int) -> Formula:
    """Return what a formula is in one of the rows that were stacked."""
    if isinstance(formula, Stacked):
        return formula.rows[place]
    if isinstance(formula, Operation):
        return Operation(formula.operator, tuple(in_row(part, place) for part in formula.arguments))
    return formula


def _inside(formula: Formula) -> tuple[Formula, ...]:
    if isinstance(formula, Stacked):
        return formula.rows
    if isinstance(formula, Operation):
        return formula.arguments
    if isinstance(formula, Windowed):
        argument = () if formula.argument is None else (formula.argument,)
        return (*argument, *formula.partition, *(term.formula for term in formula.order))
    return ()


def measures_in(formula: Formula) -> Iterator[int]:
    """Yield the measures that a formula uses, repeats included."""
    yield from (part.measure for part in parts_of(formula) if isinstance(part, Term))


def scalars_in(formula: Formula) -> Iterator[int]:
    """Yield the scalars that a formula uses, repeats included."""
    yield from (part.number for part in parts_of(formula) if isinstance(part, ReleasedFirst))


def is_noisy(formula: Formula) -> bool:
    """Return whether a formula depends on anything that was released."""
    return any(isinstance(part, Term | ReleasedFirst) for part in parts_of(formula))


def windows_in(formula: Formula) -> Iterator[Windowed]:
    """Yield the windows that a formula looks through, those within others first."""
    for part in _inside(formula):
        yield from windows_in(part)
    if isinstance(formula, Windowed):
        yield formula
