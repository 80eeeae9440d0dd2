"""What makes two SQL questions the same: what they mean, not how they are spelled.

Of a plan that is the rows that are counted and who owns them, the groups, and the numbers that are released
first and stand in the statements. The names of columns, formulas over the numbers, HAVING, the order of rows
and LIMIT are made of what was released, so they do not belong to it; where only the largest groups have a
number, how many they are does.

A statement is compared with its aliases numbered, its cross joins, conjuncts, disjuncts and the sides of
comparisons in one order, and what is always true left out: none of this changes a row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from typing import Any

import sqlglot
from sqlglot import exp

from recuse.sql.derivation import DerivationTable
from recuse.sql.grouping import Grouping
from recuse.sql.placeholder import name_of
from recuse.sql.plan import DerivationQuery, FirstPlan, Plan

_FLIPPED: dict[type[exp.Expr], type[exp.Expr]] = {exp.GT: exp.LT, exp.GTE: exp.LTE}


def meaning(plan: Plan) -> dict[str, Any]:
    """Return all of a plan that the distribution of its released numbers depends on, as JSON can write it.

    Guarantee: plans with the same meaning have the same rows, owners and groups on every database.
    """
    return {
        "measures": [_measure(measure, plan.dialect.grammar) for measure in plan.measures],
        "groups": _groups(plan.grouping, plan.dialect.grammar),
        "firsts": [_first(first) for first in plan.firsts],
        "finding": None if plan.finding is None else _measure(plan.finding, plan.dialect.grammar),
        **({} if plan.largest is None else {"largest": plan.largest}),
    }


def _first(first: FirstPlan) -> dict[str, Any]:
    """Return what a number that stands in the question depends on: its measures, and its formula too."""
    (shown,) = first.plan.columns
    asked = replace(first.plan, firsts=())
    return {
        "meaning": meaning(asked),
        "formula": repr(shown.what),
        "type": name_of(first.type),
        "end": first.end,
    }


def _measure(measure: DerivationQuery, grammar: str) -> dict[str, Any]:
    return {
        "tables": [_table(table, grammar) for table in measure.tables],
        "aggregate": measure.aggregate.word,
        "granularity": str(measure.granularity),
        "sharing": measure.sharing.value,
        "touches": [[touch.kind, touch.ways] for touch in measure.touches],
        "bound": measure.bound,
    }


def _table(table: DerivationTable, grammar: str) -> dict[str, Any]:
    return {
        "rows": canonical(table.sql if table.meant is None else table.meant.sql(), grammar),
        "key": list(table.key),
        "owners": [[owner.kind, *owner.columns] for owner in table.owners],
        "below": [
            {
                "tables": [_table(inner, grammar) for inner in below.group.tables],
                "columns": list(below.columns),
                "least": _least(below.group.least, grammar),
            }
            for below in table.below
        ],
        "value": table.value,
    }


def _least(least: int | str, grammar: str) -> int | str:
    return canonical(least, grammar) if isinstance(least, str) else least


def _groups(grouping: Grouping | None, grammar: str) -> dict[str, Any] | None:
    if grouping is None:
        return None
    if grouping.sets:
        sets = [[list(one.places), _groups(one.grouping, grammar)] for one in grouping.sets]
        return {"keys": len(grouping.names), "sets": sets}
    keys = [
        [[type(value).__name__, str(value)] for value in key] if isinstance(key, tuple) else repr(key)
        for key in grouping.keys
    ]
    tables = [canonical(table, grammar) for table in grouping.tables]
    return {"keys": keys, "tables": tables, "disjoint": grouping.disjoint}


def canonical(sql: str, grammar: str = "duckdb") -> str:
    """Return a statement of ours in one spelling.

    >>> canonical("SELECT 1 FROM t AS b CROSS JOIN s AS a WHERE b.x > 3 AND TRUE AND a.y = b.y")
    'SELECT 1 FROM s AS a1 CROSS JOIN t AS a2 WHERE (3 < a2.x) AND (a1.y = a2.y)'
    """
    tree = sqlglot.parse_one(sql, dialect=grammar)
    for select in tree.find_all(exp.Select):
        _sort_sources(select, grammar)
    _number_aliases(tree)
    return _bottom_up(tree, _one_order).sql(dialect=grammar)


def _sort_sources(select: exp.Select, grammar: str) -> None:
    """Put what is cross joined in the order of its tables; other joins stay as they are."""
    joins = select.args.get("joins") or []
    if not joins or not all(join.kind == "CROSS" for join in joins):
        return
    sources = [select.args["from_"].this, *(join.this for join in joins)]
    sources.sort(key=lambda source: _unnamed(source, grammar))
    select.args["from_"].set("this", sources[0])
    for join, source in zip(joins, sources[1:], strict=True):
        join.set("this", source)


def _unnamed(source: exp.Expr, grammar: str) -> str:
    """Return a source without its alias."""
    shown = source.copy()
    shown.set("alias", None)
    return shown.sql(dialect=grammar)


def _number_aliases(tree: exp.Expr) -> None:
    """Rename all aliases of sources: they are unique in a statement of ours."""
    names: dict[str, str] = {}
    for node in list(tree.find_all(exp.TableAlias, bfs=False)):
        names.setdefault(node.name, f"a{len(names) + 1}")
    for alias in tree.find_all(exp.TableAlias):
        alias.set("this", exp.to_identifier(names[alias.name]))
    for column in tree.find_all(exp.Column):
        if column.table in names:
            column.set("table", exp.to_identifier(names[column.table]))


def _bottom_up(node: exp.Expr, change: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    if isinstance(node, exp.And | exp.Or):  # a chain of any length at once
        return _sorted_operands(type(node), [_bottom_up(part, change) for part in _chained(node, type(node))])
    for child in list(node.iter_expressions()):
        child.replace(_bottom_up(child, change))
    return change(node)


def _one_order(node: exp.Expr) -> exp.Expr:
    """Return a node with its operands in one order, where the order means nothing."""
    if isinstance(node, exp.Paren):
        inner: exp.Expr = node.this
        plain = isinstance(inner, exp.Paren | exp.Boolean | exp.Column | exp.Literal)
        return inner if plain or isinstance(node.parent, exp.Where) else node
    if isinstance(node, exp.EQ | exp.NEQ) and node.left.sql() > node.right.sql():
        return type(node)(this=node.right.copy(), expression=node.left.copy())
    if isinstance(node, exp.Count) and _is_constant(node.this):
        return exp.Count(this=exp.Star())
    if flipped := _FLIPPED.get(type(node)):
        return flipped(this=node.args["expression"].copy(), expression=node.this.copy())
    return node


def _is_constant(node: exp.Expr) -> bool:
    """Return whether a node of our statements is a constant that is not NULL: every row counts then."""
    written = node.this if isinstance(node, exp.Cast) and not isinstance(node, exp.TryCast) else node
    return isinstance(written, exp.Literal | exp.Boolean)


def _chained(node: exp.Expr, kind: type[exp.Expr]) -> list[exp.Expr]:
    """Return what a chain of one connector connects, however it is bracketed."""
    found, left = [], [node]
    while left:
        part = left.pop()
        plain = part.unnest()
        if isinstance(plain, kind):
            left += [plain.args["expression"], plain.this]
        else:
            found.append(part)
    return found


def _sorted_operands(kind: type[exp.Expr], parts: list[exp.Expr]) -> exp.Expr:
    operands: dict[str, exp.Expr] = {}
    for part in chain.from_iterable(_chained(part, kind) for part in parts):
        plain = part.unnest()
        if not (kind is exp.And and isinstance(plain, exp.Boolean) and plain.this):
            operands.setdefault(plain.sql(), plain.copy())
    if not operands:
        return exp.true()
    first, *others = (exp.paren(operands[text], copy=False) for text in sorted(operands))
    found: exp.Expr = first
    for other in others:
        found = kind(this=found, expression=other)
    return found if others else found.unnest()
