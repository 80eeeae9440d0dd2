"""CSV in blocks: read by a fast parser where it provably says what `lines` says."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from io import BufferedIOBase
from pathlib import Path

import numpy as np
import pyarrow
from pyarrow.csv import ConvertOptions, InvalidRow, ParseOptions, ReadOptions, read_csv

from recuse.deferred import compute
from recuse.errors import DatabaseError
from recuse.fold import fold
from recuse.lines import MAX_LINE, UNCLOSED, Format, cells, split_line

BLOCK = 4_194_304
"""How many bytes are read at a time; performance.md times it."""


BREAK = re.compile(rb"\r\n|\r|\n")


_SOMETHING = re.compile(rb"[^\r\n]")


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
        problem != UNCLOSED for _, problem in split_line(line, form.delimiter.encode())
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
    found = compute.match_substring_regex(pyarrow.array([block], pyarrow.binary()), form.good)
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
