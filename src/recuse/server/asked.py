"""Whom a SELECT asks: the catalogue of PostgreSQL, or the data. It is parsed in a worker, never in front.

A text of a few words can keep a parser for hours (`ARRAY[ARRAY[ARRAY[…`), and the front process serves all.
"""

from __future__ import annotations

import re

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from recuse.fold import fold

SYSTEM = "system"
_CATALOGUE = re.compile(r"\b(pg_catalog|information_schema|pg_\w+)\b", re.IGNORECASE)
_HEAD = re.compile(r"(?:[\s(]|--[^\n]*|/\*.*?(?:\*/|\Z))*(\w*)", re.DOTALL)
READS = ("select", "with", "values", "table")
"""what may be asked of the catalogue; all else is a question, and refused as one"""
_FROM = re.compile(r"\bfrom\b", re.IGNORECASE)


def asked_of(sql: str) -> tuple[str, str]:
    """Return whom a SELECT asks: the catalogue if all its tables are the system's, or none is named at all.

    What names both is neither's: an empty catalogue would answer for tables that are not empty.

    >>> asked_of("SELECT relname FROM pg_class"), asked_of("SELECT now()")
    (('catalogue', 'system'), ('catalogue', ''))
    >>> asked_of("SELECT COUNT(*) FROM pupil"), asked_of("SELECT COUNT(*) FROM pupil, pg_class")
    (('ask', ''), ('mixed', ''))
    >>> asked_of("/* SELECT */ DO $$ BEGIN LOOP END LOOP; END $$")
    ('ask', '')
    """
    head = _HEAD.match(sql)
    if head is None or fold(head[1]) not in READS:
        return "ask", ""
    try:
        tree = parse_one(sql, read="postgres")
    except (SqlglotError, RecursionError):
        return ("catalogue", SYSTEM) if _CATALOGUE.search(sql) or not _FROM.search(sql) else ("ask", "")
    named = {cte.alias for cte in tree.find_all(exp.CTE)}
    tables = [
        table
        for table in tree.find_all(exp.Table)
        if (table.db or table.name not in named) and not isinstance(table.this, exp.Func)
    ]
    system = [table for table in tables if _is_system(table)]
    if tables and not system:
        return "ask", ""
    if len(system) < len(tables):
        return "mixed", ""
    return "catalogue", SYSTEM if system or _CATALOGUE.search(sql) else ""


def _is_system(table: exp.Table) -> bool:
    if table.db:
        return fold(table.db) in ("pg_catalog", "information_schema")
    return fold(table.name).startswith("pg_")
