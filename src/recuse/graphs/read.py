"""Reading graph files: SNAP text, CSV, Matrix Market, GML and GraphML, plain or gzipped."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from recuse.errors import DatabaseError, LayoutError
from recuse.graphs.gml import gml
from recuse.graphs.graph import Attributes, Graph
from recuse.graphs.graphml import graphml
from recuse.graphs.matrix import matrix_market
from recuse.graphs.tables import GraphFormatError, GraphLayoutError, graph_of_tables
from recuse.graphs.text import Layout, comma_separated, edge_list

DELIMITERS = {".csv": ",", ".tsv": "\t"}
AS_NAMED = Layout()


def read_graph(
    path: Path, nodes: Path | None = None, *, directed: bool | None = None, layout: Layout = AS_NAMED
) -> Graph:
    """Return the simple graph in a file, its format told by the name: .mtx, .gml, .graphml, .csv, else text.

    `layout` says of an edge list what its name does not: with a separator it is read as CSV.

    `nodes` is a CSV file about the nodes of a CSV file of edges. GML and GraphML say themselves whether
    edges have directions; in the other formats they have none unless `directed` says so.
    """
    kind = _kind(path)
    content = _content(path)
    about = _table(nodes) if nodes is not None else ()
    try:
        if kind in STATED and layout != AS_NAMED:
            raise GraphFormatError("only an edge list has a separator, a header and comments to be named")
        delimiter = layout.separator or DELIMITERS.get(kind)
        if delimiter is not None:
            table = comma_separated(content, delimiter, layout)
            return graph_of_tables(table, about, directed=bool(directed))
        if about:
            raise GraphFormatError("only a CSV file of edges takes a second file about nodes")
        return _parsed(kind, content, layout, directed)
    except GraphFormatError as error:
        raise _refused(path, error) from None


def _parsed(kind: str, content: bytes, layout: Layout, directed: bool | None) -> Graph:
    if kind in FORMATS:
        return FORMATS[kind](content, directed=directed)
    if kind == ".mtx":
        return matrix_market(content, directed=bool(directed))
    return edge_list(content, layout, directed=bool(directed))


FORMATS = {".gml": gml, ".graphml": graphml}
STATED = {*FORMATS, ".mtx"}


def _table(path: Path) -> Attributes:
    try:
        return comma_separated(_content(path), DELIMITERS.get(_kind(path), ","), AS_NAMED)
    except GraphFormatError as error:
        raise _refused(path, error) from None


def _kind(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    return suffixes[-1] if suffixes else ""


def _content(path: Path) -> bytes:
    if path.is_dir():
        raise _unreadable(path, "it is a folder: name the file with the edges")
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if path.suffix.lower() == ".gz" else content
    except (OSError, EOFError, zlib.error):
        raise _unreadable(path, "there is no such file, or it is damaged") from None


def _refused(path: Path, error: GraphFormatError) -> DatabaseError:
    if not isinstance(error, GraphLayoutError):
        return _unreadable(path, str(error))
    return LayoutError(
        f"the graph {path.name} cannot be read: {error}",
        hint="separator, header and comment say how the lines of an edge list are read",
    )


def _unreadable(path: Path, reason: str) -> DatabaseError:
    return DatabaseError(
        f"the graph {path.name} cannot be read: {reason}",
        accepted="edge lists (.txt, .csv, .tsv), .mtx, .gml, .graphml, each also as .gz",
    )
