"""What an expression over answers says: a formula, and what its values are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from recuse.sql.formula import FixedValue, Formula, Operation, Operator, operation
from recuse.sql.kinds import ColumnKind


@dataclass(frozen=True, slots=True)
class Said:
    """A formula and the kind of its values; NULL by itself has none."""

    formula: Formula
    kind: ColumnKind | None


Begin = Callable[[exp.Expr], Said | None]
"""returns what a formula can begin with: an aggregate, a key, a column; None if a node is none of them"""


NULL = Said(FixedValue(None), None)


def formulas_of(said: Sequence[Said]) -> tuple[Formula, ...]:
    return tuple(one.formula for one in said)


def truth_said(operator: Operator, *said: Said) -> Said:
    return Said(Operation(operator, formulas_of(said)), ColumnKind.BOOLEAN)


def negated(said: Said) -> Said:
    return Said(operation(Operator.NOT, said.formula), ColumnKind.BOOLEAN)


def pair_of(condition: Formula, value: Formula) -> tuple[Formula, Formula]:
    """Return the branch of a CASE for a condition that is false."""
    return operation(Operator.NOT, condition), value


def common_kind(said: Sequence[Said]) -> ColumnKind | None:
    """Return the kind of values of which each may be the result."""
    kinds = {one.kind for one in said if one.kind is not None}
    if len(kinds) <= 1:
        return next(iter(kinds), None)
    return ColumnKind.NUMBER if all(kind.is_number for kind in kinds) else ColumnKind.TIMESTAMP


def words_of(kind: ColumnKind) -> str:
    return {
        ColumnKind.INTEGER: "a number",
        ColumnKind.NUMBER: "a number",
        ColumnKind.TEXT: "text",
        ColumnKind.BOOLEAN: "a truth value",
        ColumnKind.DATE: "a date",
        ColumnKind.TIMESTAMP: "a timestamp",
        ColumnKind.TIME: "a time",
        ColumnKind.UUID: "a UUID",
    }.get(kind, "another value")
