"""Aggregates whose answer is one of the rows' values: MAX, MIN, MEDIAN and every other quantile.

MAX(x), MIN(x)                                   no clipping bound
MEDIAN(x), QUANTILE(x, q), QUANTILE_CONT, _DISC  q a number between 0 and 1
QUANTILE_CONT(x, q ORDER BY x)                   the same; DESC counts from the other end
PERCENTILE_CONT(q) WITHIN GROUP (ORDER BY x)     the same; DESC counts from the other end
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from typing import Self

from sqlglot import exp

from recuse.privacy import decimal_text
from recuse.scalars.types import Boolean, Date, Number, Timestamp, Type, words
from recuse.sql.aggregates import in_granules
from recuse.sql.elaborate import Lookup, is_number
from recuse.sql.formula import ORIGIN
from recuse.sql.listed import literal_value
from recuse.sql.query import Block, Scalar
from recuse.sql.schema import Schema


class Unit(Enum):
    """What values are counted in: granules of the policy, or days and seconds from a public origin.

    Whole numbers are told to one, if the policy's granules are smaller than that.
    """

    GRANULE = "granule"
    WHOLE = "one"
    DAY = "day"
    SECOND = "second"


def _since(value: Scalar, unit: Unit) -> Scalar:
    """Return the days or seconds from the origin to a moment."""
    origin = exp.cast(exp.Literal.string(ORIGIN.isoformat()), "date" if unit is Unit.DAY else "timestamp")
    return exp.DateDiff(this=exp.paren(value.copy()), expression=origin, unit=exp.var(unit.value))


@dataclass(frozen=True, slots=True)
class OrderedValue:
    """A value at a place in the order of all: the largest, the smallest, or one below which a part lies.

    `rank` is None for the largest and the smallest; `sign` is -1 where values are taken with their signs
    turned, so that the smallest is the largest.
    """

    word: str
    rank: Fraction | None
    sign: int = 1
    unit: Unit = Unit.GRANULE

    signed, weighed, placed, whole = True, False, True, False

    def rows(self, block: Block, values: Sequence[Scalar]) -> Block:
        """Return the rows in which the argument is not NULL."""
        return block.known(values)

    def value(self, values: Sequence[Scalar]) -> Scalar | None:
        """Return the argument."""
        return values[0]

    def refuses(self, kind: Type) -> str | None:
        """Return why there is no such value of a type that is no number and no moment."""
        if isinstance(kind, Date | Timestamp) or (is_number(kind) and not isinstance(kind, Boolean)):
            return None
        return f"this is {words(kind)}, and {self.word} needs numbers, dates or timestamps"

    def suited(self, kind: Type) -> Self:
        """Return the same of values of a type."""
        if isinstance(kind, Number):
            return replace(self, unit=Unit.GRANULE if kind.scale else Unit.WHOLE)
        units = {Date: Unit.DAY, Timestamp: Unit.SECOND}
        return replace(self, unit=units.get(type(kind), Unit.GRANULE))

    @property
    def is_moment(self) -> bool:
        """Whether its values are dates or timestamps."""
        return self.unit in (Unit.DAY, Unit.SECOND)

    def weight(self, value: Scalar | None, schema: Schema, lookup: Lookup) -> Scalar:
        """Return the value in whole granules, its sign turned where it must be."""
        if value is None:
            return exp.Literal.number(1)
        if not self.is_moment:
            turned = value if self.sign > 0 else exp.Neg(this=exp.paren(value.copy()))
            return in_granules(turned, self.granularity(schema), lookup)
        since = _since(value, self.unit)
        return exp.cast(since if self.sign > 0 else exp.Neg(this=exp.paren(since)), "bigint")

    def plain(self, value: Scalar) -> exp.Expr:
        """Return the aggregate in ordinary SQL."""
        if self.rank is None:
            return exp.Max(this=value) if self.sign > 0 else exp.Min(this=value)
        return exp.PercentileDisc(this=value, expression=exp.Literal.number(decimal_text(self.rank)))

    def granularity(self, schema: Schema) -> Fraction:
        """Return the unit that the policy gives sums; of whole numbers one at least, and of moments one."""
        if self.is_moment:
            return Fraction(1)
        return max(schema.granularity, Fraction(1)) if self.unit is Unit.WHOLE else schema.granularity

    def words(self, schema: Schema) -> str:
        """Return what is asked, and its unit."""
        unit = f"in units of {decimal_text(self.granularity(schema))}"
        if self.is_moment:
            unit = f"to the {self.unit.value}"
        if self.rank is None:
            return f"the {'largest' if self.sign > 0 else 'smallest'} value, {unit}"
        return f"the value below which {decimal_text(100 * self.rank)} % of the rows lie, {unit}"


MAX = OrderedValue("MAX", None)
MIN = OrderedValue("MIN", None, sign=-1)


@dataclass(frozen=True, slots=True)
class OrderedCall:
    """A call of such an aggregate: which, and of what."""

    aggregate: OrderedValue
    argument: exp.Expr


def ordered_call(call: exp.Expr) -> OrderedCall | exp.Expr | None:
    """Return what is called; the part that is not understood; None if it is no call of this kind."""
    match call:
        case exp.Max() | exp.Min():
            kind = MAX if isinstance(call, exp.Max) else MIN
            return OrderedCall(kind, call.this) if not _more(call) else call
        case exp.Median():
            return OrderedCall(_quantile(Fraction(1, 2)), call.this)
        case exp.PercentileCont() | exp.PercentileDisc() if call.expression:
            return _ranked(call)
        case exp.Quantile() | exp.ApproxQuantile() if not set(_held(call)) - {"this", "quantile"}:
            return _at(call.args["quantile"], call.this)
        case exp.WithinGroup(this=exp.PercentileCont() | exp.PercentileDisc()):
            terms = call.expression.expressions
            if len(terms) != 1 or call.this.expression:
                return call
            return _at(call.this.this, terms[0].this, backwards=bool(terms[0].args.get("desc")))
    return None


def _ranked(call: exp.Expr) -> OrderedCall | exp.Expr:
    """Return QUANTILE_CONT(x, q), which may say once more that it is ordered by x."""
    order = call.expression
    if not isinstance(order, exp.Order):
        return _at(order, call.this)
    terms = order.expressions
    if len(terms) != 1 or terms[0].this != call.this:
        return call
    return _at(order.this, call.this, backwards=bool(terms[0].args.get("desc")))


def _at(rank: exp.Expr, argument: exp.Expr, *, backwards: bool = False) -> OrderedCall | exp.Expr:
    found = literal_value(rank)
    if not isinstance(found, int | Fraction) or isinstance(found, bool) or not 0 <= found <= 1:
        return rank
    return OrderedCall(_quantile(1 - Fraction(found) if backwards else Fraction(found)), argument)


def _quantile(rank: Fraction) -> OrderedValue:
    """Return a quantile; the ends of the order are the smallest and the largest value."""
    if rank in (0, 1):
        return MAX if rank else MIN
    return OrderedValue(f"QUANTILE {decimal_text(rank)}", rank)


def _more(call: exp.Expr) -> bool:
    """Return whether a call has more arguments than the one."""
    return _held(call) != ["this"]


def _held(call: exp.Expr) -> list[str]:
    return [key for key, value in call.args.items() if value]
