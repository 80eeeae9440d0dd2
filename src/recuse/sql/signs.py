"""Which values are never below 0, as far as types, checks, the policy and conditions of the query say so."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from sqlglot import exp

from recuse.scalars.types import Boolean, Number
from recuse.sql.elaborate import Lookup, type_of
from recuse.sql.formula import FixedNumber, Formula, Operator, operation
from recuse.sql.measure import Measure
from recuse.sql.query import Block, Scalar, Scan

NEVER_NEGATIVE = (exp.Abs, exp.Length)
TELLING = 1000
"""an end of a type that lies farther out is that of its storage, and says nothing of its values"""


def never_negative(value: Scalar, block: Block, lookup: Lookup) -> bool:
    """Return whether a value of a block's rows is never below 0; it may be NULL.

    Guarantee: it follows from the query, the policy and the catalogue, never from a row. Nothing private
    rests on it: a value below 0 that was declared away counts for nothing, row by row.
    """
    value = value.unnest()
    kind = type_of(value, lookup)
    if isinstance(kind, Boolean) or (isinstance(kind, Number) and kind.low >= 0):
        return True

    def proved(part: exp.Expr) -> bool:
        return never_negative(part, block, lookup)

    match value:
        case exp.Column():
            return _checked(value, block) or any(_states(c, value) for c in block.conditions)
        case exp.Greatest():
            return any(_is_number(part) and proved(part) for part in (value.this, *value.expressions))
        case exp.Least() | exp.Coalesce():
            return all(map(proved, (value.this, *value.expressions)))
        case exp.Case():
            results = [branch.args["true"] for branch in value.args["ifs"]]
            default = value.args.get("default") or exp.Null()
            return all(isinstance(result, exp.Null) or proved(result) for result in [*results, default])
        case exp.Mul() if value.left.unnest() == value.right.unnest():
            return True
        case exp.Add() | exp.Mul():
            return proved(value.left) and proved(value.right)
        case exp.Cast() | exp.TryCast():
            return proved(value.this)
    return isinstance(value, NEVER_NEGATIVE)


def none_weighs_less_than_nothing(blocks: Sequence[Block], lookup: Lookup) -> bool:
    """Return whether no row of some blocks brings a value below 0, as far as it can be proved."""
    return all(b.weight is not None and never_negative(b.weight, b, lookup) for b in blocks)


def mean_where_values_are(mean: Formula, measure: Measure, lookup: Lookup) -> Formula:
    """Return a mean that keeps the ends of the values that it is one of, where these say anything."""
    found = [_ends(block.weight, lookup) for block in measure.blocks if block.weight is not None]
    ends = [pair for pair in found if pair is not None]
    if not ends or len(ends) < len(measure.blocks):
        return mean
    least, most = min(low for low, _ in ends), max(high for _, high in ends)
    if not measure.aggregate.signed:
        least = max(least, Fraction(0))
    if abs(least) <= TELLING:
        mean = operation(Operator.NOT_BELOW, mean, FixedNumber(least))
    return operation(Operator.NOT_ABOVE, mean, FixedNumber(most)) if abs(most) <= TELLING else mean


def _ends(value: Scalar, lookup: Lookup) -> tuple[Fraction, Fraction] | None:
    match type_of(value, lookup):
        case Boolean():
            return Fraction(0), Fraction(1)
        case Number(scale, low, high):
            return Fraction(low, 10**scale), Fraction(high, 10**scale)
    return None


def states_no_negative(node: exp.Expr) -> exp.Column | None:
    """Return the column of which a condition says that it is not below 0."""
    node = node.unnest()
    if isinstance(node, exp.Between):
        left, low = node.this.unnest(), node.args["low"]
        return left if isinstance(left, exp.Column) and _is_number(low) else None
    if isinstance(node, exp.LT | exp.LTE):
        node = exp.GTE(this=node.args["expression"], expression=node.this)
    if isinstance(node, exp.GT | exp.GTE):
        left, right = node.this.unnest(), node.args["expression"].unnest()
        return left if isinstance(left, exp.Column) and _is_number(right) else None
    return None


def _states(condition: Scalar, column: exp.Column) -> bool:
    for part in condition.unnest().flatten() if isinstance(condition.unnest(), exp.And) else [condition]:
        found = states_no_negative(part)
        if found is not None and (found.table, found.name) == (column.table, column.name):
            return True
    return False


def _checked(value: exp.Column, block: Block) -> bool:
    """Return whether the database enforces, or the policy declares, that a column is not below 0."""
    for source in block.sources:
        if isinstance(source, Scan) and source.alias == value.table:
            held = source.table.column(value.name)
            return held is not None and held.nonnegative
    return False


def _is_number(node: exp.Expr) -> bool:
    """Return whether a node is a number from 0 on that is written down."""
    node = node.unnest()
    return isinstance(node, exp.Literal) and not node.is_string
