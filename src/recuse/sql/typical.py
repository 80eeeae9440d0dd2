"""About how large one row's value is, as far as the policy says so: where levels of a sum begin to cost.

Nothing rests on it but accuracy. It follows from query, policy and catalogue, never from a row (proofs.md,
theorem R10).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from sqlglot import exp

from recuse.sql.measure import Measure
from recuse.sql.placeholder import Released
from recuse.sql.query import Block, Scalar, Scan

UNSAID = Fraction(1)
"""the size of what nobody says anything of: prices, ratings and hours are about that large, or larger"""
INNER = (exp.Paren, exp.Neg, exp.Abs, exp.Cast, exp.TryCast, exp.Round, exp.Floor, exp.Ceil)
LARGEST = 10**30


def typical_value(measure: Measure) -> Fraction:
    """Return about how large the value of a row is: of several kinds of rows the largest."""
    sizes = (_size(block.weight, _said(block)) for block in measure.blocks if block.weight is not None)
    found = max((size for size in sizes if size), default=UNSAID)
    return min(max(found, Fraction(1, LARGEST)), Fraction(LARGEST))


def is_sized(measure: Measure) -> bool:
    """Return whether the policy says how large any column is that values are made of."""
    return any(
        _said(block)(column) is not None
        for block in measure.blocks
        if block.weight is not None
        for column in block.weight.find_all(exp.Column)
    )


SaidSize = Callable[[exp.Column], Fraction | None]


def _said(block: Block) -> SaidSize:
    """Return what the policy says of the columns of a block."""
    tables = {source.alias: source.table for source in block.sources if isinstance(source, Scan)}

    def said(column: exp.Column) -> Fraction | None:
        table = tables.get(column.table)
        held = None if table is None else table.column(column.name)
        return None if held is None else held.typical

    return said


def _size(value: Scalar, said: SaidSize) -> Fraction:
    """Return the size of a value; 0 if it says nothing, as NULL and numbers that are released first do."""

    def of(part: exp.Expr) -> Fraction:
        return _size(part, said)

    match value:
        case exp.Column():
            return said(value) or UNSAID
        case exp.Literal():
            return UNSAID if value.is_string else abs(Fraction(value.this))
        case exp.Mul():
            return of(value.left) * of(value.right)
        case exp.Div():
            return of(value.left) / (of(value.right) or 1)
        case exp.Add() | exp.Sub():
            return max(of(value.left), of(value.right))
        case exp.Coalesce() | exp.Greatest() | exp.Least():
            return max(map(of, (value.this, *value.expressions)))
        case exp.Case():
            results = [branch.args["true"] for branch in value.args["ifs"]]
            return max(map(of, [*results, value.args.get("default") or exp.Null()]))
        case exp.Null() | Released():
            return Fraction(0)
    return of(value.this) if isinstance(value, INNER) else UNSAID
