"""A question about nobody: every table in it is public, so it is run as it is, whatever it asks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlglot import exp

from recuse.errors import QueryError
from recuse.fold import fold
from recuse.scalars.types import Type
from recuse.sql.native.lower import NativeLowering
from recuse.sql.native.read import NativeReader
from recuse.sql.native.tables import Tables
from recuse.sql.native.tree import names_of, native_scans
from recuse.sql.ownership import Linked, Owned, ProtectedTable, PublicTable
from recuse.sql.schema import Schema


@dataclass(frozen=True, slots=True)
class PublicQuery:
    """A question about nobody: the SQL that answers it, its columns, and the tables that it looks at."""

    sql: str
    names: tuple[str, ...]
    types: tuple[Type, ...]
    tables: tuple[tuple[str, str], ...]
    """alias and name of each"""


def public_query(tree: exp.Query, schema: Schema, tables: Tables) -> PublicQuery | None:
    """Return a question about nobody, ready to be run; None if it is about somebody.

    What names public tables only is refused for what is not understood in it: it lists no individuals.

    Guarantee: no row of a table that anybody owns is read, so the answer is the same whoever withdraws.
    """
    if _names_somebody(tree, schema):
        return None
    try:
        query = NativeReader(schema, tables).query(tree)
        scans = list(native_scans(query))
        public = all(isinstance(schema.ownership.of(scan.table.name), PublicTable) for scan in scans)
        if not public or not (scans or _is_constant(tree)):
            return None
        sql = NativeLowering(text=schema.text, dialect=schema.catalogue.dialect).query(query)
    except QueryError:
        if _names_public_tables(tree, schema) or _is_constant(tree):
            raise
        return None
    looked_at = tuple((scan.alias, scan.table.name) for scan in scans)
    return PublicQuery(sql, names_of(query), query.types, looked_at)


def _is_constant(tree: exp.Query) -> bool:
    """Return whether a query names no table and aggregates nothing: SELECT 1, by which tools try us.

    Where something is aggregated FROM was forgotten.
    """
    if not isinstance(tree, exp.Select) or not tree.expressions:
        return False
    return tree.find(exp.Table, exp.AggFunc, exp.Values) is None


def _names_somebody(tree: exp.Query, schema: Schema) -> bool:
    """Return whether a query names a table whose rows are somebody's: a short cut, which no CTE deceives."""
    return any(isinstance(owned, ProtectedTable | Linked) for owned in _named(tree, schema))


def _names_public_tables(tree: exp.Query, schema: Schema) -> bool:
    """Return whether a query names tables, and public ones only: no views, and none that are not there."""
    named = list(_named(tree, schema))
    return bool(named) and all(isinstance(owned, PublicTable) for owned in named)


def _named(tree: exp.Query, schema: Schema) -> Iterator[Owned | None]:
    hidden = {fold(cte.alias) for cte in tree.find_all(exp.CTE)}
    names = {fold(table.name) for table in tree.find_all(exp.Table)} - hidden
    return (schema.ownership.of(name) for name in names)
