"""Reading graph files: SNAP text, CSV, Matrix Market, GML and GraphML, plain or gzipped."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

from recuse.errors import DatabaseError
from recuse.graphs.gml import gml
from recuse.graphs.graph import Attributes, Graph
from recuse.graphs.graphml import graphml
from recuse.graphs.matrix import matrix_market
from recuse.graphs.tables import GraphFormatError, graph_of_tables
from recuse.graphs.text import comma_separated, edge_list

DELIMITERS = {".csv": ",", ".tsv": "\t"}


def read_graph(path: Path, nodes: Path | None = None, *, directed: bool | None = None) -> Graph:
    """Return the simple graph in a file, its format told by the name: .mtx, .gml, .graphml, .csv, else text.

    `nodes` is a CSV file about the nodes of a CSV file of edges. GML and GraphML say themselves whether
    edges have directions; in the other formats they have none unless `directed` says so.
    """
    kind = _kind(path)
    content = _content(path)
    about = _table(nodes) if nodes is not None else ()
    try:
        if about and kind not in DELIMITERS:
            raise GraphFormatError("only a CSV file of edges takes a second file about nodes")
        return _parsed(kind, content, about, directed)
    except GraphFormatError as error:
        raise _unreadable(path, str(error)) from None


def _parsed(kind: str, content: bytes, about: Attributes, directed: bool | None) -> Graph:
    if kind in DELIMITERS:
        table = comma_separated(content, DELIMITERS[kind])
        return graph_of_tables(table, about, directed=bool(directed))
    if kind in FORMATS:
        return FORMATS[kind](content, directed=directed)
    if kind == ".mtx":
        return matrix_market(content, directed=bool(directed))
    return edge_list(content, directed=bool(directed))


FORMATS = {".gml": gml, ".graphml": graphml}


def _table(path: Path) -> Attributes:
    try:
        return comma_separated(_content(path), DELIMITERS.get(_kind(path), ","))
    except GraphFormatError as error:
        raise _unreadable(path, str(error)) from None


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


def _unreadable(path: Path, reason: str) -> DatabaseError:
    return DatabaseError(
        f"the graph {path.name} cannot be read: {reason}",
        accepted="edge lists (.txt, .csv, .tsv), .mtx, .gml, .graphml, each also as .gz",
    )
