"""Reading graph files: SNAP text, Matrix Market and GML, plain or gzipped."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path

import numpy as np
from scipy.io import mmread

from recuse.errors import DatabaseError
from recuse.graphs.graph import Graph, simple_graph

GML_TOKENS = re.compile(r'"[^"]*"|[\[\]]|[^\s\[\]"]+')


def read_graph(path: Path) -> Graph:
    """Return the simple undirected graph in a file, its format told by the name: .mtx, .gml, else text."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    zipped = suffixes[-1:] == [".gz"]
    parse = FORMATS.get((suffixes[:-1] if zipped else suffixes)[-1:][0] if suffixes else "", _edge_list)
    try:
        content = path.read_bytes()
        return parse(gzip.decompress(content) if zipped else content)
    except (OSError, EOFError, ValueError, UnicodeDecodeError, zlib.error):
        raise DatabaseError(
            "the graph cannot be read",
            found=path.name,
            accepted="lines of two node names (SNAP), Matrix Market (.mtx) or GML (.gml), plain or gzipped",
        ) from None


def _edge_list(content: bytes) -> Graph:
    """Return the graph of lines `u v …`; lines that begin with # or % are comments."""
    if content[:1] in (b"#", b"%") or b"\n#" in content or b"\n%" in content:
        content = b"\n".join(line for line in content.splitlines() if line[:1] not in (b"#", b"%"))
    content = content.strip()
    if not content:
        return Graph((), np.empty((0, 2), np.int64))
    width = len(content.split(b"\n", 1)[0].split())
    words = content.split()
    if width < 2 or len(words) % width:
        raise ValueError("not a table of at least two columns")
    columns = [words[0::width], words[1::width]]
    try:
        ends = np.array(columns).astype(np.int64)
    except ValueError:
        ends = np.array([[word.decode() for word in column] for column in columns])
    names, index = np.unique(ends, return_inverse=True)
    return simple_graph(names.tolist(), index.reshape(ends.shape).T)


def _matrix_market(content: bytes) -> Graph:
    """Return the graph of a square matrix: every stored entry is an edge, explicit zeros too."""
    matrix = mmread(BytesIO(content)).tocoo()
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError("an adjacency matrix is square")
    pairs = np.stack((matrix.row, matrix.col), axis=1).astype(np.int64)
    return simple_graph(range(1, matrix.shape[0] + 1), pairs)


def _gml(content: bytes) -> Graph:
    """Return the graph of a GML file: `node [ id … ]` and `edge [ source … target … ]`."""
    tokens = iter(GML_TOKENS.findall(content.decode("utf-8", errors="replace")))
    nodes: list[int] = []
    pairs: list[tuple[int, int]] = []
    for kind, block in _gml_blocks(tokens):
        if kind == "node":
            nodes.append(int(block["id"]))
        elif kind == "edge":
            pairs.append((int(block["source"]), int(block["target"])))
    index = {node: i for i, node in enumerate(nodes)}
    if any(u not in index or v not in index for u, v in pairs):
        raise ValueError("an edge names an unknown node")
    ends = np.array([(index[u], index[v]) for u, v in pairs], np.int64).reshape(-1, 2)
    return simple_graph(nodes, ends)


def _gml_blocks(tokens: Iterator[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield every `key [ … ]` block without blocks inside, with its attributes."""
    key, attributes, previous = "", dict[str, str](), ""
    for token in tokens:
        if token == "[":
            key, attributes, previous = previous, {"id": "", "source": "", "target": ""}, ""
        elif token == "]":
            yield key, attributes
            key, previous = "", ""
        elif previous:
            attributes[previous], previous = token, ""
        else:
            previous = token


FORMATS: dict[str, Callable[[bytes], Graph]] = {".mtx": _matrix_market, ".gml": _gml}
