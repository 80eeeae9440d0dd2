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

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from io import BufferedIOBase
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.compute
from pyarrow.csv import ConvertOptions, InvalidRow, ParseOptions, ReadOptions, read_csv

from recuse.errors import DatabaseError
from recuse.fold import fold

MAX_LINE = 2_000_000
BLOCK = 4_194_304
"""How many bytes are read at a time; performance.md times it."""
BREAK = re.compile(rb"\r\n|\r|\n")
_SOMETHING = re.compile(rb"[^\r\n]")

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
    for raw, problem in _split(line, form.delimiter.encode()):
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


def _split(line: bytes, delimiter: bytes) -> Iterator[tuple[bytes, str | None]]:
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


# ------------------------------------------------------------------ the file


def header(path: Path, delimiter: str) -> tuple[str, ...]:
    """Return the column names in the first line of a file, and look no further."""
    try:
        with path.open("rb") as file:  # bytes, because decoding reads ahead
            names = named(file.readline(MAX_LINE), delimiter)
    except (OSError, ValueError):
        raise DatabaseError(
            f"the header of {path.name} cannot be read",
            hint="the first line names the columns, as UTF-8 text",
        ) from None
    if not names or not all(names) or len({fold(name) for name in names}) < len(names):
        raise DatabaseError(
            f"the header of {path.name} does not name every column once",
            hint="the first line holds one name for each column",
        )
    return names


def named(start: bytes, delimiter: str) -> tuple[str, ...]:
    """Return the names in the first line of a text; a ValueError if they cannot be read."""
    first = BREAK.split(start, maxsplit=1)[0]
    if len(first) >= MAX_LINE:
        raise ValueError("too long")
    try:
        found = next(csv.reader([first.decode("utf-8-sig")], delimiter=delimiter, strict=True), [])
    except csv.Error:
        raise ValueError("not closed") from None
    return tuple(name.strip() for name in found)


def blocks(file: BufferedIOBase) -> Iterator[bytes]:
    """Yield whole lines with their ends, many at a time; the header is left out.

    Of a line that is longer than MAX_LINE no more is held than shows it.
    """
    first = True
    for block in _blocks(file):
        yield BREAK.split(block, maxsplit=1)[1] if first else block
        first = False


def _blocks(file: BufferedIOBase) -> Iterator[bytes]:
    rest = b""
    while chunk := file.read(BLOCK):
        if chunk.endswith(b"\r"):  # the \n of an \r\n belongs to the same line
            following = file.read(1)
            chunk += following
        end = max(chunk.rfind(b"\n"), chunk.rfind(b"\r")) + 1
        if end:
            yield b"".join((rest, memoryview(chunk)[:end]))
            rest = chunk[end:]
        else:
            rest = (rest + chunk)[: MAX_LINE + 1]
    if rest:
        yield rest + b"\n"


def batches(file: BufferedIOBase, form: Format, names: Sequence[str]) -> Iterator[pyarrow.RecordBatch]:
    """Yield the rows of a file, the columns that are named, all cells as text."""
    places = [form.names.index(name) for name in names]
    for block in blocks(file):
        others: list[bytes] = []
        found = parsed(block, form, names, others) if _is_plain(block) else None
        if found is None or not _is_line_by_line(block, form, sum(map(len, found)) + len(others)):
            good, others = _sorted_out(block, form)
            found = parsed(good, form, names, others) or []
        yield from found
        odd = [row for line in others for row in [cells(line, form)[0]] if row is not None]
        if odd:
            columns = [pyarrow.array([row[place] for row in odd], pyarrow.string()) for place in places]
            yield pyarrow.record_batch(columns, names=list(names))


def _is_plain(block: bytes) -> bool:
    """Return whether the lines of a block are short enough, and UTF-8."""
    half = MAX_LINE // 2
    for start in range(0, len(block) - half, half):  # a line that is too long holds one of these windows
        window = start, start + half
        if block.find(b"\n", *window) < 0 and block.find(b"\r", *window) < 0:
            return False
    if block.isascii():
        return True
    try:
        block.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_line_by_line(block: bytes, form: Format, rows: int) -> bool:
    """Return whether Arrow has found no line break within quotes, where there are as many rows as lines.

    Then every line is a row by itself, except that a quote in the last one might not be closed.
    """
    if b'"' not in block:
        return True
    found = np.frombuffer(block, np.uint8)
    ends = found == ord("\n")
    if rows != np.count_nonzero(ends):
        return False
    if b"\r" in block and np.any((found[:-1] == ord("\r")) & ~ends[1:]):
        return False  # what ends a line is not always \n
    end = len(block) - (2 if block.endswith(b"\r\n") else 1)
    start = block.rfind(b"\n", 0, end) + 1
    return _is_closed(block[start:end], form)


def _is_closed(line: bytes, form: Format) -> bool:
    return b'"' not in line or all(
        problem != UNCLOSED for _, problem in _split(line, form.delimiter.encode())
    )


def _sorted_out(block: bytes, form: Format) -> tuple[bytes, list[bytes]]:
    """Return the lines that can be parsed together as one block, and the others."""
    good: list[bytes] = []
    others: list[bytes] = []
    for line in BREAK.split(block):
        parts = good if len(line) <= MAX_LINE and _is_plain(line) and _is_closed(line, form) else others
        parts.append(line)
    return b"\n".join([*good, b""]), others


def follows(block: bytes, form: Format) -> bool:
    """Return whether nothing about quotes, bytes or the length of lines is wrong in a block."""
    if not _is_plain(block) or b'"' not in block:
        return _is_plain(block)
    found = pyarrow.compute.match_substring_regex(pyarrow.array([block], pyarrow.binary()), form.good)
    return bool(found[0].as_py())


def parsed(
    good: bytes, form: Format, names: Sequence[str], others: list[bytes]
) -> list[pyarrow.RecordBatch] | None:
    """Return the rows of lines as Arrow parses them, None if it cannot.

    Lines with another number of cells than the header go to `others`.
    """
    if not _SOMETHING.search(good):
        return []

    def left_out(row: InvalidRow) -> str:
        others.append(row.text.encode().strip(b"\r\n"))
        return "skip"

    try:
        table = read_csv(
            pyarrow.BufferReader(good),
            read_options=ReadOptions(column_names=form.names, use_threads=False, block_size=len(good) + 1),
            parse_options=ParseOptions(delimiter=form.delimiter, invalid_row_handler=left_out),
            convert_options=ConvertOptions(
                include_columns=list(names),
                column_types=dict.fromkeys(form.names, pyarrow.string()),
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=True,
                check_utf8=False,
            ),
        )
    except pyarrow.ArrowInvalid:
        return None
    found: list[pyarrow.RecordBatch] = table.to_batches()
    return found
