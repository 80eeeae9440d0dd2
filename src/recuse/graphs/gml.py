"""GML: `graph [ directed 0 node [ id 1 label "x" ] edge [ source 1 target 2 value 3 ] ]`."""

from __future__ import annotations

import html
import re

import numpy as np

from recuse.graphs.graph import Attribute, Graph, simple_graph, untyped
from recuse.graphs.tables import GraphFormatError, directed_as, word_name

_TOKENS = re.compile(r'"[^"]*"|[\[\]]|[^\s\[\]"]+')
_COMMENTS = re.compile(r"^\s*#.*$", re.MULTILINE)
GmlBlock = dict[str, str]


def gml(content: bytes, *, directed: bool | None) -> Graph:
    """Return the graph of a GML file; whether it is directed the file says, unless it is asked otherwise."""
    text = content.decode("utf-8", errors="replace")
    blocks = _blocks(_TOKENS.findall(_COMMENTS.sub("", text)))
    nodes = [block for key, block in blocks if key == "node"]
    edges = [block for key, block in blocks if key == "edge"]
    declared = any(block.get("directed") == "1" for key, block in blocks if key == "graph")
    try:
        names = [word_name(block["id"]) for block in nodes]
        ends = [(word_name(block["source"]), word_name(block["target"])) for block in edges]
    except KeyError:
        raise GraphFormatError("a node has no id, or an edge no source or target") from None
    index = {name: i for i, name in enumerate(names)}
    if len(index) < len(names):
        raise GraphFormatError("two nodes have the same id")
    if any(u not in index or v not in index for u, v in ends):
        raise GraphFormatError("an edge ends at a node that is not listed")
    pairs = np.array([(index[u], index[v]) for u, v in ends], np.int64).reshape(-1, 2)
    return simple_graph(
        names,
        pairs,
        directed=directed_as(declared, directed),
        about_nodes=_attributes(nodes, {"id"}),
        about_rows=_attributes(edges, {"source", "target"}),
    )


def _blocks(tokens: list[str]) -> list[tuple[str, GmlBlock]]:
    """Return every `key [ … ]`, with the plain values that stand directly in it."""
    found: list[tuple[str, GmlBlock]] = []
    open_blocks: list[tuple[str, GmlBlock]] = [("", {})]
    key = ""
    for token in tokens:
        if token == "[":
            open_blocks.append((key, {}))
            key = ""
        elif token == "]":
            if len(open_blocks) == 1:
                raise GraphFormatError("its brackets do not match")
            found.append(open_blocks.pop())
            key = ""
        elif key:
            open_blocks[-1][1].setdefault(key, html.unescape(token[1:-1]) if token[0] == '"' else token)
            key = ""
        else:
            key = token
    if len(open_blocks) > 1 or not any(key == "graph" for key, _ in found):
        raise GraphFormatError("its brackets do not match, or there is no graph in it")
    return found


def _attributes(blocks: list[GmlBlock], besides: set[str]) -> tuple[Attribute, ...]:
    names = dict.fromkeys(key for block in blocks for key in block if key not in besides)
    return tuple(untyped(name, (block.get(name) for block in blocks)) for name in names)
