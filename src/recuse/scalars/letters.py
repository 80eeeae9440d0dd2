"""Letters as DuckDB knows them: small and capital ones, spaces, and characters made of several."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable


def _one_by_one(change: Callable[[str], str], odd: dict[str, str]) -> Callable[[str], str]:
    """Return a change of letters one by one: a letter that would become several stays, or is listed."""

    def one(letter: str) -> str:
        changed = change(letter)
        return odd.get(letter, changed if len(changed) == 1 else letter)

    return lambda text: change(text) if text.isascii() else "".join(map(one, text))


lowered = _one_by_one(str.lower, {"\u0130": "i"})
raised = _one_by_one(str.upper, {"ß": "ẞ"})


def is_space(letter: str) -> bool:
    """Return whether trim takes a character away when no letters are named."""
    return unicodedata.category(letter) == "Zs"


def clusters(text: str) -> list[str]:
    """Return the characters that a reader sees: a letter with its marks, an emoji with its joiners."""
    if text.isascii() and "\r" not in text:
        return list(text)
    found: list[str] = []
    for letter in text:
        if found and _joins(found[-1], letter):
            found[-1] += letter
        else:
            found.append(letter)
    return found


def _joins(before: str, letter: str) -> bool:
    if before == "\r":
        return letter == "\n"
    if before[-1] in "\r\n" or unicodedata.category(before[-1]) == "Cc":
        return False
    if letter == JOINER or _is_mark(letter):
        return True
    return _is_picture(letter) and before[-1] == JOINER and _ends_in_a_picture(before[:-1])


JOINER = "\u200d"


def _ends_in_a_picture(text: str) -> bool:
    """Return whether a picture and its marks come last: after two joiners nothing is joined."""
    while text and _is_mark(text[-1]):
        text = text[:-1]
    return text != "" and _is_picture(text[-1])


def _is_mark(letter: str) -> bool:
    return unicodedata.category(letter) in ("Mn", "Me", "Mc")


def _is_picture(letter: str) -> bool:
    return unicodedata.category(letter) == "So"
