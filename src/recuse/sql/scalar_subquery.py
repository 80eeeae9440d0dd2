"""A subquery that stands for one value: (SELECT MAX(x) FROM t), over public tables only.

Nobody can withdraw a public row, so the value is a function of the row that asks for it. A subquery that
returns several rows fails for that row, and what fails is NULL.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from sqlglot import exp

from recuse.errors import QueryError
from recuse.scalars.types import Number
from recuse.sql.elaborate import Lookup, type_of
from recuse.sql.position import refusal, span
from recuse.sql.query import Block, Scalar
from recuse.sql.refuse import READ, refuse_clauses
from recuse.sql.render import select, with_choices

SUMMARIES = (exp.Min, exp.Max, exp.Count, exp.Avg)
MOST_DIGITS = 19


@dataclass(frozen=True, slots=True)
class ScalarSubquery:
    """What is made of the rows of a subquery: an aggregate, or the value of the only one."""

    output: exp.Expr
    rows: exp.Select
    text: str

    @classmethod
    def of(cls, tree: exp.Query, text: str) -> Self:
        """Return how the one value is made, or refuse."""
        if not isinstance(tree, exp.Select) or len(tree.expressions) != 1:
            problem = "a subquery that stands for a value is one SELECT of one column"
            raise refusal(problem, text, span(tree, text), hint="return one column")
        output = tree.expressions[0].unalias()
        aggregates = list(_aggregates(output))
        rows = tree.copy()
        if aggregates:
            refuse_clauses(tree, text, READ)
            rows.set("expressions", [_argument(call) for call in aggregates])
        return cls(output, rows, text)

    @property
    def is_plain(self) -> bool:
        """Whether it is one aggregate that an engine makes alike of rows in any order, or no aggregate."""
        if not any(_aggregates(self.output)):
            return True
        return isinstance(self.output, SUMMARIES) and not isinstance(self.output.this, exp.Distinct)

    def value(self, blocks: Sequence[Block], lookup: Lookup) -> Scalar:
        """Return the subquery in plain SQL, given its rows."""
        if len(blocks) != 1:
            raise self._refuse("a value is made of one SELECT", "leave UNION ALL out")
        (block,) = blocks
        made = self._made(block.outputs[0].value.copy(), lookup)
        return exp.Subquery(this=select(with_choices(block), made))

    def _made(self, argument: Scalar, lookup: Lookup) -> Scalar:
        """Return the aggregate over its argument; without one, the only row's value."""
        if not any(_aggregates(self.output)):
            alone = exp.LTE(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(1))
            return exp.Case(ifs=[exp.If(this=alone, true=exp.Min(this=argument))])
        if not self.is_plain or not isinstance(self.output, SUMMARIES):
            problem = "this is not understood as the value of a subquery"
            raise self._refuse(problem, "compare with one MIN, MAX, COUNT or AVG")
        if isinstance(self.output, exp.Avg) and not _is_exact(argument, lookup):
            problem = "an average of these values depends on their order"
            raise self._refuse(problem, "cast them to DECIMAL(18, 3)")
        return type(self.output)(this=exp.Star() if isinstance(self.output.this, exp.Star) else argument)

    def _refuse(self, problem: str, hint: str) -> QueryError:
        return refusal(problem, self.text, span(self.output, self.text), hint=hint)


def _aggregates(node: exp.Expr) -> Iterator[exp.AggFunc]:
    """Yield the outermost aggregates, in order."""
    for part in node.walk(bfs=False, prune=lambda inner: isinstance(inner, exp.AggFunc | exp.Query)):
        if isinstance(part, exp.AggFunc):
            yield part


def _argument(call: exp.AggFunc) -> exp.Expr:
    return exp.Literal.number(1) if isinstance(call.this, exp.Star | exp.Distinct) else call.this.copy()


def _is_exact(argument: Scalar, lookup: Lookup) -> bool:
    """Return whether a sum of such values is exact, however many there are."""
    kind = type_of(argument, lookup)
    return isinstance(kind, Number) and kind.digits <= MOST_DIGITS
