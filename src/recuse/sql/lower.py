"""Statements over resolved expressions → SQL in which every expression is compiled to a total form.

Guarantee: whether the statement raises does not depend on rows: all that it computes is an expression of the
total language (proofs.md, "Row-wise expressions"), and the engine is left nothing to convert.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from sqlglot import exp

from recuse.errors import QueryError
from recuse.scalars.expression import Expression, Query
from recuse.scalars.function import Mistyped
from recuse.sql.dialect import DUCKDB, Dialect
from recuse.sql.elaborate import Asking, Body, Elaborator, Lookup
from recuse.sql.measure import Measure
from recuse.sql.native.inner import Inner, NativeRows
from recuse.sql.native.lower import NativeLowering
from recuse.sql.position import refusal, span
from recuse.sql.query import Block, BlockSource, Scalar, Scan, SetOf
from recuse.sql.render import alias, named, plain, reference, union
from recuse.sql.schema import Schema

Statement = TypeVar("Statement", bound=exp.Query)
CompiledAs = Callable[[Elaborator, exp.Expr], Expression]
Compiled = dict[tuple[int, CompiledAs], tuple[exp.Expr, str]]
"""what nodes were compiled to, by their identity and what they are read as; nodes are kept with it"""


@dataclass(frozen=True, slots=True)
class Lowering:
    """The compiler of a question's statements; `text` is what refusals point into.

    Measures, and the blocks of one, share most of their expressions, which nobody changes: what a node is
    compiled to is kept (`known`, by the node's identity), and rows are compiled without copying any.
    """

    lookup: Lookup
    text: str = ""
    dialect: Dialect = DUCKDB
    known: Compiled = field(default_factory=dict, compare=False, repr=False)

    def rows(self, block: Block, outputs: Iterable[Scalar]) -> exp.Select:
        """Return SELECT outputs FROM the block's sources WHERE its conditions, compiled; without choices."""
        shown = [self.output(output) for output in outputs]
        return self.selected(shown, block.sources, [*map(self.condition, block.conditions)])

    def selected(
        self, shown: list[exp.Expr], sources: Sequence[BlockSource], conditions: Sequence[exp.Expr]
    ) -> exp.Select:
        """Return SELECT … FROM the sources WHERE all conditions; what is compiled has its own parentheses."""
        statement = exp.Select(expressions=shown)
        if sources:
            first, *rest = sources
            statement.set("from_", exp.From(this=self._source(first)))
            statement.set("joins", [self._join(source) for source in rest])
        if conditions:
            statement.set("where", exp.Where(this=exp.and_(*conditions, copy=False, wrap=False)))
        return statement

    def _source(self, source: BlockSource) -> exp.Expr:
        if isinstance(source, SetOf):
            branches = [self.rows(branch, named(branch)) for branch in source.branches]
            return exp.Subquery(this=union(branches, distinct=True), alias=alias(source.alias))
        found = reference(source)
        self._query(found)
        return found

    def _join(self, source: BlockSource) -> exp.Join:
        if isinstance(source, Scan) and source.preserving is not None:
            return exp.Join(this=self._source(source), side="LEFT", on=self.condition(source.preserving))
        return exp.Join(this=self._source(source), kind="CROSS")

    def statement(self, tree: Statement) -> Statement:
        """Return the statement, which is used up, with every expression compiled."""
        self._query(tree)
        return tree

    def written_out(self, tree: Statement) -> Statement:
        """Return the statement, used up, as it is, but with the queries compiled that are run as they are."""

        def change(node: exp.Expr) -> exp.Expr:
            if isinstance(node, NativeRows):
                return exp.Var(this=self._native().query(node.args["query"]))
            return self.value(node) if isinstance(node, Inner) else node

        found: Statement = tree.transform(change, copy=False)  # type: ignore[assignment]  # no query becomes another
        return found

    def value(self, node: exp.Expr) -> exp.Expr:
        """Return a value, compiled."""
        return self._once(node, Elaborator.expression)

    def condition(self, node: exp.Expr) -> exp.Expr:
        """Return a condition, compiled."""
        return self._once(node, Elaborator.condition)

    def _once(self, node: exp.Expr, read: CompiledAs) -> exp.Expr:
        found = self.known.get((id(node), read))
        if found is None:
            expression = read(Elaborator(self.lookup, self.text), node)
            try:
                found = node, self.dialect.scalar(expression, self._body)
            except Mistyped as mistake:
                raise self._refused(mistake, node) from None
            self.known[id(node), read] = found
        return exp.Var(this=found[1])

    def _refused(self, mistake: Mistyped, node: exp.Expr) -> QueryError:
        return refusal(mistake.problem, self.text, span(node, self.text), hint=mistake.hint)

    def _query(self, tree: exp.Expr) -> None:
        if isinstance(tree, exp.SetOperation):
            self._query(tree.this)
            self._query(tree.expression)
        elif isinstance(tree, exp.Subquery) and isinstance(tree.this, NativeRows):
            tree.set("this", exp.Var(this=self._native().query(tree.this.args["query"])))
        elif isinstance(tree, exp.Subquery | exp.Lateral):
            self._query(tree.this)
        elif isinstance(tree, exp.Select):
            self._select(tree)

    def _select(self, tree: exp.Select) -> None:
        tree.set("expressions", [self.output(node) for node in tree.expressions])
        where = tree.args.get("where")
        if where is not None:
            tree.set("where", exp.Where(this=self.condition(where.this)))
        start = tree.args.get("from_")
        if start is not None:
            self._query(start.this)
        for join in tree.args.get("joins") or ():
            self._query(join.this)
            if join.args.get("on") is not None:
                join.set("on", self.condition(join.args["on"]))

    def output(self, node: exp.Expr) -> exp.Expr:
        """Return a value under its name, compiled."""
        if isinstance(node, exp.Alias):
            return exp.Alias(this=self.value(node.this), alias=node.args["alias"].copy())
        return self.value(node)

    def _native(self) -> NativeLowering:
        return NativeLowering(self.lookup, self.text, self.dialect)

    def _body(self, query: Query, operands: tuple[str, ...]) -> str:
        body = query.body
        if isinstance(body, Asking):
            return self._native().body(query, operands)
        if not isinstance(body, Body):
            raise TypeError("a subquery of another making")
        if body.select is None:
            return f"{body.word}({operands[0] if operands else '*'})"
        inner = self.dialect.statement(self.statement(body.select.copy()))
        if body.word == "IN":
            return f"({operands[0]} IN ({inner}))"
        return f"({inner})" if body.word == "SELECT" else f"{body.word}({inner})"


def written_out(measure: Measure, schema: Schema) -> exp.Select:
    """Return an aggregate as ordinary SQL, without owners."""
    return Lowering(measure.lookup(), schema.text, schema.catalogue.dialect).written_out(plain(measure))
