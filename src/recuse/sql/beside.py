"""Answers beside each other: a SELECT from rows of aggregates, each of them a subquery of its own.

SELECT a.n, b.m FROM (SELECT COUNT(*) AS n …) a, (SELECT SUM(x) AS m …) b
SELECT (SELECT COUNT(*) …) AS n, (SELECT SUM(x) …) AS m
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from recuse.fold import fold, same
from recuse.sql.answered import is_aggregated, is_one_row
from recuse.sql.named import Known

HELD = {"expressions", "from_", "joins", "with_", "order", "limit"}


def answers_beside(tree: exp.Select, known: Known) -> exp.Select | None:
    """Return a SELECT from several rows of aggregates as one of their numbers; None if it is another.

    Each of the rows is one, whatever it looks at, so that all together are one row.
    """
    held = {key for key, value in tree.args.items() if value}
    start, joins = tree.args.get("from_"), tree.args.get("joins") or []
    crossed = all({key for key, value in join.args.items() if value} <= {"this", "kind"} for join in joins)
    if start is None or not joins or not crossed or held - HELD or not _is_one_row_still(tree):
        return None
    items = [start.this, *(join.this for join in joins)]
    rows = {fold(item.alias_or_name): row for item in items if (row := _row(item, known)) is not None}
    if len(rows) < len(items) or any(map(is_aggregated, tree.expressions)):
        return None
    found = []
    selected = [column for node in tree.expressions for column in _written_out(node, rows)]
    ordered = [] if tree.args.get("order") is None else [item.this for item in tree.args["order"].expressions]
    named = {fold(node.alias_or_name) for node in selected}
    if any(isinstance(node, exp.Column) and fold(node.name) not in named for node in ordered):
        return None
    for node in selected:
        for column in node.find_all(exp.Column):
            if _number(column, rows) is None:
                return None
        made = node.copy().transform(lambda part: _number(part, rows) or part)
        found.append(exp.alias_(made, node.alias_or_name, quoted=True) if node.alias_or_name else made)
    return exp.Select(expressions=found)


def _is_one_row_still(tree: exp.Select) -> bool:
    """Return whether LIMIT leaves the one row that there is, which ORDER BY cannot move."""
    limit = tree.args.get("limit")
    return limit is None or (isinstance(limit.expression, exp.Literal) and limit.expression.name != "0")


def _written_out(node: exp.Expr, rows: Mapping[str, exp.Select]) -> list[exp.Expr]:
    """Return what * stands for: all numbers of all rows, or those of one."""
    if not node.is_star:
        return [node]
    wanted = [name for name in rows if not isinstance(node, exp.Column) or same(name, node.table)]
    return [exp.column(one.alias, name, quoted=True) for name in wanted for one in rows[name].expressions]


def _row(item: exp.Expr, known: Known) -> exp.Select | None:
    """Return the row of aggregates that an item of FROM is, one that speaks of no other by its name."""
    plain = {key for key, value in item.args.items() if value} <= {"this", "alias"}
    named = item.args.get("alias") is not None and item.args["alias"].args.get("columns")
    if not plain or named:
        return None
    query = item.this if isinstance(item, exp.Subquery) else None
    if isinstance(item, exp.Table) and fold(item.name) in known and not known[fold(item.name)].columns:
        query = known[fold(item.name)].tree
    bare = None if query is None else query.unnest()
    if not isinstance(bare, exp.Select) or bare.args.get("with_") or not is_one_row(bare):
        return None
    return None if any(fold(table.name) in known for table in bare.find_all(exp.Table)) else bare


def _number(column: exp.Expr, rows: Mapping[str, exp.Select]) -> exp.Subquery | None:
    """Return the number that a column of a row is, as a subquery; None if nothing says which."""
    if not isinstance(column, exp.Column):
        return None
    asked = [row for name, row in rows.items() if not column.table or name == fold(column.table)]
    matches = [(row, node) for row in asked for node in row.expressions if same(node.alias, column.name)]
    if len(matches) != 1:
        return None
    row, node = matches[0]
    alone = row.copy()
    alone.set("expressions", [node.unalias().copy()])
    return exp.Subquery(this=alone)
