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

from recuse.errors import ParameterError, RecuseError

FILE = Path(__file__).with_name("messages.json")
GAP = "…"
"""what stands for a name or number in a message"""
MOST = 12
"""messages that a word finds and that are listed"""


@dataclass(frozen=True, slots=True)
class CataloguedMessage:
    """What is said, with gaps; a question or policy that brings it about, and what to write instead."""

    code: str
    says: str
    example: str | None = None
    shown: str | None = None
    """what the example is told, whole"""
    instead: str | None = None
    """a question that is answered, where the example was refused"""

    def lines(self) -> Iterator[str]:
        """Yield the message for people."""
        for head, text in (
            ("code", self.code),
            ("says", self.says),
            ("example", self.example),
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


def message_of(
    error: RecuseError, known: Sequence[CataloguedMessage] | None = None
) -> CataloguedMessage | None:
    """Return the entry of an error: of those that match the one that says most itself."""
    found = [
        message
        for message in (messages() if known is None else known)
        if message.code.startswith(f"{error.code}.") and message.matches(error.problem)
    ]
    return max(found, key=lambda message: len(message.says.replace(GAP, "")), default=None)


def find(words: str) -> tuple[CataloguedMessage, ...]:
    """Return the message of a code, or those whose code or text has the words, or that say so; or refuse."""
    exact = [message for message in messages() if message.code == words]
    said = words.lower()
    found = exact or [
        message
        for message in messages()
        if said in message.code or said in message.says.lower() or _says(message, words)
    ]
    if not found:
        raise ParameterError(
            "no message has this code, or says so",
            found=words,
            hint="give a code, or some words of the message: explain-error individuals",
        )
    return tuple(found[:MOST])


def _says(message: CataloguedMessage, words: str) -> bool:
    """Return whether a whole line, as it was shown, holds this message, which says enough to be known by."""
    if len(message.says.replace(GAP, "")) < 12:
        return False
    return re.search(".*".join(map(re.escape, message.says.split(GAP))), words) is not None
