"""The query as it was understood: sources, conditions, one aggregate, and what the passes add to it.

The text has been read completely: names are resolved and spelled as the catalogue does, joins are a list
of sources with conditions that must all hold. Scalar expressions are sqlglot trees, and never changed in
place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from sqlglot import ErrorLevel, exp

from recuse.sql.catalogue import Catalogue, Column, Table
from recuse.sql.ownership import Ownership

Scalar = exp.Expr
_SIMPLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Aggregate(Enum):
    """What is asked about the rows."""

    COUNT = "COUNT"
    SUM = "SUM"


@dataclass(frozen=True, slots=True)
class Scan:
    """A table in FROM under its alias."""

    alias: str
    table: Table


@dataclass(frozen=True, slots=True)
class Owner:
    """A participant that every row of the query belongs to: its kind, and the values that name it."""

    kind: str
    values: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """SELECT aggregate FROM sources WHERE conditions, with the owners and the weight of every row.

    `owners` and `weight` are filled in by the passes; `completed` says in words which joins they added.
    """

    aggregate: Aggregate
    argument: Scalar | None
    sources: tuple[Scan, ...]
    conditions: tuple[Scalar, ...]
    owners: tuple[Owner, ...] = ()
    weight: Scalar | None = None
    completed: tuple[str, ...] = ()

    def scan(self, alias: str) -> Scan | None:
        """Return the source of that alias."""
        return next((scan for scan in self.sources if scan.alias.lower() == alias.lower()), None)

    def column(self, node: Scalar) -> Column | None:
        """Return the catalogue's column that a resolved column node stands for."""
        scan = self.scan(node.table) if isinstance(node, exp.Column) else None
        return scan.table.column(node.name) if scan is not None else None


@dataclass(frozen=True, slots=True)
class Schema:
    """What a query is read against: catalogue, ownership, the unit of sums, and the text for messages."""

    catalogue: Catalogue
    ownership: Ownership
    granularity: Fraction
    text: str


# ------------------------------------------------------------------ building SQL


def column(alias: str, name: str) -> exp.Column:
    """Return alias.name, quoted."""
    return exp.column(exp.to_identifier(name, quoted=True), exp.to_identifier(alias, quoted=True))


def attempt(scalar: Scalar) -> Scalar:
    """Return TRY(scalar): NULL for a row on which it would raise."""
    return exp.Anonymous(this="TRY", expressions=[scalar.copy()])


def table_reference(scan: Scan) -> exp.Table:
    """Return the table by its full path, so that no other object can stand in for it."""
    names = [exp.to_identifier(part, quoted=True) for part in (scan.table.path or (scan.table.name,))]
    arguments: Mapping[str, exp.Identifier] = dict(
        zip(("this", "db", "catalog"), reversed(names), strict=False)
    )
    return exp.Table(**arguments, alias=exp.TableAlias(this=exp.to_identifier(scan.alias, quoted=True)))


def select(query: Query, *outputs: Scalar) -> exp.Select:
    """Return SELECT outputs FROM the query's sources WHERE its conditions."""
    statement = exp.Select(expressions=[output.copy() for output in outputs])
    first, *rest = query.sources
    statement.set("from_", exp.From(this=table_reference(first)))
    statement.set("joins", [exp.Join(this=table_reference(scan), kind="CROSS") for scan in rest])
    if query.conditions:
        parts = [exp.paren(part) if isinstance(part, exp.Or) else part.copy() for part in query.conditions]
        statement.set("where", exp.Where(this=exp.and_(*parts, copy=False, wrap=False)))
    return statement


def plain(query: Query) -> exp.Select:
    """Return the query as ordinary SQL, without owners and weights."""
    star = exp.Star() if query.argument is None else query.argument.copy()
    function = exp.Count if query.aggregate is Aggregate.COUNT else exp.Sum
    return select(query, function(this=star))


def render(statement: exp.Expr) -> str:
    """Return the SQL text for DuckDB."""
    return statement.sql(dialect="duckdb", comments=False, unsupported_level=ErrorLevel.RAISE)


def readable(statement: exp.Expr) -> str:
    """Return the SQL text for people: tables without their path, quotes only where they matter."""

    def shorten(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Table):
            node.set("db", None)
            node.set("catalog", None)
            if node.alias == node.name:
                node.set("alias", None)
        if isinstance(node, exp.Identifier) and _SIMPLE.fullmatch(node.name):
            node.set("quoted", False)
        return node

    return render(statement.transform(shorten))
