"""The aggregates, each a frozen value; AVG is SUM divided by COUNT. A new one is a class and a registration.

AGGREGATES   how SQL calls them → the aggregates that are asked; of several, each is divided by the next
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from sqlglot import exp

from recuse.privacy import decimal_text
from recuse.scalars.types import Boolean, Type, words
from recuse.sql.elaborate import Lookup, is_number, type_of
from recuse.sql.measure import Aggregate
from recuse.sql.query import Block, Scalar
from recuse.sql.schema import Schema


@dataclass(frozen=True, slots=True)
class RowCount:
    """COUNT: every row weighs 1; with arguments, the rows in which none of them is NULL."""

    word = "COUNT"
    signed, weighed, placed, whole = False, False, False, True

    def rows(self, block: Block, values: Sequence[Scalar]) -> Block:
        """Return the rows in which no argument is NULL."""
        return block.known(values)

    def value(self, _: Sequence[Scalar]) -> Scalar | None:
        """Return nothing: a row counts, whatever its values are."""
        return None

    def refuses(self, _: Type) -> str | None:
        """Return nothing: rows are counted whatever their type."""
        return None

    def suited(self, _: Type) -> Self:
        """Return the same: rows are counted whatever their type."""
        return self

    def weight(self, _value: Scalar | None, _schema: Schema, _lookup: Lookup) -> Scalar:
        """Return 1."""
        return exp.Literal.number(1)

    def plain(self, _: Scalar) -> exp.Expr:
        """Return COUNT(*)."""
        return exp.Count(this=exp.Star())

    def granularity(self, _: Schema) -> Fraction:
        """Return 1: rows are whole."""
        return Fraction(1)

    def words(self, _: Schema) -> str:
        """Return what is asked."""
        return "how many rows there are"


@dataclass(frozen=True, slots=True)
class ValueSum:
    """SUM: a row weighs its value in whole granules, rounded row by row; NULL weighs nothing."""

    signed: bool = True

    word = "SUM"
    weighed, placed, whole = True, False, False

    def rows(self, block: Block, _: Sequence[Scalar]) -> Block:
        """Return all rows."""
        return block

    def value(self, values: Sequence[Scalar]) -> Scalar | None:
        """Return the argument."""
        return values[0]

    def refuses(self, kind: Type) -> str | None:
        """Return why there is no sum of values of a type that is no number."""
        return None if is_number(kind) else f"this is {words(kind)}, and a sum needs numbers"

    def suited(self, _: Type) -> Self:
        """Return the same: numbers are added whatever their type."""
        return self

    def weight(self, value: Scalar | None, schema: Schema, lookup: Lookup) -> Scalar:
        """Return the value divided by the granularity and rounded.

        What does not fit 64 bits, NaN, infinities and failed rows are NULL, and SUM ignores NULL.
        """
        if value is None:
            return exp.Literal.number(1)
        return in_granules(value, schema.granularity, lookup)

    def plain(self, value: Scalar) -> exp.Expr:
        """Return SUM(value)."""
        return exp.Sum(this=value)

    def granularity(self, schema: Schema) -> Fraction:
        """Return the unit that the policy gives sums."""
        return schema.granularity

    def words(self, schema: Schema) -> str:
        """Return what is asked, and its unit."""
        kind = "a signed sum" if self.signed else "a sum of values that are never below 0"
        return f"{kind}, in units of {decimal_text(schema.granularity)}"


def in_granules(value: Scalar, granularity: Fraction, lookup: Lookup) -> Scalar:
    """Return a value in whole granules of 64 bits, rounded; NULL where it does not fit."""
    return exp.cast(_scaled(value, 1 / granularity, lookup), "bigint")


def _scaled(value: Scalar, factor: Fraction, lookup: Lookup) -> Scalar:
    """Return the value times a number."""
    if isinstance(type_of(value, lookup), Boolean):
        value = exp.cast(value.copy(), "tinyint")
    if factor == 1:
        return value.copy()
    return exp.Mul(this=exp.paren(value.copy()), expression=exp.Literal.number(decimal_text(factor)))


COUNT = RowCount()
SUM = ValueSum()
SUM_OF_NONNEGATIVE = ValueSum(signed=False)
"""where query and catalogue prove that no value lies below 0: truncation can only lower it"""
AGGREGATES: dict[type[exp.AggFunc], tuple[Aggregate, ...]] = {
    exp.Count: (COUNT,),
    exp.Sum: (SUM,),
    exp.Avg: (SUM, COUNT),
}
