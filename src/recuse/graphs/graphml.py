"""GraphML: nodes, edges, and attributes whose types its keys declare."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np
import pyarrow

from recuse.graphs.graph import Attribute, Graph, simple_graph
from recuse.graphs.tables import GraphFormatError, directed_as, word_name

TRUTH = {"true": True, "1": True, "false": False, "0": False}
Types = Mapping[str, tuple[pyarrow.DataType, Callable[[str], object]]]
TYPES: Types = {
    "boolean": (pyarrow.bool_(), lambda text: TRUTH[text.strip().lower()]),
    **dict.fromkeys(("int", "long"), (pyarrow.int64(), lambda text: _fitting(int(text)))),
    **dict.fromkeys(("float", "double"), (pyarrow.float64(), float)),
    "string": (pyarrow.string(), str),
}


@dataclass(frozen=True, slots=True)
class GraphmlKey:
    """A declared attribute."""

    id: str
    name: str
    type: str
    default: str | None

    def column(self, elements: list[ElementTree.Element]) -> Attribute:
        """Return the attribute of the elements; a value that is not of its type is NULL."""
        kind, read = TYPES[self.type]
        texts = [
            next((child.text or "" for child in element if _is(child, "data", self.id)), self.default)
            for element in elements
        ]
        return Attribute(self.name, pyarrow.array([_value(text, read) for text in texts], kind))


def _fitting(value: int) -> int | None:
    return value if -(2**63) <= value < 2**63 else None


def _value(text: str | None, read: Callable[[str], object]) -> object:
    try:
        return None if text is None else read(text)
    except (ValueError, KeyError):
        return None


def graphml(content: bytes, *, directed: bool | None) -> Graph:
    """Return the first graph of a GraphML file; `edgedefault` says whether it is directed, unless asked."""
    try:
        root = ElementTree.fromstring(content)
    except (ElementTree.ParseError, ValueError, LookupError):
        raise GraphFormatError("it is no XML") from None
    source = next((child for child in root if _tag(child) == "graph"), None)
    if _tag(root) != "graphml" or source is None:
        raise GraphFormatError("there is no graph in it")
    nodes = [element for element in source.iter() if _tag(element) == "node"]
    edges = [element for element in source.iter() if _tag(element) == "edge"]
    declared = source.get("edgedefault") == "directed"
    if any(edge.get("directed", str(declared).lower()) != str(declared).lower() for edge in edges):
        raise GraphFormatError("some of its edges are directed and some are not")
    names = [word_name(node.get("id", "")) for node in nodes]
    index = {name: i for i, name in enumerate(names)}
    if len(index) < len(names):
        raise GraphFormatError("two nodes have the same id")
    try:
        ends = [
            (index[word_name(edge.get("source", ""))], index[word_name(edge.get("target", ""))])
            for edge in edges
        ]
    except KeyError:
        raise GraphFormatError("an edge ends at a node that is not listed") from None
    return simple_graph(
        names,
        np.array(ends, np.int64).reshape(-1, 2),
        directed=directed_as(declared, directed),
        about_nodes=tuple(key.column(nodes) for key in _keys(root, "node")),
        about_rows=tuple(key.column(edges) for key in _keys(root, "edge")),
    )


def _keys(root: ElementTree.Element, kind: str) -> list[GraphmlKey]:
    found = []
    for key in root:
        if _tag(key) == "key" and key.get("for") in (kind, "all"):
            default = next((child.text or "" for child in key if _tag(child) == "default"), None)
            type_name = key.get("attr.type", "string")
            if type_name not in TYPES:
                raise GraphFormatError("a key has a type that GraphML does not have")
            name = key.get("attr.name", key.get("id", ""))
            found.append(GraphmlKey(key.get("id", ""), name, type_name, default))
    return found


def _tag(element: ElementTree.Element) -> str:
    """Return the tag without its name space."""
    return element.tag.rpartition("}")[2]


def _is(element: ElementTree.Element, tag: str, key: str) -> bool:
    return _tag(element) == tag and element.get("key") == key
