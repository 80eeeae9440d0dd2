"""Edge lists as text.

    any other name   lines `u v …` between blanks or tabs, no header; # and % begin comments (SNAP, KONECT).
                     The third column is called weight, the next ones c4, c5, …
    .csv, .tsv       the first line is a header; the first two columns are the ends

How a file is read follows from its name and from what the caller says (`Layout`), never from its content.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO

import numpy as np
import pyarrow

from recuse.arrow import arrow_numbers
from recuse.blocks import batches, named
from recuse.errors import ParameterError
from recuse.graphs.graph import Attribute, Attributes, Graph, untyped
from recuse.graphs.tables import LARGEST, GraphFormatError, GraphLayoutError, graph_of_tables
from recuse.lines import MAX_LINE, Format

BLANKS = np.isin(np.arange(256), np.frombuffer(b" \t\n\r\v\f", np.uint8))
LENGTHS = "its lines have different numbers of columns; a first line that names them is a header"
SEPARATES_NOTHING = '\n\r"\0'
DIGITS_AND_BLANKS = b"0123456789 \t\n\r\v\f"


@dataclass(frozen=True, slots=True)
class Layout:
    """How the lines of an edge list are to be read, where its name does not say it."""

    separator: str | None = None
    """what stands between two cells: one character"""
    header: bool | None = None
    """whether the first line names the columns"""
    comment: str | None = None
    """what a line begins with that is to be left out"""

    def __post_init__(self) -> None:
        if self.separator is not None and (len(self.separator) != 1 or self.separator in SEPARATES_NOTHING):
            raise ParameterError(
                "a separator is one character", found=repr(self.separator), accepted="such as ';' or a tab"
            )
        if self.comment is not None and not self.comment.strip():
            raise ParameterError("a comment begins with something", accepted="such as '#'")

    def __str__(self) -> str:
        said = {"separator": self.separator, "header": self.header, "comment": self.comment}
        return ", ".join(f"{name} {value!r}" for name, value in said.items() if value is not None)


def edge_list(content: bytes, layout: Layout, *, directed: bool) -> Graph:
    """Return the graph of lines `u v …`."""
    if b"\0" in content:
        raise GraphFormatError("it is no text")
    content = without_comments(content, *({"#", "%"} | {layout.comment or "#"}))
    if layout.header:
        content = content.lstrip().partition(b"\n")[2]
    width = _width(content)
    words = content.split()
    columns = [words[place::width] for place in range(width)]
    rest = zip(_unnamed(width)[2:], columns[2:], strict=True)
    about = tuple(untyped(name, _texts(column)) for name, column in rest)
    return graph_of_tables((*map(_ends, columns[:2]), *about), directed=directed)


def without_comments(content: bytes, *marks: str) -> bytes:
    """Return the lines that begin with none of some marks."""
    begun = tuple(mark.encode() for mark in marks)
    if not any(mark in content for mark in begun):
        return content
    return b"\n".join(line for line in content.split(b"\n") if not line.lstrip().startswith(begun))


def _unnamed(width: int) -> list[str]:
    """Return what the columns of a file without a header are called."""
    return ["source", "target", "weight", *(f"c{place}" for place in range(4, width + 1))][:width]


def _width(content: bytes) -> int:
    """Return how many words every line has that has any."""
    blank = BLANKS[np.frombuffer(content, np.uint8)]
    starts = np.flatnonzero(~blank & np.concatenate(([True], blank[:-1])))
    if len(starts) == 0:
        return 2  # no line, no edge: a graph without anybody
    ends = np.flatnonzero(np.frombuffer(content, np.uint8) == ord("\n"))
    counts = np.bincount(np.searchsorted(ends, starts))
    widths = np.unique(counts[counts > 0])
    if len(widths) > 1:
        raise GraphLayoutError(LENGTHS)
    if widths[0] < 2:
        raise GraphLayoutError("its lines have one column between blanks; name the separator")
    return int(widths[0])


def _ends(words: Sequence[bytes]) -> Attribute:
    """Return a column of names: an array of numbers where all are, which is only quicker."""
    longest = max(map(len, words), default=0)
    if longest < len(str(LARGEST)) and not b"".join(words).translate(None, DIGITS_AND_BLANKS):
        return Attribute("", arrow_numbers(np.array(words).astype(np.int64)))
    return untyped("", _texts(words))


def _cells(content: bytes, delimiter: str) -> int:
    """Return how many cells every line has, two if there is none; no line then says how others are read."""
    counts = {line.count(delimiter.encode()) for line in content.splitlines() if line}
    if len(counts) > 1:
        raise GraphLayoutError(LENGTHS)
    return max(counts, default=1) + 1


def _texts(words: Sequence[bytes]) -> list[str]:
    try:
        return [word.decode() for word in words]
    except UnicodeDecodeError:
        raise GraphFormatError("it is no text in UTF-8") from None


def comma_separated(content: bytes, delimiter: str, layout: Layout) -> Attributes:
    """Return the columns of a table, as text; lines are read as in `recuse.lines`."""
    if layout.comment is not None:
        content = without_comments(content, layout.comment)
    if layout.header is False:
        content = delimiter.join(_unnamed(_cells(content, delimiter))).encode() + b"\n" + content
    try:
        names = named(content[:MAX_LINE], delimiter)
    except ValueError:
        names = ()
    if not names or not all(names):
        raise GraphFormatError("its first line does not name the columns")
    if len(names) < 2:
        raise GraphLayoutError(f"{delimiter!r} does not part its first line in two; name the separator")
    if names[0][0] in "#%":
        raise GraphLayoutError("its first line looks like a comment; say what comments begin with")
    if any(name.lstrip("+-").isdigit() for name in names[:2]):
        raise GraphLayoutError("its first line names no columns; say that it is no header, or add one")
    form = Format(delimiter, tuple(f"c{place}" for place in range(len(names))))
    schema = pyarrow.schema([(place, pyarrow.string()) for place in form.names])
    table = pyarrow.Table.from_batches(batches(BytesIO(content), form, form.names), schema)
    return tuple(
        Attribute(name, column, declared=False) for name, column in zip(names, table.columns, strict=True)
    )
