"""Where a piece of the query stands in the text, and the refusal that points at it."""

from __future__ import annotations

from sqlglot import exp

from recuse.errors import QueryError

Span = tuple[int, int]


def span(node: exp.Expr, text: str) -> Span | None:
    """Return the first and last offset of a node in the text, or None where sqlglot kept none of it.

    Names, literals and functions know their place; a node covers those of all its parts, and the closing
    parentheses that belong to it.
    """
    places = [
        (part.meta["start"], part.meta["end"])
        for part in node.walk()
        if "start" in part.meta and "end" in part.meta
    ]
    if not places:
        return None
    start, end = min(first for first, _ in places), max(last for _, last in places)
    open_ = 0
    for offset in range(start, len(text)):
        open_ += {"(": 1, ")": -1}.get(text[offset], 0)
        if offset >= end and open_ <= 0:
            return start, offset
    return start, end


def clause_span(node: exp.Expr, keyword: str, text: str) -> Span | None:
    """Return the place of a clause from its keyword on."""
    inner = span(node, text)
    before = text if inner is None else text[: inner[0]]
    start = before.upper().rfind(keyword.upper())
    if start < 0:
        return inner
    return start, inner[1] if inner is not None else start + len(keyword) - 1


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Return the position of an offset, both counted from 1.

    >>> line_and_column("SELECT *\\nFROM t", 14)
    (2, 6)
    """
    before = text[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


def refusal(
    problem: str, text: str, place: Span | None, *, accepted: str | None = None, hint: str | None = None
) -> QueryError:
    """Return the error that names the problem and quotes the place."""
    if place is None:
        return QueryError(problem, accepted=accepted, hint=hint)
    line, column = line_and_column(text, place[0])
    found = text[place[0] : place[1] + 1]
    return QueryError(problem, line=line, column=column, found=found, accepted=accepted, hint=hint)
