"""Queries that have a name: the CTEs that a query can see, and the definition of a view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from sqlglot import exp

from recuse.errors import QueryError
from recuse.fold import fold
from recuse.sql.position import clause_span, refusal, span


@dataclass(frozen=True, slots=True)
class Named:
    """A CTE: its tree, the CTEs that it can see, and the names of its columns."""

    tree: exp.Query
    known: Mapping[str, Named]
    columns: tuple[str, ...]


Known = Mapping[str, Named]
NOTHING: Known = MappingProxyType({})


def names_in(tree: exp.Expr, known: Known, text: str) -> Known:
    """Return the CTEs that a query can see: those of its own WITH, and those around it."""
    clause = tree.args.get("with_")
    if clause is None:
        return known
    if clause.args.get("recursive"):
        place = clause_span(clause, "WITH", text)
        hint = "write out as many joins as you need"
        raise refusal("a recursive CTE is not answered", text, place, hint=hint)
    for item in clause.expressions:
        if {key for key, value in item.args.items() if value} - {"this", "alias"}:
            hint = "write WITH name AS (SELECT …)"
            raise refusal("this form of a CTE is not accepted", text, span(item, text), hint=hint)
        columns = tuple(name.name for name in item.args["alias"].args.get("columns") or ())
        known = {**known, fold(item.alias): Named(item.this, known, columns)}
    return known


def view_query(definition: str) -> str:
    """Return the SELECT of CREATE VIEW name AS SELECT ….

    >>> view_query("CREATE VIEW v(a) AS SELECT x FROM t;")
    'SELECT x FROM t'
    """
    words = definition.rstrip().rstrip(";")
    start = fold(words).find(" as ")
    if start < 0:
        raise QueryError("its definition cannot be read")
    return words[start + len(" AS ") :].strip()
