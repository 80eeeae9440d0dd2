"""Predicates over subqueries → levels that rise as rows of the subquery appear, and what each level says.

    EXISTS (Q)             a row                                                    FALSE, TRUE
    x IN (Q), x op ANY     a row with x op y TRUE or NULL, then TRUE                FALSE, NULL, TRUE
    x op ALL (Q)           a row with x op y FALSE or NULL, then FALSE              TRUE, NULL, FALSE
    x op (SELECT MIN(y))   a row with a value, then one with y ≤ x, then with y < x NULL, then as op says
    (SELECT COUNT(*)) op n as many rows as n, and one more                         (`totals`)

Every step is an OR over rows, so it is positive; the predicate itself need not be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Self

from sqlglot import exp

from recuse.errors import QueryError
from recuse.scalars.types import Float, Number
from recuse.sql.absences import absorbed
from recuse.sql.asks import NEGATED, is_extreme, is_extreme_comparison
from recuse.sql.counted import counted
from recuse.sql.division import all_have
from recuse.sql.elaborate import Elaborator, type_of
from recuse.sql.own import completed, filled, settled
from recuse.sql.position import refusal, span
from recuse.sql.query import Block, BlockSource, Scalar
from recuse.sql.refuse import READ, refuse_clauses
from recuse.sql.render import native_in
from recuse.sql.scalar_subquery import ScalarSubquery
from recuse.sql.schema import Schema
from recuse.sql.scope import Scope
from recuse.sql.sets import MAX_BRANCHES
from recuse.sql.totals import MIRRORED, SHOWN, Total, TotalTest, constant_of
from recuse.sql.truths import Truth
from recuse.sql.walk import below, type_lookup

Subquery = Callable[[exp.Expr, Scope], tuple[Block, ...]]
"""reads a query inside a scope: its blocks, with their outputs"""
ReadValue = Callable[[exp.Expr, Scope], Scalar]
"""reads a value of a row"""

BESIDE_MINIMUM: dict[type[exp.Expr], tuple[Truth, ...]] = {  # x below, at and above the least y
    exp.LT: (None, True, False, False),
    exp.LTE: (None, True, True, False),
    exp.EQ: (None, False, True, False),
    exp.NEQ: (None, True, False, True),
    exp.GTE: (None, False, True, True),
    exp.GT: (None, False, False, True),
}
NESTED = (
    "a negation inside a subquery on private tables can make rows appear and disappear many times",
    "negate in the outermost WHERE only: COUNT(*) … WHERE x IN (…) AND x NOT IN (…); "
    "who has all of a list has as many of it as there are: (SELECT COUNT(DISTINCT x) …) = 7",
)


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate over a subquery: `steps[k]` are the branches of which a row lifts it to level k + 1.

    Each step implies the one before; `outcomes` says what the predicate is at each level.
    """

    steps: tuple[tuple[Block, ...], ...]
    outcomes: tuple[Truth, ...]
    native: Scalar | None = None
    """the same in plain SQL, where all of it is public or own"""

    def reduced(self) -> Self:
        """Return the predicate without steps that change nothing."""
        kept = [k for k in range(len(self.steps)) if self.outcomes[k] is not self.outcomes[k + 1]]
        outcomes = (self.outcomes[0], *(self.outcomes[k + 1] for k in kept))
        return replace(self, steps=tuple(self.steps[k] for k in kept), outcomes=outcomes)

    def branches(self) -> Iterator[Block]:
        """Yield the branches of all steps."""
        for step in self.steps:
            yield from step


@dataclass(frozen=True, slots=True)
class Predicates:
    """A reader of predicates over subqueries."""

    schema: Schema
    subquery: Subquery
    value: ReadValue
    sources: list[BlockSource]
    """all that the reader has met; own subqueries add to them"""

    def read(self, node: exp.Expr, scope: Scope) -> Predicate:
        """Return the predicate that a node is (`is_subquery_predicate`, `is_extreme_comparison`)."""
        if isinstance(node, exp.Exists):
            blocks = [replace(block, outputs=()) for block in self.subquery(node.this, scope)]
            return Predicate((absorbed(blocks),), (False, True))
        if is_extreme_comparison(node):
            return self._beside_extreme(node, scope).reduced()
        asked = TotalTest.of(node)
        if asked is not None:
            return self._beside_total(asked, node, scope).reduced()
        return self._membership(node, scope)

    def settled(self, predicate: Predicate, scope: Scope) -> Scalar | None:
        """Return the predicate as a condition on the row alone, if nobody else can change it."""
        if predicate.native is not None:
            return predicate.native
        steps: list[Scalar] = []
        for step in predicate.steps:
            found = settled(step, scope.around, self.schema, self.sources)
            if found is None:
                return None
            steps.append(found)
        if predicate.outcomes == (False, True):
            return steps[0]
        ifs = [
            exp.If(this=step, true=_written(outcome))
            for step, outcome in zip(reversed(steps), reversed(predicate.outcomes[1:]), strict=True)
        ]
        return exp.Case(ifs=ifs, default=_written(predicate.outcomes[0]))

    def divided(self, predicate: Predicate) -> Predicate:
        """Return EXISTS of public rows that lack something as what it is: not all of them have it."""
        if predicate.outcomes != (False, True) or len(predicate.steps[0]) != 1:
            return predicate
        ((block,),) = predicate.steps
        every = all_have(block, self.schema, type_lookup(self.sources))
        return predicate if every is None else Predicate(((every,),), (True, False))

    def refuse_nested(self, predicate: Predicate, node: exp.Expr) -> None:
        """Refuse a predicate on private rows that itself depends on rows being absent."""
        if any(block.absent for block in below(predicate.branches())):
            raise self._refuse(NESTED[0], node, NESTED[1])

    # -------------------------------------------------------------- IN, ANY, ALL

    def _membership(self, node: exp.Expr, scope: Scope) -> Predicate:
        left = node.this
        wanted = left.expressions if isinstance(left, exp.Tuple) else [left.unnest()]
        values = [self.value(item, scope) for item in wanted]
        kind = exp.EQ if isinstance(node, exp.In) else type(node)
        if kind not in NEGATED:
            raise self._refuse("this comparison with ANY is not accepted", node, "use =, <>, <, <=, > or >=")
        every = not isinstance(node, exp.In) and isinstance(node.expression, exp.All)
        if len(values) > 1 and (kind is not exp.EQ or every):
            raise self._refuse("rows are compared by IN only", node, "write (a, b) IN (SELECT …)")
        inner = node.args["query"] if isinstance(node, exp.In) else node.expression.this
        blocks = absorbed(self.subquery(inner, scope))
        if any(len(block.outputs) != len(values) for block in blocks):
            raise self._refuse(
                "the subquery returns another number of columns than it is compared with",
                node,
                "return as many columns as stand on the left",
            )
        compared = NEGATED[kind] if every else kind
        sure = tuple(_under(block, _compared(compared, values, block)) for block in blocks)
        unsure = tuple(
            _under(block, conditions)
            for block in blocks
            for conditions in self._unsure(compared, values, block, scope)
        )
        if len(unsure) + len(sure) > MAX_BRANCHES:
            raise self._refuse("too many columns that may be NULL are compared", node, "write EXISTS (…)")
        first, last = (True, False) if every else (False, True)
        own = completed(blocks, scope.around, self.schema, self.sources)
        alone = isinstance(node, exp.In) and len(values) == 1
        native = native_in(values[0], own) if alone and own is not None else None
        if not unsure:
            return Predicate((sure,), (first, last), native)
        return Predicate(((*sure, *unsure), sure), (first, None, last), native)

    def _unsure(
        self, kind: type[exp.Expr], values: Sequence[Scalar], block: Block, scope: Scope
    ) -> Iterator[list[Scalar]]:
        """Yield conditions that hold, one or several at once, where the comparison is NULL but not FALSE.

        NULLs are told apart, so that an equality stays one that an engine can join by.
        """
        others = [output.value for output in block.outputs]
        never = filled([*values, *others], block, scope.around, self.schema, self.sources)
        options = [
            list(self._options(kind, value, other, never))
            for value, other in zip(values, others, strict=True)
        ]
        for chosen in product(*options):
            if any(place for place, _ in chosen):
                yield [condition for _, condition in chosen]

    def _options(
        self, kind: type[exp.Expr], value: Scalar, other: Scalar, never: Sequence[Scalar]
    ) -> Iterator[tuple[int, Scalar]]:
        compared = kind(this=value.copy(), expression=other.copy())
        yield 0, compared
        if not self._is_null_safe(value, other):
            yield 1, _is_null(compared)
            return
        for place, side in enumerate((other, value), start=1):
            if side not in never:
                yield place, _is_null(side)

    def _is_null_safe(self, value: Scalar, other: Scalar) -> bool:
        """Return whether a comparison is NULL only where a side is: no conversion can lose a value."""
        kinds = [type_of(side, type_lookup(self.sources)) for side in (value, other)]
        whole = all(isinstance(kind, Number) and kind.scale == 0 for kind in kinds)
        return whole or kinds[0] == kinds[1]

    # -------------------------------------------------------------- MIN and MAX

    def _beside_extreme(self, node: exp.Expr, scope: Scope) -> Predicate:
        kind = type(node)
        value, inner = node.this, node.expression
        if is_extreme(value):
            value, inner, kind = inner, value, MIRRORED[kind]
        summary = ScalarSubquery.of(inner.unnest(), self.schema.text)
        blocks = absorbed(self.subquery(summary.rows, scope))
        found = self.value(value, scope)
        own = completed(blocks, scope.around, self.schema, self.sources)
        if own is not None:
            native = kind(this=found.copy(), expression=summary.value(own, type_lookup(self.sources)))
            return Predicate((), (None,), native)
        sides = [found, *(block.outputs[0].value for block in blocks)]
        kinds = {type(type_of(side, type_lookup(self.sources))) for side in sides}
        if len(kinds) > 1 and kinds != {Number, Float}:
            raise self._refuse("what is compared is of two types", node, "cast both sides to one type")
        least = isinstance(summary.output, exp.Min)
        reached, passed = (exp.LTE, exp.LT) if least else (exp.GTE, exp.GT)
        steps = [
            tuple(_under(block, [made(block.outputs[0].value)]) for block in blocks)
            for made in (
                lambda y: exp.Not(this=_is_null(reached(this=y.copy(), expression=found.copy()))),
                lambda y: reached(this=y.copy(), expression=found.copy()),
                lambda y: passed(this=y.copy(), expression=found.copy()),
            )
        ]
        return Predicate(tuple(steps), BESIDE_MINIMUM[kind if least else MIRRORED[kind]])

    # -------------------------------------------------------------- COUNT and SUM

    def _beside_total(self, asked: TotalTest, node: exp.Expr, scope: Scope) -> Predicate:
        query = asked.inner.unnest()
        elaborator = Elaborator(type_lookup(self.sources), self.schema.text, self.schema.catalogue.macros)
        numbers = [constant_of(elaborator.expression(self.value(side, scope))) for side in asked.beside]
        constants = [number for number in numbers if number is not None]
        total = Total.of(query.expressions[0].unalias())
        if total is None or len(constants) < len(numbers):
            raise self._refuse("a total is compared with numbers here", node, "write COUNT(*) >= 20")
        refuse_clauses(query, self.schema.text, READ)
        rows = query.copy()
        rows.set("expressions", [exp.Literal.number(1) if total.argument is None else total.argument.copy()])
        blocks = self.subquery(rows, scope)
        shown = query.meta.get(SHOWN)
        entry = scope.entry(shown) if shown is not None else None
        shows = entry.columns[0][1].text("table") if entry is not None else None
        kept = absorbed(blocks) if total.distinct else blocks
        counting = counted(kept, total, shows, type_lookup(self.sources), self.schema.text)
        steps, outcomes = counting.steps(asked.test(constants), constants)
        native = None if steps else _written(outcomes[0])
        return Predicate(steps, outcomes, native)

    def _refuse(self, problem: str, node: exp.Expr, hint: str) -> QueryError:
        return refusal(problem, self.schema.text, span(node, self.schema.text), hint=hint)


def _compared(kind: type[exp.Expr], values: Sequence[Scalar], block: Block) -> list[Scalar]:
    pairs = zip(values, block.outputs, strict=True)
    return [kind(this=value.copy(), expression=output.value.copy()) for value, output in pairs]


def _under(block: Block, conditions: Sequence[Scalar]) -> Block:
    return replace(block, conditions=(*block.conditions, *conditions))


def _written(outcome: Truth) -> exp.Expr:
    return exp.Null() if outcome is None else exp.Boolean(this=outcome)


def _is_null(value: Scalar) -> Scalar:
    return exp.Is(this=exp.paren(value.copy()), expression=exp.Null())
