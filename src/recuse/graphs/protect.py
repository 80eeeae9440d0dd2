"""Who is protected in a graph: every node with all its edges, or every edge."""

from __future__ import annotations

from enum import Enum

from recuse.errors import ParameterError


class Protected(Enum):
    """The participants of a graph."""

    NODE = "node"
    """every node, isolated ones too: a subgraph is there while all its nodes are"""
    EDGE = "edge"
    """every edge; nodes are public: a subgraph is there while all its edges are"""


def protected(text: str | Protected | None) -> Protected:
    """Return whom the user protects. There is no default: nobody else can know."""
    try:
        return Protected(text)
    except ValueError:
        raise ParameterError(
            "who is protected?",
            found=str(text) if text else "nobody",
            accepted="node or edge",
            hint="node protects a person with all connections, edge protects one connection",
        ) from None
