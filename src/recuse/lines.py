"""CSV files, line by line: what one line says has no influence on how another is read.

The rule, whatever the bytes are:

    a line      ends at \\n, \\r or \\r\\n, wherever they stand: a quoted cell holds no line break. An empty
                line is no row, nor is one of more than MAX_LINE bytes or with more cells than the header.
    a cell      that begins with a quote goes on to the next one that is not doubled; what stands between
                there and the delimiter belongs to it too. Other cells are what stands between delimiters.
                An empty cell is NULL, and so are those that are missing at the end of a line.
    unreadable  bytes that are not UTF-8 make NULL of their cell. A quote that is never closed in its line
                makes NULL of its cell and of the rest of the line.

Guarantee: the rows of a file are the union of the rows of its lines (`cells`), so that a file without some
lines has exactly the rows of the others (decisions.md, "CSV files").

`cells` is that rule for one line. Arrow's parser, which is quick, reads many lines at once; where it finds
fewer rows than there are lines, a quote has joined some, and the lines are sorted out before it reads again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

MAX_LINE = 2_000_000

Cells = list[str | None]


@dataclass(frozen=True, slots=True)
class Format:
    """How the cells of a file are separated, and how many a line has."""

    delimiter: str
    names: tuple[str, ...]
    good: str = field(init=False, repr=False)
    """a regular expression of lines, with their ends, in which all quotes are where they belong"""

    def __post_init__(self) -> None:
        other = f"[^{self.delimiter}\\r\\n]"
        cell = f'(?:"(?:[^"\\r\\n]|"")*"|(?:[^"{self.delimiter}\\r\\n]{other}*)?)'
        line = f"{cell}(?:{self.delimiter}{cell})*"
        object.__setattr__(self, "good", f"\\A(?:{line}[\\r\\n]+)*\\z")


@dataclass(frozen=True, slots=True)
class Unread:
    """A place in a line that cannot be read: the number of its cell from 0, None for the line; and why."""

    cell: int | None
    problem: str


UNCLOSED = "a quote is not closed in its line"
BEHIND = "something follows a closing quote"
NOT_TEXT = "not UTF-8"
TOO_LONG = f"longer than {MAX_LINE:,} bytes"
TOO_MANY = "more cells than the header names"
TOO_FEW = "fewer cells than the header names"


def cells(line: bytes, form: Format) -> tuple[Cells | None, list[Unread]]:
    """Return the cells of a line, None if it is no row, and what in it cannot be read.

    >>> form = Format(",", ("a", "b", "c"))
    >>> cells(b'1,"x, y",z', form)
    (['1', 'x, y', 'z'], [])
    >>> cells(b'1,"x,y', form)
    (['1', None, None], [Unread(cell=1, problem='a quote is not closed in its line')])
    """
    if len(line) > MAX_LINE:
        return None, [Unread(None, TOO_LONG)]
    if not line:
        return None, []
    found: Cells = []
    unread: list[Unread] = []
    for raw, problem in split_line(line, form.delimiter.encode()):
        text, wrong = (None, problem) if problem == UNCLOSED else _text(raw)
        if wrong or problem:
            unread.append(Unread(len(found), wrong or problem or ""))
        found.append(text or None)
    width = len(form.names)
    if len(found) > width:
        return None, [Unread(None, TOO_MANY)]
    if len(found) < width and not any(place.problem == UNCLOSED for place in unread):
        unread.append(Unread(None, TOO_FEW))
    return found + [None] * (width - len(found)), unread


def split_line(line: bytes, delimiter: bytes) -> Iterator[tuple[bytes, str | None]]:
    """Yield the cells of a line without their quotes, with what is wrong about how they are quoted."""
    start = 0
    while start <= len(line):
        end = line.find(delimiter, start)
        end = len(line) if end < 0 else end
        if line[start : start + 1] != b'"':
            yield line[start:end], None
            start = end + 1
            continue
        close = _closing(line, start + 1)
        if close < 0:
            yield b"", UNCLOSED
            return
        end = line.find(delimiter, close + 1)
        end = len(line) if end < 0 else end
        inside = line[start + 1 : close].replace(b'""', b'"')
        yield inside + line[close + 1 : end], None if end == close + 1 else BEHIND
        start = end + 1


def _closing(line: bytes, start: int) -> int:
    """Return where the quote stands that closes a cell, below 0 if none does."""
    while (place := line.find(b'"', start)) >= 0:
        if line[place + 1 : place + 2] != b'"':
            return place
        start = place + 2
    return -1


def _text(raw: bytes) -> tuple[str | None, str | None]:
    try:
        return raw.decode(), None
    except UnicodeDecodeError:
        return None, NOT_TEXT
