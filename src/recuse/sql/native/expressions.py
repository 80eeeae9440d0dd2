"""Expressions of a query that is run as it is: names resolved, named windows written out, subqueries read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from recuse.errors import QueryError
from recuse.fold import fold
from recuse.sql.elaborate import Elaborator, Lookup
from recuse.sql.foreign import refuse_foreign
from recuse.sql.native.calls import is_call
from recuse.sql.native.inner import Inner
from recuse.sql.native.tree import NativeQuery, inner, names_of
from recuse.sql.position import placed, refusal, span
from recuse.sql.query import Scalar
from recuse.sql.schema import Schema
from recuse.sql.scope import Scope
from recuse.sql.spoken import OPERATORS

Queries = Callable[[exp.Expr, Scope, Lookup], NativeQuery]
"""reads a query inside a scope, whose columns the lookup knows"""

QUANTIFIED = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
"""comparisons that ANY and ALL take"""


@dataclass(frozen=True, slots=True)
class NativeExpressions:
    """A reader of expressions over a scope, whose columns `lookup` knows.

    `aliases` are the outputs that a name without table may mean, `windows` those of the WINDOW clause.
    """

    schema: Schema
    queries: Queries
    scope: Scope
    lookup: Lookup
    aliases: Mapping[str, Scalar] = field(default_factory=dict)
    windows: Mapping[str, exp.Window] = field(default_factory=dict)

    def value(self, node: exp.Expr) -> Scalar:
        """Return an expression in which aggregates and windows may stand, every name resolved."""
        return self._named(node).transform(self._resolved)

    def plain(self, node: exp.Expr) -> Scalar:
        """Return an expression about one row alone, typed."""
        found = self.value(node)
        self._refuse_rows(found)
        self.elaborator().expression(found)
        return found

    def conditions(self, node: exp.Expr | None) -> tuple[Scalar, ...]:
        """Return the conjuncts of a condition about one row alone."""
        found = () if node is None else conjuncts(self.value(node))
        for part in found:
            self._refuse_rows(part)
            self.elaborator().condition(part)
        return found

    def elaborator(self, lookup: Lookup | None = None) -> Elaborator:
        """Return the reader of typed expressions."""
        return Elaborator(lookup or self.lookup, self.schema.text, self.schema.catalogue.macros)

    def _refuse_rows(self, node: Scalar) -> None:
        refuse_foreign(node, self.schema.text, skip=lambda part: isinstance(part, Inner))

    def _resolved(self, part: exp.Expr) -> exp.Expr:
        if isinstance(part, exp.Column):
            return self._column(part)
        found = self._inner(part)
        return part if found is None else found

    def _column(self, node: exp.Column) -> Scalar:
        known = self.aliases.get(fold(node.name)) if not node.table else None
        if known is not None and not self.scope.alone(node.name):
            return placed(known, span(node, self.schema.text))
        return self.scope.resolve(node)

    # -------------------------------------------------------------- subqueries

    def _inner(self, part: exp.Expr) -> Inner | None:
        """Return a subquery that is part of an expression, None if a node is none."""
        if isinstance(part, exp.Exists):
            return self._made(part, "EXISTS", part.this)
        if isinstance(part, exp.Subquery) and isinstance(part.unnest(), exp.Query):
            return self._made(part, "VALUE", part)
        if isinstance(part, exp.In) and part.args.get("query") is not None:
            return self._made(part, "IN", part.args["query"], part.this)
        right = part.args.get("expression") if isinstance(part, exp.Binary) else None
        if isinstance(right, exp.Any | exp.All) and isinstance(right.this.unnest(), exp.Query):
            if type(part) not in QUANTIFIED:
                raise self._refuse("this comparison is not accepted", part, "use =, <>, <, <=, > or >=")
            word = "ANY" if isinstance(right, exp.Any) else "ALL"
            return self._made(part, word, right.this, part.this, OPERATORS[type(part)])
        return None

    def _made(
        self,
        node: exp.Expr,
        word: str,
        tree: exp.Expr,
        left: exp.Expr | None = None,
        operator: str | None = None,
    ) -> Inner:
        place = span(node, self.schema.text)
        query = self.queries(tree, self.scope, self.lookup)
        operands = self._operands(left, word)
        columns = len(names_of(query))
        if word == "VALUE" and columns != 1:
            raise self._refuse(
                "a subquery that stands for a value returns one column", node, "return one column"
            )
        if left is not None and columns != len(operands):
            problem = "the subquery returns another number of columns than it is compared with"
            raise self._refuse(problem, node, "return as many columns as stand on the left")
        found = inner(word, query, operands, operator, node.sql(dialect="duckdb"))
        if place is not None:
            found.meta.update(start=place[0], end=place[1])
        self.elaborator().expression(replace_calls(found))
        return found

    def _operands(self, left: exp.Expr | None, word: str) -> list[Scalar]:
        if left is None:
            return []
        plain = left.unnest()
        if isinstance(plain, exp.Tuple):
            if word != "IN":
                raise self._refuse(
                    "several values are compared by IN only", left, "write (x, y) IN (SELECT …)"
                )
            return [self.value(one) for one in plain.expressions]
        return [self.value(left)]

    # -------------------------------------------------------------- windows by name

    def _named(self, node: exp.Expr) -> exp.Expr:
        """Return an expression in which every window is written out, and count_star() is COUNT(*)."""
        found = node.copy().transform(_counted)
        for window in list(found.find_all(exp.Window)):
            if window.find_ancestor(exp.Query) is None and window.args.get("alias") is not None:
                self._written_out(window, self.windows)
        return found

    def _written_out(self, window: exp.Window, known: Mapping[str, exp.Window]) -> None:
        name = window.args["alias"].name
        base = known.get(fold(name))
        if base is None:
            raise self._refuse(
                f"no window is called {name}", window, "write it behind WINDOW, or in OVER (…)"
            )
        if base.args.get("alias") is not None:
            base = base.copy()
            others = {key: value for key, value in known.items() if key != fold(name)}
            self._written_out(base, others)
        for key in ("partition_by", "order", "spec"):
            if not window.args.get(key) and base.args.get(key):
                value = base.args[key]
                window.set(key, [one.copy() for one in value] if isinstance(value, list) else value.copy())
        window.set("alias", None)

    def _refuse(self, problem: str, node: exp.Expr, hint: str | None) -> QueryError:
        return refusal(problem, self.schema.text, span(node, self.schema.text), hint=hint)


def _counted(node: exp.Expr) -> exp.Expr:
    """Return count_star(), as a view's stored definition has it, in its usual form."""
    if isinstance(node, exp.Anonymous) and fold(node.name) == "count_star" and not node.expressions:
        found = exp.Count(this=exp.Star(), big_int=True)
        found.meta.update(node.meta)
        return found
    return node


def conjuncts(node: Scalar) -> tuple[Scalar, ...]:
    """Return the parts of a conjunction, without the parentheses around them."""
    plain = node.unnest()
    if isinstance(plain, exp.And):
        return tuple(part for side in plain.flatten() for part in conjuncts(side))
    return (plain,)


def aliases_of(outputs: Iterable[tuple[str, Scalar]]) -> dict[str, Scalar]:
    """Return what the names of outputs mean, the first of equal ones."""
    found: dict[str, Scalar] = {}
    for name, value in outputs:
        found.setdefault(fold(name), value)
    return found


def with_aliases(reader: NativeExpressions, outputs: Sequence[tuple[str, Scalar]]) -> NativeExpressions:
    """Return a reader that knows the names of outputs."""
    return replace(reader, aliases=aliases_of(outputs))


def replace_calls(node: Inner) -> Scalar:
    """Return a subquery whose operands can be typed: one over an aggregate is typed with the SELECT."""
    if any(is_call(part) or isinstance(part, exp.Window) for part in node.walk()):
        return exp.true()
    return node
