"""Refusals as JSON and back: what crosses between processes, and between a server and its clients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from recuse.errors import PolicyError, QueryError, RecuseError, UnansweredError


def _library(kind: type[RecuseError]) -> Iterator[type[RecuseError]]:
    """Yield a class of errors and those below it that are the library's own."""
    if kind.__module__ == RecuseError.__module__:
        yield kind
        for child in kind.__subclasses__():
            yield from _library(child)


KINDS = {kind.code: kind for kind in _library(RecuseError) if kind is not UnansweredError}
"""the refusals that can be said by their code; a failure after the charge has no words to say"""


def _elsewhere(code: str) -> type[RecuseError]:
    """Return a class for a refusal that the library itself does not know: a server's."""
    return type(RecuseError.__name__, (RecuseError,), {}, code=code)


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
    kind = KINDS.get(found["code"]) or _elsewhere(found["code"])
    details: Any = {name: found.get(name) for name in ("found", "accepted", "hint")}
    if issubclass(kind, QueryError):
        return kind(found["problem"], line=found.get("line"), column=found.get("column"), **details)
    if issubclass(kind, PolicyError):
        return kind(found["problem"], line=found.get("line"), **details)
    return kind(found["problem"], **details)
