"""Conditions and values of rows: names resolved, subqueries under AND and OR made into choices.

A subquery whose rows nobody can withdraw but the row's own owners is a predicate like any other (`own`).
Any other on private tables may make a row appear, never disappear: EXISTS, IN and = ANY are accepted under
AND and OR only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from recuse.errors import QueryError
from recuse.sql.answered import is_aggregated
from recuse.sql.elaborate import Elaborator, Lookup, refuse_foreign
from recuse.sql.own import completed, never_null, settled
from recuse.sql.position import refusal, span
from recuse.sql.query import Block, BlockSource, Choice, Scalar, Schema, is_correlated, type_lookup
from recuse.sql.render import conjunction, native_in
from recuse.sql.scope import Scope
from recuse.sql.summary import Summary

Subquery = Callable[[exp.Expr, Scope], tuple[Block, ...]]
"""reads a query inside a scope: its blocks, with their outputs"""

Conjuncts = tuple[list[Scalar], list[Choice]]


@dataclass(frozen=True, slots=True)
class Conditions:
    """A reader of conditions and values."""

    schema: Schema
    subquery: Subquery
    sources: list[BlockSource]
    """all that the reader has met; own subqueries add to them"""
    released: Callable[[exp.Expr], Scalar]
    """returns the place of the number that a subquery of private rows stands for"""
    answered: Callable[[exp.Expr], bool]
    """returns whether a query only looks at rows of another that aggregates"""

    def lookup(self) -> Lookup:
        """Return the function that says of which type a column is."""
        return type_lookup(self.sources)

    def read(self, node: exp.Expr, scope: Scope) -> Conjuncts:
        """Return the conditions and choices that must all hold where `node` does."""
        while isinstance(node, exp.Paren):
            node = node.this
        if isinstance(node, exp.And):
            parts = [self.read(part, scope) for part in node.flatten()]
            return [c for conditions, _ in parts for c in conditions], [c for _, cs in parts for c in cs]
        if isinstance(node, exp.Or) and any(map(is_subquery_predicate, node.walk())):
            return self._either([self.read(part, scope) for part in node.flatten()])
        if is_subquery_predicate(node):
            return self.exists(self._branches(node, scope), scope)
        return [self.value(node, scope)], []

    def exists(self, branches: Sequence[Block], scope: Scope) -> Conjuncts:
        """Return the condition that any row of any branch is there, a choice unless it is own."""
        own = settled(branches, scope.around, self.schema, self.sources)
        return ([], [Choice(tuple(branches))]) if own is None else ([own], [])

    def _either(self, disjuncts: list[Conjuncts]) -> Conjuncts:
        scalars: list[Scalar] = []
        branches: list[Block] = []
        for conditions, choices in disjuncts:
            if not choices:
                scalars.append(conjunction(conditions))
            elif not conditions and len(choices) == 1:
                branches += choices[0].branches
            else:
                branches.append(Block(conditions=tuple(conditions), choices=tuple(choices)))
        if scalars:
            branches.insert(0, Block(conditions=(exp.or_(*scalars, copy=False),)))
        return [], [Choice(tuple(branches))]

    def _branches(self, node: exp.Expr, scope: Scope) -> tuple[Block, ...]:
        """Return the blocks of a subquery predicate, the comparison it makes among their conditions."""
        if isinstance(node, exp.Exists):
            return self.subquery(node.this, scope)
        left = node.this
        wanted = left.expressions if isinstance(left, exp.Tuple) else [left.unnest()]
        values = [self.value(item, scope) for item in wanted]
        kind = exp.EQ if isinstance(node, exp.In) else type(node)
        if not issubclass(kind, exp.EQ | exp.NEQ | exp.LT | exp.LTE | exp.GT | exp.GTE):
            raise self._refuse("this comparison with ANY is not accepted", node, "use =, <>, <, <=, > or >=")
        inner = node.args["query"] if isinstance(node, exp.In) else node.expression.this
        blocks = self.subquery(inner, scope)
        found = []
        for block in blocks:
            if len(block.outputs) != len(values):
                raise self._refuse(
                    "the subquery returns another number of columns than it is compared with",
                    node,
                    "return as many columns as stand on the left",
                )
            same = tuple(
                kind(this=value.copy(), expression=output.value.copy())
                for value, output in zip(values, block.outputs, strict=True)
            )
            found.append(replace(block, conditions=(*block.conditions, *same)))
        return tuple(found)

    def value(self, node: exp.Expr, scope: Scope) -> Scalar:
        """Return the expression with every column resolved; subqueries in it must be public or own."""
        refuse_foreign(node, self.schema.text, skip=is_subquery)

        def resolve(part: exp.Expr) -> exp.Expr:
            if is_subquery_value(part):
                return self._single(part, scope)
            if is_subquery_predicate(part):
                return self._own(part, scope)
            if isinstance(part, exp.Column):
                return scope.resolve(part)
            return part

        resolved = node.transform(resolve)
        self.elaborator().expression(resolved)
        return resolved

    def elaborator(self) -> Elaborator:
        """Return the reader of typed expressions."""
        return Elaborator(self.lookup(), self.schema.text, self.schema.catalogue.macros)

    def _own(self, node: exp.Expr, scope: Scope) -> Scalar:
        """Return a predicate with a subquery in plain SQL: only the row's own owners can withdraw from it."""
        if isinstance(node, exp.Exists):
            found = settled(self.subquery(node.this, scope), scope.around, self.schema, self.sources)
        elif isinstance(node, exp.In) and not isinstance(node.this, exp.Tuple):
            found = self._own_member(node, scope)
        else:
            raise self._refuse(f"ANY is not understood inside {_inside(node)}", node, "write IN or EXISTS")
        if found is None:
            raise self._refuse(
                f"a subquery on private tables inside {_inside(node)} can make rows disappear: "
                "it is not monotone",
                node,
                "write it under AND and OR of WHERE only; for NOT ask for all rows and for those that match",
            )
        return found

    def _own_member(self, node: exp.In, scope: Scope) -> Scalar | None:
        """Return x IN (SELECT y …), NULLs as SQL has them; EXISTS where neither x nor y is ever NULL."""
        value = self.value(node.this, scope)
        blocks = self.subquery(node.args["query"], scope)
        if any(len(block.outputs) != 1 for block in blocks):
            raise self._refuse("the subquery returns several columns", node, "return one")
        found = completed(blocks, scope.around, self.schema, self.sources)
        if found is not None:
            return native_in(value, found)
        alike = [
            block.narrowed([exp.EQ(this=value.copy(), expression=block.outputs[0].value.copy())])
            for block in blocks
        ]
        if not never_null(value, blocks, scope.around, self.schema, self.sources):
            return None
        return settled(alike, scope.around, self.schema, self.sources)

    def _single(self, node: exp.Expr, scope: Scope) -> Scalar:
        """Return the one value of a public or own subquery."""
        query = node.unnest()
        if not isinstance(query, exp.Query):
            raise self._refuse("this is no subquery", node, "write (SELECT MAX(x) FROM t)")
        if not any(map(is_aggregated, query.expressions)) and self.answered(query):
            return self.released(query)
        summary = Summary.of(query, self.schema.text)
        found = self.subquery(summary.rows, scope)
        blocks = completed(found, scope.around, self.schema, self.sources)
        if (blocks is None or not summary.is_plain) and not is_correlated(found):
            return self.released(query)
        if blocks is None:
            raise self._refuse(
                "a subquery that stands for a value is not monotone",
                node,
                "write EXISTS, IN or a join; ask for an inner aggregate by itself",
            )
        return summary.value(blocks, self.lookup())

    def _refuse(self, problem: str, node: exp.Expr, hint: str | None) -> QueryError:
        return refusal(problem, self.schema.text, span(node, self.schema.text), hint=hint)


def conjuncts(node: exp.Expr) -> list[exp.Expr]:
    """Return the parts of a condition that must all hold."""
    node = node.unnest()
    return (
        [inner for part in node.flatten() for inner in conjuncts(part)]
        if isinstance(node, exp.And)
        else [node]
    )


def is_subquery_predicate(node: exp.Expr) -> bool:
    """Return whether a node is EXISTS (…), x IN (SELECT …) or a comparison with ANY (SELECT …)."""
    if isinstance(node, exp.In):
        return node.args.get("query") is not None
    if isinstance(node, exp.Binary):
        return isinstance(node.expression, exp.Any) and isinstance(node.expression.this.unnest(), exp.Query)
    return isinstance(node, exp.Exists)


def is_subquery_value(node: exp.Expr) -> bool:
    """Return whether a node is a subquery that stands for a value: (SELECT MAX(y) FROM t)."""
    return isinstance(node, exp.Subquery) and isinstance(node.unnest(), exp.Query)


def is_subquery(node: exp.Expr) -> bool:
    """Return whether a node is a predicate with a subquery, or a subquery that stands for a value."""
    return is_subquery_predicate(node) or is_subquery_value(node)


def _inside(node: exp.Expr) -> str:
    """Return in words what a subquery stands in."""
    parent = node.parent
    while parent is not None:
        if isinstance(parent, exp.Not):
            return "NOT"
        if isinstance(parent, exp.Case | exp.If):
            return "CASE"
        if isinstance(parent, exp.Binary) and not isinstance(parent, exp.And | exp.Or):
            return "a comparison"
        if isinstance(parent, exp.Select):
            return "the SELECT list"
        parent = parent.parent
    return "an expression"
