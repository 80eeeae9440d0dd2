"""Which expressions ask a subquery, and how."""

from __future__ import annotations

from sqlglot import exp

from recuse.sql.placeholder import Released
from recuse.sql.totals import TotalTest

NEGATED: dict[type[exp.Expr], type[exp.Binary]] = {
    exp.EQ: exp.NEQ,
    exp.NEQ: exp.EQ,
    exp.LT: exp.GTE,
    exp.GTE: exp.LT,
    exp.GT: exp.LTE,
    exp.LTE: exp.GT,
}


def is_subquery_predicate(node: exp.Expr) -> bool:
    """Return whether a node is EXISTS (…), x IN (SELECT …) or a comparison with ANY or ALL (SELECT …)."""
    if isinstance(node, exp.In):
        return node.args.get("query") is not None
    if isinstance(node, exp.Binary) and isinstance(node.expression, exp.Any | exp.All):
        return isinstance(node.expression.this.unnest(), exp.Query)
    return isinstance(node, exp.Exists)


def is_subquery_value(node: exp.Expr) -> bool:
    """Return whether a node is a subquery that stands for a value: (SELECT MAX(y) FROM t)."""
    return isinstance(node, exp.Subquery) and isinstance(node.unnest(), exp.Query)


def is_subquery(node: exp.Expr) -> bool:
    """Return whether a node is a predicate with a subquery, or one that stands for a value, read or not."""
    return is_subquery_predicate(node) or is_subquery_value(node) or isinstance(node, Released)


def is_extreme(node: exp.Expr) -> bool:
    """Return whether a node is (SELECT MIN(y) …) or (SELECT MAX(y) …)."""
    query = node.unnest()
    if not isinstance(query, exp.Select) or len(query.expressions) != 1:
        return False
    output = query.expressions[0].unalias()
    plain = isinstance(output, exp.Min | exp.Max) and not output.expressions
    return plain and not isinstance(output.this, exp.Distinct)


def is_extreme_comparison(node: exp.Expr) -> bool:
    """Return whether a node compares a value with a MIN or MAX of a subquery."""
    if not isinstance(node, exp.Binary) or type(node) not in NEGATED:
        return False
    return is_extreme(node.left) != is_extreme(node.right)


def is_value_comparison(node: exp.Expr) -> bool:
    """Return whether a node compares the MIN, MAX, COUNT or SUM of a subquery."""
    return is_extreme_comparison(node) or TotalTest.of(node) is not None
