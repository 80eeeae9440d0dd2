"""GROUP BY … HAVING in a subquery → the distinct keys, and a condition on the rows of each of them.

    SELECT p FROM s WHERE w GROUP BY p HAVING COUNT(*) >= 20
    SELECT g.k1 FROM (SELECT DISTINCT p AS k1 FROM s WHERE w) g
    WHERE (SELECT COUNT(*) FROM s WHERE w AND p IS NOT DISTINCT FROM g.k1) >= 20

Both say the same, NULLs as keys too; the second is read like any other query.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from recuse.errors import QueryError
from recuse.fold import same
from recuse.sql.position import clause_span, refusal, span
from recuse.sql.refuse import READ, refuse_clauses
from recuse.sql.totals import SHOWN


@dataclass(frozen=True, slots=True)
class Grouped:
    """A SELECT with GROUP BY or HAVING, taken apart; `name` is what its groups are called."""

    tree: exp.Select
    name: str
    keys: tuple[exp.Expr, ...]
    text: str

    def written_out(self) -> exp.Select:
        """Return the same question with DISTINCT and subqueries."""
        selected = [self._selected(node, place) for place, node in enumerate(self.tree.expressions, start=1)]
        found = exp.Select(expressions=selected)
        inner = self._rows([exp.alias_(key.copy(), f"k{n}") for n, key in enumerate(self.keys, start=1)])
        inner.set("distinct", exp.Distinct())
        alias = exp.TableAlias(this=exp.to_identifier(self.name))
        found.set("from_", exp.From(this=exp.Subquery(this=inner, alias=alias)))
        having = self.tree.args.get("having")
        if having is not None:
            found.set("where", exp.Where(this=self._of_group(having.this)))
        return found

    def _selected(self, node: exp.Expr, place: int) -> exp.Expr:
        name = node.alias or (node.name if isinstance(node, exp.Column) else f"column{place}")
        return exp.alias_(self._of_group(node.unalias()), name, quoted=True)

    def _of_group(self, node: exp.Expr) -> exp.Expr:
        """Return an expression over groups: keys by their names, totals as subqueries."""
        known = {key.sql(): number for number, key in enumerate(self.keys, start=1)}

        def change(part: exp.Expr) -> exp.Expr:
            if part.sql() in known and not isinstance(part, exp.Literal):
                return self._key(known[part.sql()])
            if isinstance(part, exp.AggFunc):
                return self._total(part)
            if isinstance(part, exp.Filter):
                raise refusal(
                    "FILTER is not understood here",
                    self.text,
                    span(part, self.text),
                    hint="write COUNT_IF(…), or SUM(CASE WHEN … THEN x ELSE 0 END)",
                )
            if isinstance(part, exp.Column):
                raise refusal(
                    "this column is neither a key of GROUP BY nor aggregated",
                    self.text,
                    span(part, self.text),
                    hint="aggregate it, or group by it",
                )
            return part

        return _outermost(node.copy(), change)

    def _total(self, call: exp.AggFunc) -> exp.Expr:
        """Return an aggregate of a group's rows as a subquery that stands for it."""
        rows = self._rows([call.copy()])
        tied = [
            exp.NullSafeEQ(this=exp.paren(key.copy()), expression=self._key(number))
            for number, key in enumerate(self.keys, start=1)
        ]
        where = rows.args.get("where")
        conditions = [exp.paren(where.this), *tied] if where is not None else tied
        rows.set("where", exp.Where(this=exp.and_(*conditions, copy=False)))
        rows.meta[SHOWN] = self.name
        return exp.Subquery(this=rows)

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
        return exp.column(f"k{number}", self.name)


def grouped(tree: exp.Select, name: str, text: str) -> Grouped | None:
    """Return a SELECT that groups rows, taken apart; None if it does not, or in another way."""
    group = tree.args.get("group")
    if group is None:
        return None
    refuse_clauses(tree, text, READ | {"group", "having", "order"})
    if {key for key, value in group.args.items() if value} != {"expressions"}:
        raise _other_form(group, text)
    return Grouped(tree, name, tuple(_meant(node, tree) for node in group.expressions), text)


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
