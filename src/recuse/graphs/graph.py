"""The simple undirected graph: nodes by name, edges as pairs of node indices."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Graph:
    """Nodes, isolated ones included, and edges u < v, each once, in order."""

    nodes: Sequence[Hashable] = field(repr=False)
    edges: Integers = field(repr=False)

    def __post_init__(self) -> None:
        if self.edges.ndim != 2 or self.edges.shape[1] != 2:
            raise ValueError("edges are pairs")
        if len(self.edges) and not 0 <= self.edges.min() <= self.edges.max() < len(self.nodes):
            raise ValueError("an edge ends at no node")
        self.edges.flags.writeable = False

    def degrees(self) -> Integers:
        """Return how many edges each node has."""
        return np.bincount(self.edges.ravel(), minlength=len(self.nodes))


def simple_graph(nodes: Sequence[Hashable], pairs: Integers) -> Graph:
    """Return the graph of arbitrary index pairs: loops dropped, directions and repeats merged."""
    low, high = pairs.min(axis=1, initial=2**62), pairs.max(axis=1, initial=-1)
    keys = np.unique((low * len(nodes) + high)[low != high])
    return Graph(nodes, np.stack((keys // max(1, len(nodes)), keys % max(1, len(nodes))), axis=1))
