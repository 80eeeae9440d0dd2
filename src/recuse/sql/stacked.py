"""Several answers under each other: a UNION of rows of aggregates, each number released for its part of ε."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from recuse.sql.answered import is_aggregated, one_row_parts
from recuse.sql.finish import FINISHED, Shown
from recuse.sql.formula import Stack, Stacked
from recuse.sql.kinds import ColumnKind
from recuse.sql.reading import Reading
from recuse.sql.refuse import refuse_set_operation


def side_by_side(tree: exp.Expr, text: str) -> exp.Select:
    """Return one row of all numbers of all parts of a UNION, each a subquery of its own, or refuse it."""
    parts = one_row_parts(tree)
    if parts is None:
        raise refuse_set_operation(tree, text)
    return exp.Select(expressions=[_alone(part, node) for part in parts for node in part.expressions])


def _alone(part: exp.Select, node: exp.Expr) -> exp.Expr:
    if not is_aggregated(node):
        return node.unalias().copy()
    asked = part.copy()
    asked.set("expressions", [node.unalias().copy()])
    return exp.Subquery(this=asked)


def stacked(answer: Reading, tree: exp.Expr, text: str) -> Reading:
    """Return the answers under each other, under the names of the first, or refuse them if kinds differ."""
    parts = one_row_parts(tree) or []
    width = len(parts[0].expressions)
    rows = [answer.columns[start : start + width] for start in range(0, len(answer.columns), width)]
    columns = tuple(
        Shown(node.alias or node.sql(), Stacked(tuple(shown.what for shown in column)), kind)
        for node, column in zip(parts[0].expressions, zip(*rows, strict=True), strict=True)
        if (kind := _common([shown.kind for shown in column])) is not None
    )
    if len(columns) < width:
        raise refuse_set_operation(tree, text)
    different = tuple(shown.what for shown in columns) if tree.args.get("distinct") else None
    return replace(answer, columns=columns, steps=(*answer.steps, Stack(len(parts), different)))


def _common(kinds: Sequence[ColumnKind]) -> ColumnKind | None:
    """Return the kind of a column whose rows have these."""
    if all(kind.is_number for kind in kinds):
        return ColumnKind.INTEGER if set(kinds) == {ColumnKind.INTEGER} else ColumnKind.NUMBER
    return kinds[0] if len(set(kinds)) == 1 else None


def what_follows(tree: exp.Expr) -> exp.Subquery:
    """Return ORDER BY, LIMIT and OFFSET of a UNION as those of a query in parentheses."""
    kept = {key: tree.args[key].copy() for key in FINISHED - {"distinct"} if tree.args.get(key)}
    return exp.Subquery(this=exp.Select(), **kept)
