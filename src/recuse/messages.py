"""The catalogue of messages: every refusal and warning under a code, with what brings it about.

`messages.json` is made from the sources and the tests' examples by `docs/generate_messages.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("messages.json")
GAP = "…"
"""what stands for a name or number in a message"""


@dataclass(frozen=True, slots=True)
class CataloguedMessage:
    """What is said, with gaps; a question or policy that brings it about, and what to write instead."""

    code: str
    """the same in every version"""
    says: str
    example: str | None = None
    shown: str | None = None
    """what the example is told, whole"""
    instead: str | None = None
    """a question that is answered, where the example was refused"""
    why: str | None = None
    """why there is no example"""

    @property
    def kind(self) -> str:
        """The code of the class of errors, or `warning`, or `caution`."""
        return self.code.rpartition(".")[0]

    def lines(self) -> Iterator[str]:
        """Yield the message for people."""
        for head, text in (
            ("code", self.code),
            ("says", self.says),
            ("example", self.example if self.why is None else f"none: {self.why}"),
            ("told", self.shown),
            ("instead", self.instead),
        ):
            if text is not None:
                first, *others = text.splitlines() or [""]
                yield f"{head:<10}{first}"
                yield from (f"{'':<10}{line}" for line in others)

    def matches(self, problem: str) -> bool:
        """Return whether this is what an error says."""
        parts = map(re.escape, self.says.split(GAP))
        return re.fullmatch(".*".join(parts), problem, re.DOTALL) is not None


@cache
def messages() -> tuple[CataloguedMessage, ...]:
    """Return the catalogue, by code."""
    return tuple(CataloguedMessage(**entry) for entry in json.loads(FILE.read_text()))


def message_for(
    kind: str, words: str, known: Sequence[CataloguedMessage] | None = None
) -> CataloguedMessage | None:
    """Return the entry of what is said under the code of a kind, or under a more general one."""
    found = [
        message
        for message in (messages() if known is None else known)
        if f"{kind}.".startswith(f"{message.kind}.") and message.matches(words)
    ]
    return max(found, key=lambda message: (len(message.says.replace(GAP, "")), message.kind), default=None)


def finding(words: str) -> tuple[CataloguedMessage, ...]:
    """Return the message of a code, or those whose code or text has the words, or that say so."""
    exact = tuple(message for message in messages() if message.code == words)
    said = words.lower()
    return exact or tuple(
        message
        for message in messages()
        if said in message.code or said in message.says.lower() or _says(message, words)
    )


def _says(message: CataloguedMessage, words: str) -> bool:
    """Return whether a whole line, as it was shown, holds this message, which says enough to be known by."""
    if len(message.says.replace(GAP, "")) < 12:
        return False
    return re.search(".*".join(map(re.escape, message.says.split(GAP))), words) is not None
