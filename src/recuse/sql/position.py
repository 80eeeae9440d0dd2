"""Where a piece of the query stands in the text, and the refusal that points at it."""

from __future__ import annotations

import re

from sqlglot import ErrorLevel, exp

from recuse.errors import QueryError
from recuse.fold import fold

Span = tuple[int, int]

_CALLED = re.compile(r"\w+\s*\(\s*(DISTINCT\s+)?$", re.IGNORECASE)
_OVER = re.compile(r"\s*(\(\s*\)\s*)?OVER\s*\(", re.IGNORECASE)


def span(node: exp.Expr, text: str) -> Span | None:
    """Return the first and last offset of a node in the text, or None where it cannot be told.

    sqlglot keeps the places of names, literals and most functions; a node covers its parts, from the
    keyword it begins with to the parenthesis that closes it.
    """
    places = [part.meta for part in node.walk() if "start" in part.meta and "end" in part.meta]
    if not places:
        written = node.sql(dialect="duckdb", unsupported_level=ErrorLevel.IGNORE)
        found = fold(text).find(fold(written)) if written else -1
        return (found, found + len(written) - 1) if found >= 0 else None
    start, end = min(place["start"] for place in places), max(place["end"] for place in places)
    for keyword in _keywords(node):
        found = fold(text).rfind(fold(keyword), 0, start)
        start = found if found >= 0 else start
    if _begins_with_its_name(node) and (called := _CALLED.search(text, 0, start)):
        start = called.start()
    if isinstance(node, exp.Window) and (over := _OVER.match(text, end + 1)):
        end = over.end() - 1
    if isinstance(node, exp.Func) and text[end + 1 : end + 2] == "(":
        end += 1
    return start, _closed(text, start, end)


def _begins_with_its_name(node: exp.Expr) -> bool:
    """Return whether a node is written name(…) and sqlglot has not kept the place of the name."""
    unnamed = exp.Cast | exp.Binary | exp.Connector | exp.Array | exp.Exists
    return isinstance(node, exp.Func) and "start" not in node.meta and not isinstance(node, unnamed)


def placed(node: exp.Expr, place: Span | None) -> exp.Expr:
    """Return a copy of an expression as if it were written at that place, in parentheses if it needs them."""
    copy = node.copy() if isinstance(node, exp.Column) else exp.paren(node)
    for part in copy.walk():
        part.meta.clear()
    if place is not None:
        copy.meta.update(start=place[0], end=place[1])
    return copy


def _keywords(node: exp.Expr) -> list[str]:
    """Return the words that a node without a place of its own begins with, the last first."""
    if isinstance(node, exp.Subquery):
        return ["SELECT", "("]
    if isinstance(node, exp.SetOperation | exp.Select):
        return ["SELECT"]
    if isinstance(node, exp.Any | exp.All | exp.Lateral):
        return ["SELECT", node.key.upper()]
    if isinstance(node, exp.Exists | exp.Values | exp.Unnest | exp.Rollup | exp.Cube):
        return [node.key.upper()]
    if isinstance(node, exp.Tuple):
        return ["("]
    if isinstance(node, exp.Array):
        return ["["]
    if isinstance(node, exp.Join):
        return [word for key in ("method", "side", "kind") if (word := node.args.get(key))][:1]
    return []


def _closed(text: str, start: int, end: int) -> int:
    """Return where the parentheses that open between `start` and `end` are closed."""
    depth = 0
    for offset in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[offset], 0)
        if offset >= end and depth <= 0:
            return offset
    return end


def clause_span(node: exp.Expr, keyword: str, text: str) -> Span | None:
    """Return the place of a clause from its keyword on."""
    inner = span(node, text)
    start = fold(text).rfind(fold(keyword), 0, len(text) if inner is None else inner[0] + 1)
    if start < 0:
        return inner
    return start, inner[1] if inner is not None and inner[1] > start else start + len(keyword) - 1


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Return the position of an offset, both counted from 1.

    >>> line_and_column("SELECT *\\nFROM t", 14)
    (2, 6)
    """
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


def refusal(
    problem: str,
    text: str,
    place: Span | None,
    *,
    accepted: str | None = None,
    hint: str | None = None,
    kind: type[QueryError] = QueryError,
) -> QueryError:
    """Return the error that names the problem and quotes the place."""
    if place is None:
        return kind(problem, accepted=accepted, hint=hint)
    line, column = line_and_column(text, place[0])
    found = text[place[0] : place[1] + 1]
    return kind(problem, line=line, column=column, found=found, accepted=accepted, hint=hint)


def called(word: str, text: str) -> Span | None:
    """Return where the first word of an aggregate's name stands in the text."""
    first = word.split()[0]
    start = fold(text).find(fold(first))
    return None if start < 0 else (start, start + len(first) - 1)
