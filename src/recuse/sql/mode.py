"""MODE(x): the most frequent of values that are known without looking at private rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Self

from sqlglot import exp

from recuse.scalars.types import Type
from recuse.sql.elaborate import Lookup
from recuse.sql.formula import FixedNumber, FixedValue, Formula, Operation, Operator, Term, operation
from recuse.sql.listed import KeyValue, Listed
from recuse.sql.query import Block, Scalar
from recuse.sql.schema import Schema


@dataclass(frozen=True, slots=True)
class MostFrequentValue:
    """The position, in a public list of `count`, of the value that most rows have."""

    count: int

    signed, weighed, placed, whole = True, False, True, True

    @property
    def word(self) -> str:
        """Its name: lists of another length are another question."""
        return f"MODE of {self.count}"

    def rows(self, block: Block, values: Sequence[Scalar]) -> Block:
        """Return the rows whose value is in the list."""
        return block.known(values)

    def value(self, values: Sequence[Scalar]) -> Scalar | None:
        """Return the position."""
        return values[0]

    def refuses(self, _: Type) -> str | None:
        """Return nothing: positions are whole numbers."""
        return None

    def suited(self, _: Type) -> Self:
        """Return the same: positions are whole numbers."""
        return self

    def weight(self, value: Scalar | None, _schema: Schema, _lookup: Lookup) -> Scalar:
        """Return the position."""
        return exp.Literal.number(0) if value is None else exp.cast(value.copy(), "bigint")

    def plain(self, value: Scalar) -> exp.Expr:
        """Return MODE(position)."""
        return exp.Mode(this=value)

    def granularity(self, _: Schema) -> Fraction:
        """Return 1: positions are whole."""
        return Fraction(1)

    def words(self, _: Schema) -> str:
        """Return what is asked."""
        return f"the most frequent of {self.count} values, known without looking"


def mode_call(node: exp.Expr) -> tuple[exp.Expr, exp.Expr | None] | None:
    """Return the argument of a MODE and the condition of its FILTER; None if it is no such call."""
    call, test = (node.this, node.expression.this) if isinstance(node, exp.Filter) else (node, None)
    held = {key for key, value in call.args.items() if value}
    if not isinstance(call, exp.Mode) or held != {"this"} or isinstance(call.this, exp.Distinct):
        return None
    return call.this, test


def position_of(value: exp.Expr, listed: Listed) -> exp.Expr:
    """Return where in the list a value stands; NULL if nowhere."""
    branches = [
        exp.If(this=exp.EQ(this=value.copy(), expression=literal.copy()), true=exp.Literal.number(place))
        for place, literal in enumerate(listed.literals)
    ]
    return exp.Case(ifs=branches)


def at_position(term: Term, values: Sequence[KeyValue]) -> Formula:
    """Return the value of the list at the position that was released."""
    branches: list[Formula] = []
    for place, value in enumerate(values):
        shown: Formula = FixedValue(value)
        if isinstance(value, int | Fraction | Decimal) and not isinstance(value, bool):
            shown = FixedNumber(Fraction(value))
        branches += [operation(Operator.EQUAL, term, FixedNumber(Fraction(place))), shown]
    return Operation(Operator.CASE, (*branches, FixedValue(None)))
