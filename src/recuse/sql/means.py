"""What is averaged over groups → a total over a number of groups, each of them an aggregate of rows.

    SELECT AVG(n) FROM (SELECT day, COUNT(*) AS n FROM s WHERE w GROUP BY day)
    SELECT (SELECT COUNT(*) FROM s WHERE w) / (SELECT COUNT(*) FROM (SELECT DISTINCT day FROM s WHERE w))

Both say the same: groups add up to all rows. Which groups there are need not be known for it. A group whose
sum is NULL takes no part in an average, so that groups are counted among rows that have a value.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from recuse.fold import same
from recuse.sql.having import group_keys
from recuse.sql.named import Known
from recuse.sql.narrow import GroupedItem


def of_all_rows(tree: exp.Select, known: Known) -> tuple[exp.Select, Known] | None:
    """Return a SELECT that averages what groups add up to, written out, and the CTEs it sees; or None."""
    if {key for key, value in tree.args.items() if value} - {"expressions", "from_", "with_"}:
        return None
    groups = GroupedItem.of(tree.args["from_"].this, known)
    if groups is None or groups.tree.args.get("having") is not None:
        return None
    if groups.tree.args["group"].expressions == []:
        return None
    within = known if groups.named is None else groups.named.known
    made = [_written_out(node, groups) for node in tree.expressions]
    found = [node for node in made if node is not None]
    return (exp.Select(expressions=found), within) if len(found) == len(made) else None


def _written_out(node: exp.Expr, groups: GroupedItem) -> exp.Expr | None:
    """Return an expression over groups as one over all rows; None if it is more than sums and averages."""
    name = node.alias or node.sql()
    calls = [call for call in node.find_all(exp.AggFunc) if call.find_ancestor(exp.AggFunc) is None]
    if not calls or any(part.find_ancestor(exp.AggFunc) is None for part in node.find_all(exp.Column)):
        return None
    found = node.unalias().copy()
    for call in [call for call in found.find_all(exp.AggFunc) if call.find_ancestor(exp.AggFunc) is None]:
        total = _Added.of(call, groups)
        if total is None:
            return None
        if call is found:
            found = total.written()
        else:
            call.replace(exp.paren(total.written()))
    return exp.alias_(found, name, quoted=True)


@dataclass(frozen=True, slots=True)
class _Added:
    """What a SUM or AVG over groups adds up: `value` of each row, distinct within its group or not."""

    groups: GroupedItem
    averaged: bool
    value: exp.Expr | None
    """None if rows are counted"""
    counted: bool
    distinct: bool

    @classmethod
    def of(cls, call: exp.Expr, groups: GroupedItem) -> _Added | None:
        if not isinstance(call, exp.Avg | exp.Sum) or not isinstance(call.this, exp.Column):
            return None
        shown = [value for name, value in groups.outputs if same(name, call.this.name)]
        inner = shown[0] if len(shown) == 1 else None
        if not isinstance(inner, exp.Count | exp.Sum) or inner.expressions:
            return None
        counted, distinct = isinstance(inner, exp.Count), isinstance(inner.this, exp.Distinct)
        parts = inner.this.expressions if distinct else [inner.this]
        if len(parts) != 1 or (distinct and not counted):
            return None
        value = None if isinstance(parts[0], exp.Star) else parts[0]
        return cls(groups, isinstance(call, exp.Avg), value, counted, distinct)

    def written(self) -> exp.Expr:
        """Return the total, or the total over the number of groups."""
        return exp.Div(this=self._total(), expression=self._number()) if self.averaged else self._total()

    def _total(self) -> exp.Expr:
        keys = [exp.alias_(key.copy(), f"k{n}") for n, key in enumerate(group_keys(self.groups.tree), 1)]
        if self.distinct and self.value is not None:
            rows = self._rows([*keys, exp.alias_(self.value.copy(), "v")], once=True)
            return _counted(rows, exp.column("v"))
        if self.counted:
            value = exp.Star() if self.value is None else self.value.copy()
            return exp.Subquery(this=self._rows([exp.Count(this=value)]))
        return exp.Subquery(this=self._rows([exp.Sum(this=self.value.copy() if self.value else None)]))

    def _number(self) -> exp.Expr:
        keys = [exp.alias_(key.copy(), f"k{n}") for n, key in enumerate(group_keys(self.groups.tree), 1)]
        rows = self._rows(keys, once=True)
        if not self.counted and self.value is not None:
            there = exp.Not(this=exp.Is(this=exp.paren(self.value.copy()), expression=exp.Null()))
            rows = rows.where(there, copy=False)
        return _counted(rows, exp.Star())

    def _rows(self, outputs: list[exp.Expr], *, once: bool = False) -> exp.Select:
        rows = self.groups.tree.copy()
        for clause in ("group", "order", "having"):
            rows.set(clause, None)
        rows.set("expressions", outputs)
        rows.set("distinct", exp.Distinct() if once else None)
        return rows


def _counted(rows: exp.Select, value: exp.Expr) -> exp.Expr:
    alias = exp.TableAlias(this=exp.to_identifier("once"))
    counted = exp.Select(expressions=[exp.Count(this=value)])
    counted.set("from_", exp.From(this=exp.Subquery(this=rows, alias=alias)))
    return exp.Subquery(this=counted)
