"""Commands as they were spelled before 0.2: they keep working, and mean what is written beside them.

    recuse ask … --estimate             recuse estimate …
    recuse graph FILE …                 recuse graph count FILE …
    recuse graph FILE … --explain       recuse graph explain FILE …
    recuse graph FILE … --transitivity  recuse graph transitivity FILE …

Options that the old commands took and passed over are left out.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from typer.core import TyperGroup

GRAPH = ("count", "explain", "transitivity", "motifs", "degrees")
CHARGED = ("--epsilon", "--ledger", "--budget", "--analyst", "--mechanism")


class OldSpellings(TyperGroup):
    """A group of commands that understands old spellings."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        return super().resolve_command(ctx, modern(args))


def modern(words: Sequence[str]) -> list[str]:
    """Return a command as it is spelled today.

    >>> modern(["graph", "friends.csv", "--explain", "--pattern", "edge", "--epsilon=1"])
    ['graph', 'explain', 'friends.csv', '--pattern', 'edge']
    >>> modern(["graph", "count", "friends.csv"])
    ['graph', 'count', 'friends.csv']
    """
    match words:
        case ["ask", *rest] if "--estimate" in rest:
            return ["estimate", *_without("--estimate", ("--ledger", "--analyst"), rest)]
        case ["graph", first, *_] if first in (*GRAPH, "--help"):
            return [*words]
        case ["graph", *rest] if "--explain" in rest:
            return ["graph", "explain", *_without("--explain", CHARGED, rest)]
        case ["graph", *rest] if "--transitivity" in rest:
            return ["graph", "transitivity", *_without("--transitivity", ("--mechanism",), rest)]
        case ["graph", *rest] if rest:
            return ["graph", "count", *rest]
        case _:
            return [*words]


def _without(flag: str, passed_over: Collection[str], words: Sequence[str]) -> list[str]:
    """Return the words without a flag, and without options that are passed over and their values."""
    found, rest = [], iter(words)
    for word in rest:
        if word in passed_over:
            next(rest, None)
        elif word != flag and word.partition("=")[0] not in passed_over:
            found.append(word)
    return found
