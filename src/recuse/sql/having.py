"""GROUP BY … HAVING in a subquery → the distinct keys, and a condition on the rows of each of them.

    SELECT p FROM s WHERE w GROUP BY p HAVING COUNT(*) >= 20
    SELECT g.k1 FROM (SELECT DISTINCT p AS k1 FROM s WHERE w) g
    WHERE (SELECT COUNT(*) FROM s WHERE w AND p IS NOT DISTINCT FROM g.k1) >= 20

Both say the same, NULLs as keys too; the second is read like any other query. Where a row asks whether it is
among the groups, it is told so by the rows of that one group:

    x IN (SELECT p FROM s WHERE w GROUP BY p HAVING COUNT(*) < 3)
    EXISTS (SELECT 1 FROM s WHERE w AND p = x) AND (SELECT COUNT(*) FROM s WHERE w AND p = x) < 3

Both are TRUE in the same rows; where one is not, it may be NULL and the other FALSE.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from recuse.errors import QueryError
from recuse.fold import fold, same
from recuse.sql.position import clause_span, refusal, span
from recuse.sql.refuse import READ, lists_keys, refuse_clauses
from recuse.sql.scope import Scope
from recuse.sql.totals import SHOWN, Total


@dataclass(frozen=True, slots=True)
class Grouped:
    """A SELECT with GROUP BY or HAVING, taken apart; `name` is what its groups are called."""

    tree: exp.Select
    name: str
    keys: tuple[exp.Expr, ...]
    text: str
    values: tuple[exp.Expr, ...] = ()
    """what the keys are equal to, where one group is asked about"""

    def written_out(self) -> exp.Select:
        """Return the same question with DISTINCT and subqueries."""
        selected = [self._selected(node, place) for place, node in enumerate(self.tree.expressions, start=1)]
        found = exp.Select(expressions=selected)
        inner = self._rows([exp.alias_(key.copy(), f"k{n}") for n, key in enumerate(self.keys, start=1)])
        inner.set("distinct", exp.Distinct())
        alias = exp.TableAlias(this=exp.to_identifier(self.name))
        found.set("from_", exp.From(this=exp.Subquery(this=inner, alias=alias)))
        having = group_condition(self.tree)
        if having is not None:
            found.set("where", exp.Where(this=self._of_group(having)))
        return found

    def _selected(self, node: exp.Expr, place: int) -> exp.Expr:
        name = node.alias or (node.name if isinstance(node, exp.Column) else f"column{place}")
        if (call := node.find(exp.AggFunc)) is not None:
            raise refusal(
                "an aggregate of other people's rows is no value of a row",
                self.text,
                span(call, self.text),
                hint="leave it out, and compare it in HAVING",
            )
        return exp.alias_(self._of_group(node.unalias()), name, quoted=True)

    def _of_group(self, node: exp.Expr) -> exp.Expr:
        """Return an expression over groups: keys by their names, totals as subqueries."""
        known = {key.sql(): number for number, key in enumerate(self.keys, start=1)}

        def change(part: exp.Expr) -> exp.Expr:
            if part.sql() in known and not isinstance(part, exp.Literal):
                return self._key(known[part.sql()])
            if isinstance(part, exp.AggFunc) or Total.of(part) is not None:
                return self._total(part)
            if isinstance(part, exp.Filter):
                hint = "write COUNT_IF(…), or SUM(CASE WHEN … THEN x ELSE 0 END)"
                raise refusal("FILTER is not understood here", self.text, span(part, self.text), hint=hint)
            if isinstance(part, exp.Column):
                problem = "this column is neither a key of GROUP BY nor aggregated"
                hint = "aggregate it, or group by it"
                raise refusal(problem, self.text, span(part, self.text), hint=hint)
            return part

        return _outermost(node.copy(), change)

    def _total(self, call: exp.Expr) -> exp.Expr:
        """Return an aggregate of a group's rows as a subquery that stands for it."""
        if Total.of(call) is None and not isinstance(call, exp.Min | exp.Max):
            raise refusal(
                "one row more could lift this aggregate of other people's rows, or lower it",
                self.text,
                span(call, self.text),
                accepted="COUNT, SUM of values that cannot be below 0, MIN, MAX",
                hint="compare COUNT(*), or SUM(GREATEST(x, 0))",
            )
        rows = self._of_one([call.copy()])
        if not self.values:
            rows.meta[SHOWN] = self.name
        return exp.Subquery(this=rows)

    def _of_one(self, outputs: Sequence[exp.Expr]) -> exp.Select:
        """Return the rows of one group."""
        rows, kind = self._rows(outputs), exp.EQ if self.values else exp.NullSafeEQ
        tied: list[exp.Expr] = [
            kind(this=exp.paren(key.copy()), expression=exp.paren(self._key(number)))
            for number, key in enumerate(self.keys, start=1)
        ]
        where = rows.args.get("where")
        conditions = [exp.paren(where.this), *tied] if where is not None else tied
        rows.set("where", exp.Where(this=exp.and_(*conditions, copy=False)))
        return rows

    def asked_of_one(self) -> exp.Expr:
        """Return the condition that there is a group of these values for which HAVING holds."""
        there = exp.Exists(this=self._of_one([exp.Literal.number(1)]))
        having = group_condition(self.tree)
        return there if having is None else exp.and_(there, exp.paren(self._of_group(having)), copy=False)

    def _rows(self, outputs: Sequence[exp.Expr]) -> exp.Select:
        """Return the rows that are grouped."""
        kept: Mapping[str, object] = {
            key: value
            for key, value in self.tree.args.items()
            if key in READ and key != "expressions" and value
        }
        found = exp.Select(**kept).copy()
        found.set("with_", None)
        found.set("expressions", list(outputs))
        return found

    def _key(self, number: int) -> exp.Expr:
        return self.values[number - 1].copy() if self.values else exp.column(f"k{number}", self.name)


def grouped(tree: exp.Select, name: str, text: str) -> Grouped | None:
    """Return a SELECT that groups rows, taken apart; None if it does not, or in another way."""
    group = tree.args.get("group")
    if group is None:
        return None
    refuse_clauses(tree, text, READ | {"group", "having", "order"})
    if not lists_keys(group):
        raise _other_form(group, text)
    return Grouped(tree, name, group_keys(tree), text)


def group_keys(tree: exp.Select) -> tuple[exp.Expr, ...]:
    """Return what a SELECT groups by, positions and aliases written out."""
    return tuple(_meant(node, tree) for node in tree.args["group"].expressions)


def group_condition(tree: exp.Select) -> exp.Expr | None:
    """Return HAVING with the aggregates that it calls by their aliases; a key goes before an alias."""
    having = tree.args.get("having")
    if having is None:
        return None
    keys = {key.sql() for key in group_keys(tree)}
    called = {
        fold(node.alias): node.unalias()
        for node in tree.expressions
        if node.alias and node.find(exp.AggFunc) is not None
    }

    def written_out(part: exp.Expr) -> exp.Expr:
        if isinstance(part, exp.AggFunc):
            return part.copy()  # a name in it is a column's
        if isinstance(part, exp.Column) and not part.table and part.sql() not in keys:
            found: exp.Expr = called.get(fold(part.name), part)
            return found.copy()
        return part

    return _outermost(having.this.copy(), written_out)


def asked_of_one(node: exp.Expr, scope: Scope, text: str) -> exp.Expr | None:
    """Return a condition in which IN over groups, under AND and OR alone, asks about one group.

    None if there is no such IN, or if a name might mean another column inside of it.
    """
    node = node.unnest()
    if not isinstance(node, exp.And | exp.Or):
        return _membership(node, scope, text)
    sides = (node.left, node.right)
    found = [asked_of_one(side, scope, text) for side in sides]
    if found == [None, None]:
        return None
    left, right = (side if made is None else made for side, made in zip(sides, found, strict=True))
    return type(node)(this=exp.paren(left), expression=exp.paren(right))


def _membership(node: exp.Expr, scope: Scope, text: str) -> exp.Expr | None:
    """Return x IN (SELECT keys … GROUP BY keys HAVING …) as a condition on one group, if it is that."""
    tree = node.args["query"].unnest() if isinstance(node, exp.In) and node.args.get("query") else None
    if not isinstance(tree, exp.Select) or tree.args.get("having") is None or tree.args.get("with_"):
        return None
    found = grouped(tree, "", text)
    if found is None or [key.sql() for key in found.keys] != [n.unalias().sql() for n in tree.expressions]:
        return None
    inside = {fold(part.alias_or_name) for part in tree.find_all(exp.Table, exp.Subquery)}
    values = node.this.expressions if isinstance(node.this, exp.Tuple) else [node.this]
    named = [_qualified(value, scope, inside) for value in values]
    kept = tuple(value for value in named if value is not None)
    return replace(found, values=kept).asked_of_one() if len(kept) == len(named) == len(found.keys) else None


def _qualified(value: exp.Expr, scope: Scope, inside: set[str]) -> exp.Expr | None:
    """Return a value whose columns have the names of their items of FROM, none of which is used inside."""
    found = value.copy()
    for part in list(found.find_all(exp.Column)):
        known = [part.table] if part.table else [table for table, _ in scope.alone(part.name)]
        if len(known) != 1 or not known[0] or fold(known[0]) in inside:
            return None
        part.set("table", exp.to_identifier(known[0], quoted=True))
    return found


def _meant(node: exp.Expr, tree: exp.Select) -> exp.Expr:
    """Return the selected expression that a position or an alias stands for, else the node itself."""
    if isinstance(node, exp.Literal) and not node.is_string and node.name.isdigit():
        place = int(node.name)
        if 1 <= place <= len(tree.expressions):
            selected: exp.Expr = tree.expressions[place - 1]
            return selected.unalias()
    if isinstance(node, exp.Column) and not node.table:
        for item in tree.expressions:
            if item.alias and same(item.alias, node.name) and item.unalias().find(exp.AggFunc) is None:
                found: exp.Expr = item.unalias()
                return found if isinstance(found, exp.Column) or not _names(found, node.name) else node
    return node


def _names(node: exp.Expr, name: str) -> bool:
    return any(same(part.name, name) for part in node.find_all(exp.Column))


def _outermost(node: exp.Expr, change: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    """Return an expression in which parts are replaced, outermost first, and nothing inside of those."""
    made = change(node)
    if made is not node:
        return made
    if isinstance(node, exp.Query | exp.Subquery):
        return node
    for child in list(node.iter_expressions()):
        new = _outermost(child, change)
        if new is not child:
            child.replace(new)
    return node


def _other_form(group: exp.Group, text: str) -> QueryError:
    return refusal(
        "this form of GROUP BY is not accepted",
        text,
        clause_span(group, "GROUP BY", text),
        hint="list the keys, and ask once for each list",
    )
