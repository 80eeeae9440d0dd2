"""Graphs in memory → Graph: NetworkX, igraph, SciPy, and frames of edges.

They are told by the module of their type or by what they can do; none of these libraries is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow

from recuse.errors import DatabaseError, ParameterError
from recuse.graphs.graph import Attribute, Attributes, Graph, simple_graph, untyped
from recuse.graphs.matrix import sparse_matrix
from recuse.graphs.tables import GraphFormatError, directed_as, frame_columns, graph_of_tables, value_name

ACCEPTED = (
    "a file, a NetworkX or igraph graph, a SciPy sparse matrix, or a pandas, Polars or Arrow edge table"
)


def graph_of_object(source: Any, nodes: Any = None, *, directed: bool | None = None) -> Graph:
    """Return the simple graph of a graph object, a matrix, or frames of edges and nodes."""
    try:
        return _reader(source)(source, nodes, directed)
    except GraphFormatError as error:
        raise DatabaseError("this is no graph", found=f"{type(source).__name__}: {error}") from None
    except (pyarrow.ArrowException, TypeError, ValueError, KeyError):
        raise DatabaseError("this is no graph", found=type(source).__name__, accepted=ACCEPTED) from None


def _reader(source: Any) -> Callable[[Any, Any, bool | None], Graph]:
    module = type(source).__module__.partition(".")[0]
    if module == "igraph":
        return _igraph
    if hasattr(source, "is_directed") and hasattr(source, "edges") and hasattr(source, "nodes"):
        return _networkx
    if module == "scipy":
        return lambda matrix, _, directed: sparse_matrix(matrix, directed=bool(directed))
    return _frames


def _frames(edges: Any, nodes: Any, directed: bool | None) -> Graph:
    about = () if nodes is None else frame_columns(nodes)
    return graph_of_tables(frame_columns(edges), about, directed=bool(directed))


def _networkx(source: Any, nodes: Any, directed: bool | None) -> Graph:
    if nodes is not None:
        raise ParameterError("a graph has its own nodes", hint="set attributes on them")
    listed = list(source.nodes(data=True))
    edges = list(source.edges(data=True))
    index = {name: i for i, (name, _) in enumerate(listed)}
    pairs = np.array([(index[u], index[v]) for u, v, _ in edges], np.int64).reshape(-1, 2)
    return simple_graph(
        [_name(name) for name, _ in listed],
        pairs,
        directed=directed_as(source.is_directed(), directed),
        about_nodes=_attributes([data for _, data in listed]),
        about_rows=_attributes([data for *_, data in edges]),
    )


def _name(name: Any) -> Any:
    """Return a node as it is; a number must be one that every source accepts."""
    return value_name(name) if isinstance(name, int | np.integer) else name


def _attributes(rows: list[Mapping[Any, Any]]) -> Attributes:
    names = dict.fromkeys(key for row in rows for key in row)
    return tuple(untyped(str(name), (row.get(name) for row in rows)) for name in names)


def _igraph(source: Any, nodes: Any, directed: bool | None) -> Graph:
    if nodes is not None:
        raise ParameterError("a graph has its own nodes", hint="set attributes on them")

    def about(sequence: Any) -> Iterable[Attribute]:
        return tuple(untyped(name, sequence[name]) for name in sequence.attributes())

    return simple_graph(
        range(source.vcount()),
        np.array(source.get_edgelist(), np.int64).reshape(-1, 2),
        directed=directed_as(source.is_directed(), directed),
        about_nodes=tuple(about(source.vs)),
        about_rows=tuple(about(source.es)),
    )
