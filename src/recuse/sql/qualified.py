"""Columns that are written with the schema of their table, as tools write them: "public"."orders"."day"."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from recuse.fold import fold


def shorten(tree: exp.Expr) -> None:
    """Leave the schema out of columns whose table stands in FROM around them by that name, without an alias.

    >>> import sqlglot
    >>> tree = sqlglot.parse_one("SELECT a.t.x, b.t.x FROM a.t, b.t AS u")
    >>> shorten(tree)
    >>> tree.sql()
    'SELECT t.x, b.t.x FROM a.t, b.t AS u'
    """
    for column in list(tree.find_all(exp.Column)):
        if column.args.get("db") and not column.args.get("catalog") and _named(column) in _around(column):
            column.set("db", None)


def _named(node: exp.Column) -> tuple[str, str]:
    return fold(node.db), fold(node.table)


def _around(node: exp.Expr) -> Iterator[tuple[str, str]]:
    """Yield the schemas and names of tables without alias in the FROM of every SELECT around a node."""
    select = node.find_ancestor(exp.Select)
    while select is not None:
        items = [select.args.get("from_"), *(select.args.get("joins") or ())]
        for table in (item.this for item in items if item is not None):
            if isinstance(table, exp.Table) and table.db and not table.alias:
                yield fold(table.db), fold(table.name)
        select = select.find_ancestor(exp.Select)
