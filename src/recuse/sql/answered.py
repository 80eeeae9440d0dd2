"""Which queries have answers for rows: they aggregate all that they look at.

A SELECT without aggregates around such a query only looks at its rows: what it makes of them is free.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from recuse.fold import fold
from recuse.sql.named import Known

WithNames = Callable[[exp.Expr, Known], Known]
"""returns the CTEs that a query can see, its own among them"""


def is_aggregated(node: exp.Expr) -> bool:
    """Return whether an expression aggregates, windows and subqueries in it left out."""
    apart = exp.Query | exp.Window
    inside = node.walk(prune=lambda part: isinstance(part, apart))
    return any(isinstance(part, exp.AggFunc) and not isinstance(part, apart) for part in inside)


@dataclass(frozen=True, slots=True)
class AnsweredQuery:
    """A query in FROM whose rows are answers, the CTEs that it can see, and names given to its columns."""

    query: exp.Expr
    known: Known
    names: Sequence[str]
    alias: str


def answered_within(tree: exp.Select, known: Known, with_names: WithNames) -> AnsweredQuery | None:
    """Return the query in FROM whose rows are answers, if the SELECT around it only looks at them."""
    return None if any(map(is_aggregated, tree.expressions)) else _in_from(tree, known, with_names)


def answered_below(tree: exp.Select, known: Known, with_names: WithNames) -> AnsweredQuery | None:
    """Return the query in FROM whose rows are answers, if the SELECT around it aggregates all of them."""
    if any(tree.args.get(key) for key in ("where", "qualify", "distinct")):
        return None
    return _in_from(tree, known, with_names) if all(map(is_aggregated, tree.expressions)) else None


def _in_from(tree: exp.Select, known: Known, with_names: WithNames) -> AnsweredQuery | None:
    start = tree.args.get("from_")
    if start is None or any(tree.args.get(key) for key in ("joins", "group", "having")):
        return None
    item = start.this
    if item.args.get("joins"):
        return None
    alias = item.args.get("alias")
    names: Sequence[str] = [name.name for name in (alias.args.get("columns") or ())] if alias else ()
    if isinstance(item, exp.Subquery):
        query, within = item.this, known
    elif isinstance(item, exp.Table) and not item.db and fold(item.name) in known:
        cte = known[fold(item.name)]
        query, within, names = cte.tree, cte.known, names or cte.columns
    else:
        return None
    answered = is_answered(query, within, with_names)
    return AnsweredQuery(query, within, names, item.alias_or_name) if answered else None


def is_answered(query: exp.Expr, known: Known, with_names: WithNames) -> bool:
    """Return whether the rows of a query are answers, or what is made of them."""
    bare = query.unnest()
    if one_row_parts(bare) is not None:
        return True
    if not isinstance(bare, exp.Select):
        return False
    if bare.args.get("group") is not None or any(map(is_aggregated, bare.expressions)):
        return True
    if bare.args.get("from_") is None and bare.find(exp.Subquery):
        return True
    return answered_within(bare, with_names(bare, known), with_names) is not None


def one_row_parts(query: exp.Expr) -> list[exp.Select] | None:
    """Return the parts of a UNION, with ALL throughout or without, each of them a row of aggregates."""
    if not isinstance(query, exp.Union) or query.args.get("by_name"):
        return None
    found: list[exp.Select] = []
    for side in (query.this, query.expression):
        bare = side.unnest()
        inner = one_row_parts(bare)
        if inner is not None and bool(bare.args.get("distinct")) == bool(query.args.get("distinct")):
            found += inner
        elif isinstance(bare, exp.Select) and _is_row(bare):
            found.append(bare)
        else:
            return None
    return found if len({len(part.expressions) for part in found}) == 1 else None


def _is_row(query: exp.Select) -> bool:
    """Return whether a SELECT is a row of aggregates and constants."""
    told = [node for node in query.expressions if is_aggregated(node)]
    rest = [node for node in query.expressions if not is_aggregated(node)]
    kept = query.copy()
    kept.set("expressions", [node.copy() for node in told])
    return bool(told) and is_one_row(kept) and all(node.find(exp.Column, exp.Query) is None for node in rest)


def is_one_row(query: exp.Expr) -> bool:
    """Return whether a query has one row, whatever it looks at: aggregates of it all, and nothing else."""
    bare = query.unnest()
    if not isinstance(bare, exp.Select) or not bare.expressions:
        return False
    clauses = {key for key, value in bare.args.items() if value}
    return clauses <= {"expressions", "from_", "joins", "where", "with_"} and all(
        is_aggregated(node) for node in bare.expressions
    )
