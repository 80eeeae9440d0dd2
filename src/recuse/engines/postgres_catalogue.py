"""The catalogue of a PostgreSQL database: tables, columns, types, enforced keys. Never a value from a row.

Only what PostgreSQL holds for every row now is believed: constraints that are validated and not deferrable.
What could hide rows, compute them when they are read, or keep old copies is left out, and it is said why.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from recuse.engines.literals import text_literal
from recuse.fold import fold
from recuse.scalars.postgres.spelling import ZONED
from recuse.scalars.types import DIGITS
from recuse.sql.catalogue import Catalogue, Column, ForeignKey, LeftOut, Table
from recuse.sql.postgres import POSTGRES, listed
from recuse.sql.signs import states_no_negative

SystemRows = Callable[[str], list[tuple[Any, ...]]]
"""how a statement about the catalogue is run"""

LEFT_OUT = {
    "m": "it is a materialized view, a copy of other tables that may be old",
    "f": "it is a foreign table, whose rows another server has",
    "rls": "it has row-level security, so that a role sees a part of its rows only",
    "child": "it inherits from another table, or others inherit from it",
    "part": "it is a part of a partitioned table",
    "twice": "it or a column of it differs from another in capitals only",
}
"""why a relation is not read, by its kind or a word of ours"""
READ_AS = frozenset(
    {
        "smallint", "integer", "bigint", "real", "double precision", "text", "boolean", "date", "uuid",
        "character varying", "time without time zone", "timestamp without time zone",
    }
)  # fmt: skip
"""types that are read, besides numeric(p, s), character(n), character varying(n) and ENUMs"""
_TABLES = """
SELECT c.oid::text, n.nspname::text, c.relname::text, c.relkind::text, c.relrowsecurity, c.relispartition,
       EXISTS (SELECT 1 FROM pg_inherits i JOIN pg_class p ON p.oid = i.inhparent
               WHERE (i.inhrelid = c.oid OR i.inhparent = c.oid) AND p.relkind = 'r') AS inherits,
       CASE WHEN c.relkind = 'v' THEN pg_get_viewdef(c.oid) END
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN unnest(ARRAY[{schemas}]) WITH ORDINALITY AS s(name, place) ON s.name = n.nspname
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND (has_table_privilege(c.oid, 'SELECT') OR has_any_column_privilege(c.oid, 'SELECT'))
ORDER BY s.place, c.relname
"""
_COLUMNS = """
SELECT a.attrelid::text, a.attname::text, format_type(b.oid, b.typmod), b.typtype::text, b.builtin,
       a.attnotnull, a.attgenerated::text, coalesce(co.collname::text, ''), b.labels
FROM pg_attribute a
JOIN pg_type t ON t.oid = a.atttypid
CROSS JOIN LATERAL (
    WITH RECURSIVE base(oid, typmod, typtype, below, namespace) AS (
        SELECT t.oid, a.atttypmod, t.typtype, t.typbasetype, t.typnamespace
        UNION ALL
        SELECT d.oid, CASE WHEN base.typmod >= 0 THEN base.typmod ELSE o.typtypmod END, d.typtype,
               d.typbasetype, d.typnamespace
        FROM base JOIN pg_type o ON o.oid = base.oid JOIN pg_type d ON d.oid = base.below
        WHERE base.typtype = 'd'
    )
    SELECT oid, typmod, typtype, namespace = 'pg_catalog'::regnamespace AS builtin,
           (SELECT string_agg(quote_literal(e.enumlabel), ', ' ORDER BY e.enumsortorder) FROM pg_enum e
            WHERE e.enumtypid = base.oid) AS labels
    FROM base WHERE typtype <> 'd'
) b
LEFT JOIN pg_collation co ON co.oid = a.attcollation
WHERE a.attrelid = ANY (ARRAY[{tables}]::oid[]) AND a.attnum > 0 AND NOT a.attisdropped
  AND has_column_privilege(a.attrelid, a.attnum, 'SELECT')
ORDER BY a.attrelid, a.attnum
"""
_KEYS = """
SELECT k.conrelid::text, k.contype::text, k.confrelid::text,
       (SELECT string_agg(quote_ident(a.attname), ',' ORDER BY u.place)
        FROM unnest(k.conkey) WITH ORDINALITY AS u(number, place)
        JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.number),
       (SELECT string_agg(quote_ident(a.attname), ',' ORDER BY u.place)
        FROM unnest(k.confkey) WITH ORDINALITY AS u(number, place)
        JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = u.number),
       CASE WHEN k.contype = 'c' THEN pg_get_expr(k.conbin, k.conrelid) END
FROM pg_constraint k LEFT JOIN pg_index i ON i.indexrelid = k.conindid
WHERE k.conrelid = ANY (ARRAY[{tables}]::oid[]) AND k.contype IN ('p', 'u', 'f', 'c')
  AND k.convalidated AND NOT k.condeferrable
  AND (k.contype NOT IN ('p', 'u') OR i.indisvalid){enforced}
ORDER BY k.conrelid, k.conname
"""


@dataclass(frozen=True, slots=True)
class _Relation:
    """A table or view that may be asked about, before its columns are known."""

    schema: str
    name: str
    view: str | None


@dataclass(frozen=True, slots=True)
class SystemCatalogue:
    """Where PostgreSQL says what tables the schemas of a search path have; the first of a name counts."""

    rows: SystemRows
    schemas: Sequence[str]
    version: int

    def catalogue(self) -> Catalogue:
        """Return the tables with their columns, types and enforced keys, and what is left out."""
        found, left = self._relations()
        oids = ", ".join(found) or "NULL"
        columns = self._columns(oids)
        keys, references, checks = self._constraints(oids, found)
        tables = [
            Table(
                relation.name,
                tuple(_marked(columns[oid], checks[oid])),
                tuple(keys[oid]),
                tuple(references[oid]),
                path=(relation.schema, relation.name),
                view=None if relation.view is None else f"CREATE VIEW v AS {relation.view}",
                checks=tuple(checks[oid]),
            )
            for oid, relation in sorted(found.items(), key=lambda item: item[1].name)
        ]
        clear = [table for table in tables if _is_clear(column.name for column in table.columns)]
        left += [LeftOut(table.name, LEFT_OUT["twice"]) for table in tables if table not in clear]
        return Catalogue(tuple(clear), dialect=POSTGRES, left_out=tuple(left))

    def _relations(self) -> tuple[dict[str, _Relation], list[LeftOut]]:
        schemas = ", ".join(map(text_literal, self.schemas)) or "NULL::text"
        seen: dict[str, str] = {}
        found: dict[str, _Relation] = {}
        left: list[LeftOut] = []
        for oid, schema, name, kind, secured, part, inherits, view in self.rows(
            _TABLES.format(schemas=schemas)
        ):
            if name in seen.values():
                continue  # an earlier schema of the search path has it
            why = "rls" if secured else "part" if part else "child" if inherits else kind
            if fold(name) in seen:
                found = {one: old for one, old in found.items() if fold(old.name) != fold(name)}
                left += [LeftOut(one, LEFT_OUT["twice"]) for one in (seen[fold(name)], name)]
            elif why in LEFT_OUT:
                left.append(LeftOut(name, LEFT_OUT[why]))
            else:
                found[oid] = _Relation(schema, name, view)
            seen[fold(name)] = name
        return found, left

    def _columns(self, oids: str) -> dict[str, list[Column]]:
        columns: dict[str, list[Column]] = defaultdict(list)
        for table, name, spelled, kind, builtin, filled, generated, collation, labels in self.rows(
            _COLUMNS.format(tables=oids)
        ):
            if generated == "v":
                continue  # computed when it is read
            read = _type(spelled, kind, collation, labels, builtin=builtin)
            columns[table].append(Column(name, read, nullable=not filled))
        return columns

    def _constraints(
        self, oids: str, relations: dict[str, _Relation]
    ) -> tuple[dict[str, list[tuple[str, ...]]], dict[str, list[ForeignKey]], dict[str, list[str]]]:
        keys: dict[str, list[tuple[str, ...]]] = defaultdict(list)
        references: dict[str, list[ForeignKey]] = defaultdict(list)
        checks: dict[str, list[str]] = defaultdict(list)
        enforced = " AND k.conenforced" if self.version >= 180000 else ""
        for table, kind, target, mine, theirs, check in self.rows(
            _KEYS.format(tables=oids, enforced=enforced)
        ):
            if kind == "c":
                checks[table] += _plain(check)
            elif kind == "f":
                if target in relations:
                    references[table].append(ForeignKey(_names(mine), relations[target].name, _names(theirs)))
            else:
                keys[table].append(_names(mine))
        return keys, references, checks


def _type(spelled: str, kind: str, collation: str, labels: str | None, *, builtin: bool) -> str:
    """Return a type as `scalars.types.stored` reads it; one that is not read stays as PostgreSQL spells it.

    Text of a collation of its own is not read: equal text may not be the same, and two do not compare.
    """
    if kind == "e":
        return f"ENUM({labels or ''})"
    if collation not in ("", "default", "C"):
        return f"{spelled} COLLATE {collation}"
    if not builtin or kind != "b":
        return f"{spelled} (not built in)"
    if spelled.startswith("numeric(") and int(re.findall(r"\d+", spelled)[0]) > DIGITS:
        return f"{spelled} (more than {DIGITS} digits)"
    if spelled == "timestamp with time zone":
        return ZONED
    return spelled.upper() if spelled in READ_AS or spelled.startswith(("numeric(", "character")) else spelled


def _names(quoted: str) -> tuple[str, ...]:
    """Return names that are written one after another, in quotes where PostgreSQL needs them."""
    tree = sqlglot.parse_one(f"SELECT {quoted}", dialect="postgres")
    return tuple(column.name for column in tree.expressions)


def _is_clear(names: Iterable[str]) -> bool:
    listed = [fold(name) for name in names]
    return len(set(listed)) == len(listed)


def _marked(columns: Sequence[Column], checks: Sequence[str]) -> list[Column]:
    """Return the columns, those marked that an enforced CHECK keeps from being below 0."""
    parts = [sqlglot.parse_one(check, dialect="duckdb").unnest() for check in checks]
    named = {fold(found.name) for found in map(states_no_negative, parts) if found is not None}
    return [replace(column, nonnegative=True) if fold(column.name) in named else column for column in columns]


def _plain(check: str) -> list[str]:
    """Return the parts of a CHECK as they would be written by hand; one that is not understood says nothing.

    PostgreSQL writes an IN as = ANY (ARRAY[…]), and casts wherever types meet.
    """
    try:
        tree = sqlglot.parse_one(f"SELECT {check}", dialect="postgres")
    except SqlglotError:
        return []
    for node in reversed(list(tree.find_all(exp.Cast, exp.EQ, exp.Paren))):
        inner = node.this.unnest()
        if isinstance(node, exp.EQ):
            node.replace(listed(node))
        elif isinstance(inner, exp.Literal) or (isinstance(inner, exp.Column) and _is_text(node)):
            node.replace(inner.copy())
    found = tree.expressions[0].unnest()
    parts = list(found.flatten()) if isinstance(found, exp.And) else [found]
    return [part.unnest().sql(dialect="duckdb") for part in parts]


def _is_text(node: exp.Expr) -> bool:
    return isinstance(node, exp.Paren) or node.args["to"].this in exp.DataType.TEXT_TYPES
