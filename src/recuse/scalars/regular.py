"""Regular expressions that engines read alike: a grammar, and each expression as Python writes it.

    expression  branch { "|" branch }
    branch      { "^" | "$" | "\\b" | atom [ repetition ] }
    atom        character | "." | escape | class | "(" [ "?:" ] expression ")"
    repetition  ( "*" | "+" | "?" | "{n}" | "{n,}" | "{n,m}" ) [ "?" ]

Anything else is refused: what engines read differently, and what explodes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from recuse.scalars.function import Mistyped

MOST = 1_000
"""Characters of an expression, and states of it when its counts are written out."""
MOST_NESTED = 20
HINT = "write a plain one: letters, classes, ( | ), * + ? {2,5}; lower(x) to ignore capitals"

_SPACE = "\\t\\n\\f\\r "
_CLASSES = {"d": "0-9", "w": "0-9A-Za-z_", "s": _SPACE}
_LETTERS = {"n": "\\n", "r": "\\r", "t": "\\t", "f": "\\f"}
_COUNT = re.compile(r"\{(\d{1,4})(?:(,)(\d{0,4}))?\}", re.ASCII)


def translated(pattern: str) -> str:
    """Return a regular expression as Python writes it, or say why it is refused.

    >>> translated("^[a-c]+$")
    '^[a-c]+\\\\Z'
    """
    if len(pattern) > MOST:
        raise Mistyped(f"a regular expression has at most {MOST:,} characters", HINT, 1)
    reader = _Reader(pattern)
    found, size = reader.expression(0)
    if reader.place < len(pattern):
        raise _unread("this ) closes nothing")
    if size > MOST:
        raise Mistyped(f"the counts of a regular expression multiply to more than {MOST:,}", HINT, 1)
    return found


def _unread(problem: str) -> Mistyped:
    return Mistyped(f"{problem} in a regular expression", HINT, 1)


@dataclass(slots=True)
class _Reader:
    """A regular expression and how far it is read; each method returns Python's form and its states."""

    pattern: str
    place: int = 0

    def _next(self) -> str:
        return self.pattern[self.place : self.place + 1]

    def _take(self) -> str:
        self.place += 1
        return self.pattern[self.place - 1 : self.place]

    def expression(self, depth: int) -> tuple[str, int]:
        if depth > MOST_NESTED:
            raise _unread("groups are nested too deeply")
        found, size = self._branch(depth)
        while self._next() == "|":
            self.place += 1
            more, added = self._branch(depth)
            found, size = f"{found}|{more}", size + added + 1
        return found, size

    def _branch(self, depth: int) -> tuple[str, int]:
        found, size = "", 0
        while self._next() not in ("", "|", ")"):
            if anchor := self._anchor():
                found, size = found + anchor, size + 1
                continue
            atom, states = self._atom(depth)
            repetition, times = self._repetition()
            found, size = found + atom + repetition, size + states * times
            if size > MOST:
                raise Mistyped(f"the counts of a regular expression multiply to more than {MOST:,}", HINT, 1)
        return found, size

    def _anchor(self) -> str:
        if self._next() in ("^", "$"):
            return {"^": "^", "$": "\\Z"}[self._take()]
        if self.pattern.startswith("\\b", self.place):
            self.place += 2
            return "\\b"
        return ""

    def _atom(self, depth: int) -> tuple[str, int]:
        letter = self._take()
        match letter:
            case "(":
                if self._next() == "?" and self.pattern[self.place : self.place + 2] != "?:":
                    raise _unread("this kind of group is not understood")
                self.place += 2 * (self._next() == "?")
                inside, size = self.expression(depth + 1)
                if self._take() != ")":
                    raise _unread("this ( is not closed")
                return f"(?:{inside})", size + 1
            case "[":
                return self._class(), 1
            case "\\":
                return self._escape(), 1
            case "." | "":
                return letter, 1
            case "*" | "+" | "?" | "{" | "}" | "]":
                raise _unread(f"{letter} stands alone")
        return re.escape(letter), 1

    def _repetition(self) -> tuple[str, int]:
        found, times = "", 1
        if self._next() in ("*", "+", "?") and self._next():
            found = self._take()
        elif self._next() == "{":
            count = _COUNT.match(self.pattern, self.place)
            if count is None:
                raise _unread("{ is followed by no count")
            low, high = int(count[1]), int(count[3] or count[1])
            if low > high or high > MOST:
                raise _unread("this count is not understood")
            found, times, self.place = count[0], max(high, 1), count.end()
        if found and self._next() == "?":
            found += self._take()
        if found and self._next() in ("*", "+", "?", "{"):
            raise _unread("two repetitions follow each other")
        return found, times

    def _escape(self) -> str:
        letter = self._take()
        if letter.lower() in _CLASSES:
            return f"[{'^' if letter.isupper() else ''}{_CLASSES[letter.lower()]}]"
        return self._letter_escape(letter)

    def _letter_escape(self, letter: str) -> str:
        if letter in _LETTERS:
            return _LETTERS[letter]
        if not letter or letter.isalnum() or not letter.isascii():
            raise _unread("this escape is not understood")
        return re.escape(letter)

    def _class(self) -> str:
        found = "[^" if self._next() == "^" else "["
        self.place += len(found) - 1
        empty = True
        while self._next() not in ("]", ""):
            first = self._member()
            if self._next() == "-" and self.pattern[self.place + 1 : self.place + 2] not in ("]", ""):
                self.place += 1
                last = self._member()
                if len(first) > 2 or len(last) > 2 or first[-1] > last[-1] or "\\" in (first + last)[:-1]:
                    first, last = self._ends(first, last)
                found += f"{first}-{last}"
            else:
                found += first
            empty = False
        if empty or self._take() != "]":
            raise _unread("this class is empty or not closed")
        return found + "]"

    def _ends(self, first: str, last: str) -> tuple[str, str]:
        """Return the ends of a range of plain characters."""
        plain = [end.removeprefix("\\") for end in (first, last)]
        named = any(end in _LETTERS.values() for end in (first, last))
        if named or any(len(end) != 1 for end in plain) or plain[0] > plain[1]:
            raise _unread("this range is not understood")
        return first, last

    def _member(self) -> str:
        letter = self._take()
        if letter == "[":
            raise _unread("[ in a class is written \\[, which")
        if letter != "\\":
            return re.escape(letter)
        letter = self._take()
        return _CLASSES[letter] if letter in _CLASSES else self._letter_escape(letter)
