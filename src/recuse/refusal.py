"""Refusals as JSON and back: what crosses between processes, and between a server and its clients."""

from __future__ import annotations

from typing import Any

from recuse.errors import (
    AnalystError,
    BudgetError,
    DatabaseError,
    LedgerError,
    ParameterError,
    PolicyError,
    QueryError,
    RecuseError,
    StatisticsError,
    UnansweredError,
)

KINDS: dict[str, type[RecuseError]] = {
    kind.code: kind
    for kind in (
        RecuseError,
        ParameterError,
        StatisticsError,
        PolicyError,
        QueryError,
        DatabaseError,
        LedgerError,
        AnalystError,
        BudgetError,
    )
}
"""the refusals that can be said by their code; a failure after the charge has no words to say"""


def said(error: RecuseError) -> dict[str, Any]:
    """Return a refusal as JSON can write it."""
    return {
        "code": error.code,
        "problem": error.problem,
        "found": error.found,
        "accepted": error.accepted,
        "hint": error.hint,
        "line": getattr(error, "line", None),
        "column": getattr(error, "column", None),
    }


def error_of(found: dict[str, Any]) -> RecuseError:
    """Return the refusal that was said."""
    if found["code"] == UnansweredError.code:
        return UnansweredError()
    kind = KINDS.get(found["code"], RecuseError)
    details: Any = {name: found.get(name) for name in ("found", "accepted", "hint")}
    if issubclass(kind, QueryError):
        return kind(found["problem"], line=found.get("line"), column=found.get("column"), **details)
    if issubclass(kind, PolicyError):
        return kind(found["problem"], line=found.get("line"), **details)
    return kind(found["problem"], **details)
