"""Tables of edges and nodes → Graph: names of nodes, and the rules that every source shares.

A name is an integer from 0 to 2⁶³-1, or text. Each name is read for itself: how one node is called has no
influence on how another one is.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow

from recuse.arrow import frame_table, is_pandas
from recuse.errors import ParameterError
from recuse.graphs.graph import Attribute, Attributes, Graph, simple_graph, untyped
from recuse.krelation.relation import Integers

LARGEST = 2**63 - 1


class GraphFormatError(ValueError):
    """The source breaks a rule of its format; the text says which, without data."""


class GraphLayoutError(GraphFormatError):
    """The lines of an edge list are not as its name says, nor as the caller does."""


def word_name(word: str) -> Hashable:
    """Return the name that a word of a text file stands for: digits are a number.

    >>> word_name("007"), word_name("ann"), word_name("1.5")
    (7, 'ann', '1.5')
    """
    if word.isascii() and word.lstrip("+-").isdigit():
        return checked(int(word[:40]) if len(word) <= 40 else LARGEST + 1)
    return word


def checked(name: Hashable) -> Hashable:
    """Return a name, unless it is a number that is none."""
    if isinstance(name, int) and not 0 <= name <= LARGEST:
        raise GraphFormatError("a node's number is negative or too large (0 to 2^63-1)")
    return name


def value_name(value: Any) -> Hashable | None:
    """Return the name that a value of a frame stands for, None if it is missing; 3.0 is 3."""
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, float):
        if plain != plain:
            return None
        return checked(int(plain)) if plain.is_integer() else str(plain)
    if isinstance(plain, str | int | None):
        return checked(plain)
    return str(plain)


def directed_as(declared: bool, asked: bool | None) -> bool:
    """Return whether directions count: as the source declares, unless they are to be dropped."""
    if asked and not declared:
        raise ParameterError("this graph has no directions", hint="leave directed out")
    return declared if asked is None else asked


def graph_of_tables(edges: Attributes, nodes: Attributes = (), *, directed: bool = False) -> Graph:
    """Return the graph of an edge table and a node table: the first two columns, or the first, are names.

    A row without a name takes no part. Of several rows about one node the first counts; a node that has
    edges and no row has no attributes.
    """
    if len(edges) < 2:
        raise GraphFormatError("an edge table has two columns at least")
    if nodes:
        return _joined(edges, nodes, directed=directed)
    first, second = map(_numbers, edges[:2])
    if first is not None and second is not None:
        names, index = np.unique(np.concatenate((first, second)), return_inverse=True)
        pairs = index.reshape(2, -1).T
        return simple_graph(names.tolist(), pairs, directed=directed, about_rows=edges[2:])
    return _joined(edges, nodes, directed=directed)


def _numbers(column: Attribute) -> Integers | None:
    """Return a column of whole numbers, each of them a name, as an array; None if it is something else."""
    if not pyarrow.types.is_integer(column.values.type) or column.values.null_count:
        return None
    if pyarrow.types.is_uint64(column.values.type):
        return None
    values = column.values
    whole = values.combine_chunks() if isinstance(values, pyarrow.ChunkedArray) else values
    found: Integers = np.from_dlpack(whole).astype(np.int64)  # a conversion by Arrow would import pandas
    if found.min(initial=0) < 0:
        raise GraphFormatError("a node's number is negative or too large (0 to 2^63-1)")
    return found


def _joined(edges: Attributes, nodes: Attributes, *, directed: bool) -> Graph:
    listed = _names(nodes[0]) if nodes else []
    first, second = _names(edges[0]), _names(edges[1])
    rows = np.array([a is not None and b is not None for a, b in zip(first, second, strict=True)], bool)
    chosen = np.flatnonzero(rows)
    names = dict.fromkeys(name for name in listed if name is not None)
    known = len(names)
    names |= dict.fromkeys(name for ends in (first, second) for name in _picked(ends, chosen))
    index = {name: i for i, name in enumerate(names)}
    pairs = np.array([[index[first[i]], index[second[i]]] for i in chosen], np.int64).reshape(-1, 2)
    place: dict[Hashable, int] = {}
    for row, name in enumerate(listed):
        if name is not None:
            place.setdefault(name, row)
    own = np.array([place[name] for name in list(names)[:known]], np.int64)
    about = tuple(_padded(attribute.at(own), len(names)) for attribute in nodes[1:])
    about_rows = tuple(attribute.at(chosen) for attribute in edges[2:])
    return simple_graph(list(names), pairs, directed=directed, about_nodes=about, about_rows=about_rows)


def _picked(names: Sequence[Hashable], rows: Integers) -> Iterable[Hashable]:
    return (names[i] for i in rows)


def _names(column: Attribute) -> list[Hashable]:
    values = column.values.to_pylist()
    if column.declared:
        return [value_name(value) for value in values]
    return [None if value is None else word_name(value.strip()) for value in values]


def _padded(attribute: Attribute, count: int) -> Attribute:
    """Return the attribute with NULL for nodes that the table does not list."""
    missing = pyarrow.nulls(count - len(attribute.values), attribute.values.type)
    values = attribute.values
    chunks = values.chunks if isinstance(values, pyarrow.ChunkedArray) else [values]
    return Attribute(attribute.name, pyarrow.chunked_array([*chunks, missing]), attribute.declared)


def frame_columns(frame: Any) -> Attributes:
    """Return the columns of a pandas, Polars or Arrow frame; pandas' object columns have no declared type."""
    if not is_pandas(frame):
        return _declared(frame_table(frame))
    loose = [kind == np.dtype(object) for kind in frame.dtypes]
    typed = iter(_declared(frame_table(frame.loc[:, [not mixed for mixed in loose]])))
    return tuple(
        untyped(str(name), frame[name]) if mixed else next(typed)
        for name, mixed in zip(frame.columns, loose, strict=True)
    )


def _declared(table: pyarrow.Table) -> Attributes:
    return tuple(
        Attribute(name, column) for name, column in zip(table.column_names, table.columns, strict=True)
    )
