"""Comparisons with the COUNT or SUM of a subquery → thresholds, a step for every number where they change.

    COUNT(*) >= 20         twenty rows                                     FALSE, TRUE
    COUNT(*) = 20          twenty rows, then twenty-one                    FALSE, TRUE, FALSE
    COUNT(*) IN (2, 4)     two rows, then three, four, five                FALSE, TRUE, FALSE, TRUE, FALSE
    SUM(x) < 5             a row with a value, then values of 5 together   NULL, TRUE, FALSE

COUNT of nothing is 0, SUM of nothing NULL. Values that may be below 0 are refused: a row more could lift the
sum over a threshold or take it below.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

from sqlglot import exp

from recuse.scalars.expression import Constant
from recuse.scalars.types import Number
from recuse.sql.truths import Truth

Test = Callable[[Fraction], bool]
"""what a comparison says of a total"""

OPERATORS: dict[type[exp.Expr], Callable[[Fraction, Fraction], bool]] = {
    exp.EQ: operator.eq,
    exp.NEQ: operator.ne,
    exp.LT: operator.lt,
    exp.LTE: operator.le,
    exp.GT: operator.gt,
    exp.GTE: operator.ge,
}
MIRRORED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.EQ: exp.EQ,
    exp.NEQ: exp.NEQ,
    exp.LT: exp.GT,
    exp.GT: exp.LT,
    exp.LTE: exp.GTE,
    exp.GTE: exp.LTE,
}
SHOWN = "shown"
"""the note on the rows of a group that says by which name its set is known; no text can write it"""


@dataclass(frozen=True, slots=True)
class Total:
    """A COUNT or SUM over the rows of a subquery: of what, of distinct values or not, and what of nothing."""

    call: exp.AggFunc
    argument: exp.Expr | None
    distinct: bool
    empty: Truth | int
    """0, or None if the total of nothing is NULL"""

    @classmethod
    def of(cls, node: exp.Expr) -> Self | None:
        """Return the total that a selected expression is, None if it is none."""
        empty: int | None = None
        if isinstance(node, exp.Coalesce) and _is_zero(node.expressions):
            node, empty = node.this.unnest(), 0
        if isinstance(node, exp.CountIf):  # DuckDB adds up truth values: NULL if all of them are
            return cls(node, node.this, distinct=False, empty=empty)
        if not isinstance(node, exp.Count | exp.Sum) or node.this is None:
            return None
        distinct = isinstance(node.this, exp.Distinct)
        arguments = node.this.expressions if distinct else [node.this, *node.expressions]
        if len(arguments) != 1 or (distinct and (isinstance(node, exp.Sum) or node.this.args.get("on"))):
            return None
        star = isinstance(arguments[0], exp.Star)
        counts = isinstance(node, exp.Count)
        return cls(node, None if star else arguments[0], distinct, 0 if counts else empty)

    @property
    def is_sum(self) -> bool:
        """Whether values are added up."""
        return isinstance(self.call, exp.Sum | exp.CountIf)


@dataclass(frozen=True, slots=True)
class TotalTest:
    """A comparison of the total of a subquery with numbers: the subquery, and what stands beside it."""

    inner: exp.Expr
    kind: type[exp.Expr]
    beside: tuple[exp.Expr, ...]

    @classmethod
    def of(cls, node: exp.Expr) -> Self | None:
        """Return the comparison that a node is, None if it is none."""
        if isinstance(node, exp.Between) and is_total(node.this):
            found = cls(node.this, exp.Between, (node.args["low"], node.args["high"]))
        elif isinstance(node, exp.In) and node.expressions and is_total(node.this):
            found = cls(node.this, exp.In, tuple(node.expressions))
        elif not isinstance(node, exp.Binary) or type(node) not in OPERATORS:
            return None
        elif is_total(node.args["this"]):
            found = cls(node.args["this"], type(node), (node.args["expression"],))
        elif is_total(node.args["expression"]):
            found = cls(node.args["expression"], MIRRORED[type(node)], (node.args["this"],))
        else:
            return None
        return found if all(map(_is_written_down, found.beside)) else None

    def test(self, constants: Sequence[Fraction]) -> Test:
        """Return what the comparison with these numbers says of a total."""
        if self.kind is exp.Between:
            low, high = constants
            return lambda total: low <= total <= high
        if self.kind is exp.In:
            return lambda total: total in constants
        (constant,) = constants
        return lambda total: OPERATORS[self.kind](total, constant)


def is_total(node: exp.Expr) -> bool:
    """Return whether a node is (SELECT COUNT(…) …) or (SELECT SUM(…) …)."""
    query = node.unnest()
    if not isinstance(node, exp.Subquery) or not isinstance(query, exp.Select):
        return False
    return len(query.expressions) == 1 and Total.of(query.expressions[0].unalias()) is not None


def breakpoints(test: Test, constants: Sequence[Fraction]) -> list[int]:
    """Return the whole totals from 1 on at which a comparison changes.

    >>> breakpoints(lambda total: total == 20, [Fraction(20)])
    [20, 21]
    """
    near = {math.floor(constant) + step for constant in constants for step in (0, 1)}
    return sorted(n for n in near if n >= 1 and test(Fraction(n)) is not test(Fraction(n - 1)))


def constant_of(found: object) -> Fraction | None:
    """Return the number that a typed expression is, None if it is none."""
    if not isinstance(found, Constant) or not isinstance(found.type, Number):
        return None
    return None if found.value is None else Fraction(found.value) / 10**found.type.scale


def _is_written_down(node: exp.Expr) -> bool:
    return node.find(exp.Column, exp.Query) is None


def _is_zero(nodes: Sequence[exp.Expr]) -> bool:
    return len(nodes) == 1 and isinstance(nodes[0], exp.Literal) and nodes[0].name == "0"
