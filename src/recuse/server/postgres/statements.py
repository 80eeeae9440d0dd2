"""What a client sends, told apart: settings, transactions, what is shown, COPY, EXPLAIN, or a question."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from recuse.errors import ParameterError
from recuse.server.limits import MOST_SQL

_SKIP = r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?(?:\*/|\Z)"  # a remark without an end has none
_PARAMETER = re.compile(rf"{_SKIP}|\$(\d+)", re.DOTALL)
_END = re.compile(rf"{_SKIP}|(;)", re.DOTALL)
_NOISE = re.compile(r"(?:\s+|--[^\n]*(?:\n|$)|/\*(?!\s*epsilon).*?(?:\*/|\Z))+", re.DOTALL | re.IGNORECASE)
_SET = re.compile(r"set\s+(?:session\s+|local\s+)?([\w.]+)\s*(?:=|\sto\s)\s*(.*)", re.IGNORECASE | re.DOTALL)
_SHOW = re.compile(r"show\s+([\w. ]+)", re.IGNORECASE)
_COPY = re.compile(r"copy\s*\((.*)\)\s*to\s+stdout\b(.*)", re.IGNORECASE | re.DOTALL)
_OURS = re.compile(r"select\s+\*\s+from\s+recuse\.(budget|history|policy)", re.IGNORECASE)
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
    """empty, begin, end, quiet, set, show, constant, table, copy, explain, write, ask, or select: that is one
    of catalogue, mixed and ask, as a worker says"""
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
        if len(sql) > MOST_SQL:
            raise ParameterError("the statement is too long", accepted=f"up to {MOST_SQL} characters")
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
            return cls("quiet", sql, first.upper(), bare[len(first) :].strip())
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
        if first == "copy" and " to " in low:  # of a table, or into a file
            return cls("copy", sql)
        if first == "explain":
            return cls("explain", sql, rest=bare[len("explain") :].strip())
        if first in WRITES:
            return cls("write", sql)
        return cls("select", sql, rest=bare)


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
    return max((_number(found[1]) for found in _PARAMETER.finditer(sql) if found[1]), default=0)


def _number(said: str) -> int:
    """Return the number of a parameter; more digits than are allowed are not read."""
    if len(said) > len(str(MOST_PARAMETERS)) or int(said) > MOST_PARAMETERS:
        raise ParameterError("there are too many parameters", accepted=f"up to {MOST_PARAMETERS}")
    return int(said)


def bound(sql: str, literals: Sequence[str]) -> str:
    """Return a text with its parameters in their places.

    >>> bound("SELECT $1, '$1'", ["7"])
    "SELECT 7, '$1'"
    """

    def placed(found: re.Match[str]) -> str:
        if not found[1]:
            return found[0]
        if not 1 <= _number(found[1]) <= len(literals):
            raise ParameterError("a parameter has no value", found=found[0])
        return literals[_number(found[1]) - 1]

    return _PARAMETER.sub(placed, sql)
