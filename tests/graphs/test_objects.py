"""Graphs in memory: every library's graph is the same graph, and what is none is one line."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.sparse import coo_array, csr_matrix

from recuse.errors import DatabaseError, ParameterError
from recuse.graphs.objects import graph_of_object

ROWS = {"source": [0, 1, 2, 3, 1], "target": [1, 2, 0, 3, 0], "weight": [1.5, 2.0, 3.0, 9.0, 8.0]}
EDGES = {frozenset((0, 1)): 1.5, frozenset((1, 2)): 2.0, frozenset((0, 2)): 3.0}
ABOUT = {"name": [0, 1, 2, 3, 4], "city": ["x", "y", "x", "y", "z"]}


def weights(graph) -> dict[frozenset[int], float]:
    (weight,) = graph.about_edges
    pairs = [frozenset((graph.nodes[u], graph.nodes[v])) for u, v in graph.edges.tolist()]
    return dict(zip(pairs, map(float, weight.values.to_pylist()), strict=True))


FRAMES = {
    "pandas": pd.DataFrame,
    "pandas objects": lambda rows: pd.DataFrame(rows).astype(object),
    "polars": pl.DataFrame,
    "arrow": pa.table,
}


@pytest.mark.parametrize("kind", FRAMES)
def test_frames(kind):
    frame = FRAMES[kind]
    graph = graph_of_object(frame(ROWS), frame(ABOUT))
    assert sorted(graph.nodes) == [0, 1, 2, 3, 4]
    assert weights(graph) == EDGES
    (city,) = graph.about_nodes
    assert city.values.to_pylist() == ABOUT["city"]
    assert graph.about_edges[0].declared is (kind != "pandas objects")
    assert len(graph_of_object(frame(ROWS), directed=True).edges) == 4


def test_rows_without_an_end_take_no_part():
    frame = pd.DataFrame({"u": [1, None, 3], "v": [2.0, 3.0, None]})
    graph = graph_of_object(frame)
    assert list(graph.nodes) == [1, 2]


@pytest.mark.parametrize("make", [nx.Graph, nx.MultiGraph, nx.DiGraph, nx.MultiDiGraph])
def test_networkx(make):
    source = make()
    source.add_nodes_from(range(5))
    for u, v, weight in zip(*ROWS.values(), strict=True):
        source.add_edge(u, v, weight=weight)
    nx.set_node_attributes(source, dict(enumerate(ABOUT["city"])), "city")
    graph = graph_of_object(source, directed=None if source.is_directed() else False)
    assert list(graph.nodes) == [0, 1, 2, 3, 4]
    assert graph.directed is source.is_directed()
    if make is nx.MultiGraph:  # in a plain Graph NetworkX itself lets the last row win
        assert weights(graph) == EDGES
    assert graph.about_nodes[0].values.to_pylist() == ABOUT["city"]
    assert len(graph_of_object(source, directed=False).edges) == 3


def test_igraph():
    igraph = pytest.importorskip("igraph")
    source = igraph.Graph(n=5, edges=list(zip(ROWS["source"], ROWS["target"], strict=True)))
    source.es["weight"], source.vs["city"] = ROWS["weight"], ABOUT["city"]
    graph = graph_of_object(source)
    assert (list(graph.nodes), weights(graph)) == ([0, 1, 2, 3, 4], EDGES)
    assert graph.about_nodes[0].values.to_pylist() == ABOUT["city"]
    assert graph_of_object(igraph.Graph(n=2, edges=[(1, 0)], directed=True)).edges.tolist() == [[1, 0]]


@pytest.mark.parametrize("make", [coo_array, csr_matrix])
def test_scipy(make):
    matrix = make((ROWS["weight"][:4], (ROWS["source"][:4], ROWS["target"][:4])), shape=(5, 5))
    graph = graph_of_object(matrix)
    assert (list(graph.nodes), weights(graph)) == ([0, 1, 2, 3, 4], EDGES)


@pytest.mark.parametrize(
    "wrong",
    [
        pd.DataFrame({"only": [1, 2]}),
        pd.DataFrame({"u": [-1], "v": [2]}),
        pa.table({"u": pa.array([2**63], pa.uint64()), "v": pa.array([1], pa.uint64())}),
        nx.Graph([(-1, 2)]),
        nx.Graph([(2**63, 2)]),
        csr_matrix(np.ones((2, 3))),
        42,
        None,
        [[1, 2]],
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_graph_is_one_line(wrong):
    with pytest.raises(DatabaseError, match=r"no graph|is empty") as caught:
        graph_of_object(wrong)
    assert "\n" not in str(caught.value)


def test_directions_cannot_be_made_up():
    with pytest.raises(ParameterError, match="no directions"):
        graph_of_object(nx.path_graph(3), directed=True)
    with pytest.raises(ParameterError, match="its own nodes"):
        graph_of_object(nx.path_graph(3), pd.DataFrame(ABOUT))


def test_names_of_attributes_are_told_apart_as_sql_does():
    source = nx.path_graph(2)
    source.nodes[0]["City"], source.nodes[1]["city"] = "x", "y"
    with pytest.raises(DatabaseError, match="same name"):
        graph_of_object(source)
