"""What a client sends, told apart: settings, transactions, what is shown, COPY, EXPLAIN, or a question."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError

from recuse.errors import ParameterError

_SKIP = r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/"
_PARAMETER = re.compile(rf"{_SKIP}|\$(\d+)", re.DOTALL)
_END = re.compile(rf"{_SKIP}|(;)", re.DOTALL)
_NOISE = re.compile(r"(?:\s+|--[^\n]*(?:\n|$)|/\*(?!\s*epsilon).*?\*/)+", re.DOTALL | re.IGNORECASE)
_SET = re.compile(r"set\s+(?:session\s+|local\s+)?([\w.]+)\s*(?:=|\sto\s)\s*(.*)", re.IGNORECASE | re.DOTALL)
_SHOW = re.compile(r"show\s+([\w. ]+)", re.IGNORECASE)
_COPY = re.compile(r"copy\s*\((.*)\)\s*to\s+stdout\b(.*)", re.IGNORECASE | re.DOTALL)
_OURS = re.compile(r"select\s+\*\s+from\s+recuse\.(budget|history|policy)", re.IGNORECASE)
_CATALOGUE = re.compile(r"\b(pg_catalog|information_schema|pg_\w+)\b", re.IGNORECASE)
_FROM = re.compile(r"\bfrom\b", re.IGNORECASE)
BEGINS = ("begin", "start transaction")
ENDS = ("commit", "end", "rollback", "abort")
QUIET = ("savepoint", "release", "discard", "deallocate", "reset", "close", "listen", "unlisten")
WRITES = (
    "insert",
    "update",
    "delete",
    "create",
    "drop",
    "alter",
    "truncate",
    "grant",
    "revoke",
    "merge",
    "copy",
)
CONSTANTS = {
    "select pg_catalog.version()": "version",
    "select version()": "version",
    "select current_schema()": "current_schema",
    "select current_database()": "current_database",
    "select current_user": "current_user",
    "select 1": "one",
}
MOST_PARAMETERS = 100


@dataclass(frozen=True, slots=True)
class ClientStatement:
    """A statement: its kind, what it is about, and its text."""

    kind: str
    """empty, begin, end, quiet, set, show, constant, table, copy, explain, write, catalogue, mixed or ask"""
    text: str
    word: str = ""
    rest: str = ""

    @classmethod
    def of(cls, sql: str) -> ClientStatement:
        """Return what a text is.

        >>> ClientStatement.of("SET recuse.epsilon = '0.5'").kind, ClientStatement.of(" ; ").kind
        ('set', 'empty')
        >>> ClientStatement.of("EXPLAIN SELECT COUNT(*) FROM t").rest
        'SELECT COUNT(*) FROM t'
        """
        head = _NOISE.match(sql)
        bare = (sql[head.end() :] if head else sql).rstrip().rstrip(";").rstrip()
        low = " ".join(bare.lower().split())
        first = low.partition(" ")[0]
        if not low:
            return cls("empty", sql)
        if low.startswith(BEGINS):
            return cls("begin", sql, "BEGIN")
        if first in ENDS:
            undone = first in ("rollback", "abort")
            kind = "quiet" if low.startswith("rollback to") else "end"
            return cls(kind, sql, "ROLLBACK" if undone else "COMMIT")
        if first in QUIET:
            return cls("quiet", sql, first.upper())
        if found := _SET.fullmatch(bare):
            return cls("set", sql, found[1].lower(), found[2].strip().strip("'"))
        if first == "set":  # SET TRANSACTION, SET SESSION CHARACTERISTICS
            return cls("quiet", sql, "SET")
        if found := _SHOW.fullmatch(bare):
            return cls("show", sql, found[1].lower())
        if low in CONSTANTS:
            return cls("constant", sql, CONSTANTS[low])
        if found := _OURS.fullmatch(bare):
            return cls("table", sql, found[1].lower())
        if found := _COPY.fullmatch(bare):
            return cls("copy", sql, found[2].lower(), found[1])
        if first == "explain":
            return cls("explain", sql, rest=bare[len("explain") :].strip())
        if first in WRITES:
            return cls("write", sql)
        kind, word = _asked_of(bare)
        return cls(kind, sql, word, rest=sql)


SYSTEM = "system"


def _asked_of(sql: str) -> tuple[str, str]:
    """Return whom a SELECT asks: the catalogue if all its tables are the system's, or none is named at all.

    What names both is neither's: an empty catalogue would answer for tables that are not empty.

    >>> _asked_of("SELECT relname FROM pg_class"), _asked_of("SELECT now()")
    (('catalogue', 'system'), ('catalogue', ''))
    >>> _asked_of("SELECT COUNT(*) FROM pupil"), _asked_of("SELECT COUNT(*) FROM pupil, pg_class")
    (('ask', ''), ('mixed', ''))
    """
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
        return table.db.lower() in ("pg_catalog", "information_schema")
    return table.name.lower().startswith("pg_")


def split(sql: str) -> list[str]:
    """Return the statements of a text.

    >>> split("SELECT ';'; SHOW x;")
    ["SELECT ';'", ' SHOW x']
    """
    found, start = [], 0
    for end in _END.finditer(sql):
        if end[1]:
            found.append(sql[start : end.start()])
            start = end.end()
    return [part for part in [*found, sql[start:]] if part.strip()] or [""]


def parameters_of(sql: str) -> int:
    """Return how many parameters a text has."""
    count = max((int(found[1]) for found in _PARAMETER.finditer(sql) if found[1]), default=0)
    if count > MOST_PARAMETERS:
        raise ParameterError("there are too many parameters", accepted=f"up to {MOST_PARAMETERS}")
    return count


def bound(sql: str, literals: Sequence[str]) -> str:
    """Return a text with its parameters in their places.

    >>> bound("SELECT $1, '$1'", ["7"])
    "SELECT 7, '$1'"
    """

    def placed(found: re.Match[str]) -> str:
        if not found[1]:
            return found[0]
        if not 1 <= int(found[1]) <= len(literals):
            raise ParameterError("a parameter has no value", found=found[0])
        return literals[int(found[1]) - 1]

    return _PARAMETER.sub(placed, sql)
