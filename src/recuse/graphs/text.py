"""Edge lists as text.

    any other name   lines `u v …` between blanks or tabs, no header; # and % begin comments (SNAP, KONECT).
                     The third column is called weight, the next ones c4, c5, …
    .csv, .tsv       the first line is a header; the first two columns are the ends

Whether there is a header follows from the file's name, never from its content.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO

import numpy as np
import pyarrow

from recuse.arrow import arrow_numbers
from recuse.blocks import batches, named
from recuse.graphs.graph import Attribute, Attributes, Graph, untyped
from recuse.graphs.tables import LARGEST, GraphFormatError, graph_of_tables
from recuse.lines import MAX_LINE, Format

BLANKS = np.isin(np.arange(256), np.frombuffer(b" \t\n\r\v\f", np.uint8))
DIGITS_AND_BLANKS = b"0123456789 \t\n\r\v\f"


def edge_list(content: bytes, *, directed: bool) -> Graph:
    """Return the graph of lines `u v …`."""
    if b"\0" in content:
        raise GraphFormatError("it is no text")
    if b"#" in content or b"%" in content:
        lines = content.split(b"\n")
        content = b"\n".join(line for line in lines if line.lstrip()[:1] not in (b"#", b"%"))
    width = _width(content)
    words = content.split()
    columns = [words[place::width] for place in range(width)]
    names = ["", "", "weight", *(f"c{place}" for place in range(4, width + 1))]
    rest = tuple(untyped(name, _texts(column)) for name, column in zip(names[2:], columns[2:], strict=False))
    return graph_of_tables((*map(_ends, columns[:2]), *rest), directed=directed)


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
        raise GraphFormatError("its lines have different numbers of columns")
    if widths[0] < 2:
        raise GraphFormatError("its lines have one column; the two ends of an edge are separated by a blank")
    return int(widths[0])


def _ends(words: Sequence[bytes]) -> Attribute:
    """Return a column of names: an array of numbers where all are, which is only quicker."""
    longest = max(map(len, words), default=0)
    if longest < len(str(LARGEST)) and not b"".join(words).translate(None, DIGITS_AND_BLANKS):
        return Attribute("", arrow_numbers(np.array(words).astype(np.int64)))
    return untyped("", _texts(words))


def _texts(words: Sequence[bytes]) -> list[str]:
    try:
        return [word.decode() for word in words]
    except UnicodeDecodeError:
        raise GraphFormatError("it is no text in UTF-8") from None


def comma_separated(content: bytes, delimiter: str) -> Attributes:
    """Return the columns of a table with a header line, as text; lines are read as in `recuse.lines`."""
    try:
        names = named(content[:MAX_LINE], delimiter)
    except ValueError:
        names = ()
    if not names or not all(names):
        raise GraphFormatError("its first line does not name the columns")
    if any(name.lstrip("+-").isdigit() for name in names[:2]):
        raise GraphFormatError("its first line names no columns; add one such as source,target")
    form = Format(delimiter, tuple(f"c{place}" for place in range(len(names))))
    schema = pyarrow.schema([(place, pyarrow.string()) for place in form.names])
    table = pyarrow.Table.from_batches(batches(BytesIO(content), form, form.names), schema)
    return tuple(
        Attribute(name, column, declared=False) for name, column in zip(names, table.columns, strict=True)
    )
