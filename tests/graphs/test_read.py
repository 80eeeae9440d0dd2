"""Graph files of every format give the same simple graph; bad ones a one-line error."""

from __future__ import annotations

import gzip
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.io import mmwrite

from recuse.errors import DatabaseError
from recuse.graphs.graph import Graph, simple_graph
from recuse.graphs.read import read_graph

SHARED = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / "graphs"

KNOWN = {
    "netscience.gml.gz": (1589, 2742),
    "power.gml.gz": (4941, 6594),
    "1138_bus.mtx": (1138, 1458),
    "bcspwr10.mtx": (5300, 8271),
    "gemat12.mtx.gz": (4929, 33078),
    "ca-GrQc.txt.gz": (5242, 14484),
    "ca-HepTh.txt.gz": (9877, 25973),
}


def named_edges(graph: Graph) -> set[frozenset[object]]:
    return {frozenset((graph.nodes[u], graph.nodes[v])) for u, v in graph.edges.tolist()}


def test_snap_text(tmp_path):
    path = tmp_path / "g.txt"
    path.write_text("# a comment\n# Nodes: 4\n10\t20\n20\t10\n20\t30\n7\t7\n")
    graph = read_graph(path)
    assert sorted(graph.nodes) == [7, 10, 20, 30]
    assert named_edges(graph) == {frozenset((10, 20)), frozenset((20, 30))}


def test_names_and_further_columns(tmp_path):
    path = tmp_path / "g.txt"
    path.write_text("ann bob 0.5\nbob cid 2\n")
    assert named_edges(read_graph(path)) == {frozenset(("ann", "bob")), frozenset(("bob", "cid"))}


def test_matrix_market_counts_stored_zeros_and_all_rows(tmp_path):
    path = tmp_path / "g.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real general\n4 4 4\n1 2 0.0\n2 1 3.5\n3 3 1\n3 2 1\n")
    graph = read_graph(path)
    assert list(graph.nodes) == [1, 2, 3, 4]
    assert named_edges(graph) == {frozenset((1, 2)), frozenset((2, 3))}


@given(st.integers(0, 10**6))
def test_every_format_gives_the_same_graph(tmp_path_factory, seed):
    folder = tmp_path_factory.mktemp("graphs")
    source = nx.gnm_random_graph(8, 9, seed=seed)
    expected = {frozenset(edge) for edge in source.edges}
    nx.write_gml(source, folder / "g.gml")
    mmwrite(folder / "g.mtx", nx.to_scipy_sparse_array(source))
    (folder / "g.txt").write_text("".join(f"{u} {v}\n" for u, v in source.edges))
    (folder / "g.txt.gz").write_bytes(gzip.compress((folder / "g.txt").read_bytes()))
    assert named_edges(read_graph(folder / "g.gml")) == expected
    assert {frozenset(n - 1 for n in edge) for edge in named_edges(read_graph(folder / "g.mtx"))} == expected
    assert named_edges(read_graph(folder / "g.txt")) == expected
    assert named_edges(read_graph(folder / "g.txt.gz")) == expected
    assert len(read_graph(folder / "g.gml").nodes) == len(read_graph(folder / "g.mtx").nodes) == 8


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("one-column.txt", b"1\n2\n3\n"),
        ("ragged.txt", b"1 2\n3\n"),
        ("binary.mtx", bytes(range(256))),
        ("broken.txt.gz", b"not gzip"),
        ("short.txt.gz", gzip.compress(b"1 2\n" * 100)[:-20]),
        ("rectangle.mtx", b"%%MatrixMarket matrix coordinate real general\n2 3 1\n1 2 1\n"),
        ("unknown-node.gml", b"graph [ node [ id 1 ] edge [ source 1 target 2 ] ]"),
        ("no-id.gml", b"graph [ node [ label 1 ] ]"),
        ("open.gml", b"graph [ node [ id 1 ] "),
        ("twice.gml", b"graph [ node [ id 1 ] node [ id 1 ] ]"),
    ],
)
def test_a_bad_file_is_one_line(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DatabaseError, match="cannot be read") as caught:
        read_graph(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_one_line(tmp_path):
    with pytest.raises(DatabaseError, match="cannot be read"):
        read_graph(tmp_path / "nowhere.txt")


def test_a_graph_is_checked():
    with pytest.raises(ValueError, match="ends at no node"):
        Graph((1, 2), np.array([[0, 2]]))
    assert simple_graph((), np.empty((0, 2), np.int64)).edges.shape == (0, 2)


@pytest.mark.parametrize("name", KNOWN)
def test_the_papers_graphs(name):
    path = SHARED / name
    if not path.exists():
        pytest.skip("the paper's graphs are not part of the project")
    graph = read_graph(path)
    assert (len(graph.nodes), len(graph.edges)) == KNOWN[name]
