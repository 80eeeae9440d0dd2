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

from recuse.errors import DatabaseError, LayoutError, ParameterError
from recuse.graphs.enumerate import count_copies
from recuse.graphs.graph import Graph, simple_graph
from recuse.graphs.names import clique
from recuse.graphs.protect import Protected
from recuse.graphs.read import read_graph
from recuse.graphs.text import Layout
from support.profiles import some

SHARED = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / "graphs"

KNOWN = {
    "netscience.gml.gz": (1589, 2742),
    "power.gml.gz": (4941, 6594),
    "1138_bus.mtx": (1138, 1458),
    "bcspwr10.mtx": (5300, 8271),
    "gemat12.mtx.gz": (4929, 33078),
    "ca-GrQc.txt.gz": (5242, 14484),
    "ca-HepTh.txt.gz": (9877, 25973),
    "ego-Facebook.txt.gz": (4039, 88234),
    "email-Enron.txt.gz": (36692, 183831),
    "ca-AstroPh.txt.gz": (18771, 198050),  # one author has neither co-author nor line in the file
    "deezer-europe.txt.gz": (28281, 92752),
}
TRIANGLES = {
    "netscience.gml.gz": 3764,
    "power.gml.gz": 651,
    "1138_bus.mtx": 128,
    "bcspwr10.mtx": 721,
    "gemat12.mtx.gz": 592,
    "ca-GrQc.txt.gz": 48260,
    "ca-HepTh.txt.gz": 28339,
    "ego-Facebook.txt.gz": 1612010,
    "email-Enron.txt.gz": 727044,
    "ca-AstroPh.txt.gz": 1351441,
    "deezer-europe.txt.gz": 45034,
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
        ("one-column.csv", b"a\n1\n"),
        ("empty.csv", b""),
        ("binary.txt", bytes(range(256))),
        ("noise.txt", b"\xff\xfe\xfd \xfc\xfb\n"),
        ("binary.gml", bytes(range(256))),
        ("binary.graphml", bytes(range(256))),
        ("binary.csv", bytes(range(256))),
        ("huge.txt", b"1 9223372036854775808\n"),
        ("endless.txt", b"1 " + b"9" * 5000 + b"\n"),
        ("negative.txt", b"1 -2\n"),
        ("negative.csv", b"u,v\n1,-2\n"),
        ("negative.gml", b"graph [ node [ id -1 ] ]"),
        ("shifted.txt", b"1 2\n3\n4 5 6\n"),
        ("headless.csv", b"1,2\n2,3\n"),
        ("dense.mtx", b"%%MatrixMarket matrix array real general\n1 1\n1\n"),
        ("outside.mtx", b"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 3\n"),
        ("few.mtx", b"%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n"),
        ("no-graph.graphml", b"<graphml></graphml>"),
        ("twice.graphml", b'<graphml><graph><node id="a"/><node id="a"/></graph></graphml>'),
        ("unknown.graphml", b'<graphml><graph><edge source="a" target="b"/></graph></graphml>'),
        ("ragged.txt", b"1 2\n3\n"),
        ("binary.mtx", bytes(range(256))),
        ("broken.txt.gz", b"not gzip"),
        ("short.txt.gz", gzip.compress(b"1 2\n" * 100, mtime=0)[:-20]),
        ("rectangle.mtx", b"%%MatrixMarket matrix coordinate real general\n2 3 1\n1 2 1\n"),
        ("unknown-node.gml", b"graph [ node [ id 1 ] edge [ source 1 target 2 ] ]"),
        ("no-id.gml", b"graph [ node [ label 1 ] ]"),
        ("open.gml", b"graph [ node [ id 1 ] "),
        ("twice.gml", b"graph [ node [ id 1 ] node [ id 1 ] ]"),
    ],
)
def test_a_bad_file_is_one_line(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DatabaseError, match=r"cannot be read|is empty") as caught:
        read_graph(tmp_path / name)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


LAYOUTS = {
    "tabs.csv.gz": (gzip.compress(b"1\t2\n2\t3\n", mtime=0), Layout("\t", header=False)),
    "semicolons.csv": (b"u;v;since\n1;2;9\n2;3;8\n", Layout(";")),
    "headless.csv": (b"1,2\n2,3\n", Layout(header=False)),
    "weights.csv": (b"1,2,5\n2,3,6\n", Layout(header=False)),
    "header.txt": (b"friend of\n1 2\n2 3\n", Layout(header=True)),
    "commas.txt": (b"1,2\n2,3\n", Layout(",", header=False)),
    "comments.csv": (b"# by hand\nu,v\n1,2\n# more\n2,3\n", Layout(comment="#")),
    "notes.txt": (b"// by hand\n1 2\n2 3\n", Layout(comment="//")),
    "titled.txt": (b"friends\n1 2\n2 3\n", Layout(header=True)),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_what_the_name_of_a_file_does_not_say_is_said(tmp_path, name):
    content, layout = LAYOUTS[name]
    (tmp_path / name).write_bytes(content)
    graph = read_graph(tmp_path / name, layout=layout)
    assert named_edges(graph) == {frozenset((1, 2)), frozenset((2, 3))}


@pytest.mark.parametrize("name", [name for name in LAYOUTS if name != "header.txt"])
def test_without_a_word_such_a_file_is_refused_with_what_to_say(tmp_path, name):
    # two words are an edge: that header.txt has a header cannot be known
    (tmp_path / name).write_bytes(LAYOUTS[name][0])
    with pytest.raises(LayoutError, match=r"separator, header and comment"):
        read_graph(tmp_path / name)


def test_columns_without_a_header_have_names(tmp_path):
    (tmp_path / "g.csv").write_bytes(b"1,2,5,x\n2,3,6,y\n")
    graph = read_graph(tmp_path / "g.csv", layout=Layout(header=False))
    assert [column.name for column in graph.about_edges] == ["weight", "c4"]


def test_lines_of_different_lengths_without_a_header_are_refused(tmp_path):
    (tmp_path / "g.csv").write_bytes(b"1,2\n2,3,4\n")
    with pytest.raises(LayoutError, match="different numbers"):
        read_graph(tmp_path / "g.csv", layout=Layout(header=False))


def test_a_separator_is_one_character_and_a_format_of_its_own_has_none(tmp_path):
    for wrong in ("", ";;", "\n", '"'):
        with pytest.raises(ParameterError, match="one character"):
            Layout(wrong)
    with pytest.raises(ParameterError, match="begins with something"):
        Layout(comment=" ")
    (tmp_path / "g.gml").write_bytes(b"graph [ ]")
    with pytest.raises(DatabaseError, match="only an edge list"):
        read_graph(tmp_path / "g.gml", layout=Layout(";"))


def test_a_missing_file_is_one_line(tmp_path):
    with pytest.raises(DatabaseError, match="cannot be read"):
        read_graph(tmp_path / "nowhere.txt")


EMPTY = {
    "empty.txt": b"",
    "comments.txt": b"# nothing\n",
    "header.csv": b"source,target\n",
    "no-nodes.gml": b"graph [ ]",
    "nobody.graphml": b'<graphml><graph edgedefault="undirected"/></graphml>',
    "nobody.mtx": b"%%MatrixMarket matrix coordinate pattern symmetric\n0 0 0\n",
}


@pytest.mark.parametrize("name", EMPTY)
def test_a_file_without_edges_is_a_graph_without_anybody(tmp_path, name):
    (tmp_path / name).write_bytes(EMPTY[name])
    graph = read_graph(tmp_path / name)
    assert len(graph.nodes) == len(graph.edges) == 0


def test_a_broken_line_of_a_csv_file_is_no_edge_and_affects_no_other(tmp_path):
    for line in (b"3\n", b'3,"4\n', b"3,4,5\n", b"\xff,4\n", b"\n", b'"3\n'):
        (tmp_path / "g.csv").write_bytes(b"u,v\n1,2\n" + line + b'"1","3"\n')
        assert named_edges(read_graph(tmp_path / "g.csv")) == {frozenset((1, 2)), frozenset((1, 3))}


def test_a_folder_is_not_a_graph(tmp_path):
    with pytest.raises(DatabaseError, match="it is a folder"):
        read_graph(tmp_path)


def test_a_graph_is_checked():
    with pytest.raises(ValueError, match="ends at no node"):
        Graph((1, 2), np.array([[0, 2]]))
    assert simple_graph((), np.empty((0, 2), np.int64)).edges.shape == (0, 2)


@pytest.mark.parametrize("name", some([*KNOWN], 0.5))
def test_the_papers_graphs(name):
    path = SHARED / name
    if not path.exists():
        pytest.skip("the paper's graphs are not part of the project")
    graph = read_graph(path)
    assert (len(graph.nodes), len(graph.edges)) == KNOWN[name]
    assert count_copies(graph, clique(3), Protected.NODE).true_answer() == TRIANGLES[name]


# ------------------------------------------------------------------ attributes and directions


def columns(attributes):
    return {attribute.name: attribute.values.to_pylist() for attribute in attributes}


def test_csv_has_a_header_and_attributes(tmp_path):
    edges, nodes = tmp_path / "e.csv", tmp_path / "n.csv"
    edges.write_text('from,to,weight,note\nann,bob,3,"a, b"\nbob,cid,,x\n,cid,1,\ncid,cid,9,loop\n')
    nodes.write_text("name,city\nbob,rome\nbob,oslo\ndan,paris\n")
    graph = read_graph(edges, nodes)
    assert graph.nodes == ["bob", "dan", "ann", "cid"]
    assert named_edges(graph) == {frozenset(("ann", "bob")), frozenset(("bob", "cid"))}
    assert columns(graph.about_nodes) == {"city": ["rome", "paris", None, None]}
    assert columns(graph.about_edges) == {"weight": ["3", None], "note": ["a, b", "x"]}
    assert not any(attribute.declared for attribute in graph.about_edges)


def test_tsv_and_names_that_are_numbers(tmp_path):
    path = tmp_path / "e.tsv"
    path.write_text("u\tv\n01\t2\n1\tann\n")
    graph = read_graph(path)
    assert named_edges(graph) == {frozenset((1, 2)), frozenset((1, "ann"))}


def test_how_one_node_is_called_does_not_change_another(tmp_path):
    path = tmp_path / "e.txt"
    path.write_text("1 2\n01 3\n")
    numbers = named_edges(read_graph(path))
    path.write_text("1 2\n01 3\nann 1\n")
    assert named_edges(read_graph(path)) == numbers | {frozenset(("ann", 1))}


def test_the_first_of_several_rows_counts(tmp_path):
    path = tmp_path / "e.txt"
    path.write_text("1 2 5\n2 1 6\n2 3 7\n2 3 8\n")
    assert columns(read_graph(path).about_edges) == {"weight": ["5", "7"]}
    directed = read_graph(path, directed=True)
    assert directed.directed
    assert directed.edges.tolist() == [[0, 1], [1, 0], [1, 2]]
    assert columns(directed.about_edges) == {"weight": ["5", "6", "7"]}


def test_gml_with_attributes_and_directions(tmp_path):
    path = tmp_path / "g.gml"
    path.write_text(
        """# a comment
        Creator "me [not you]"
        graph [ directed 1
          node [ id 3 label "A &amp; B" graphics [ x 1 y 2 ] age 7 ]
          node [ id 5 label "C" ]
          node [ id 9 ]
          edge [ source 3 target 5 value 2.5 ] ]"""
    )
    graph = read_graph(path)
    assert (graph.directed, list(graph.nodes), graph.edges.tolist()) == (True, [3, 5, 9], [[0, 1]])
    assert columns(graph.about_nodes) == {"label": ["A & B", "C", None], "age": ["7", None, None]}
    assert columns(graph.about_edges) == {"value": ["2.5"]}
    assert not read_graph(path, directed=False).directed


@pytest.mark.parametrize("directed", [False, True])
def test_graphml_of_networkx(tmp_path, directed):
    source = nx.gnm_random_graph(6, 8, seed=2, directed=directed)
    nx.set_node_attributes(source, {node: node * 1.5 for node in source}, "size")
    nx.set_node_attributes(source, {node: f"n{node}" for node in (0, 1)}, "name")
    nx.set_edge_attributes(source, {edge: i for i, edge in enumerate(source.edges)}, "weight")
    nx.set_edge_attributes(source, {edge: i % 2 == 0 for i, edge in enumerate(source.edges)}, "good")
    path = tmp_path / "g.graphml"
    nx.write_graphml(source, path)
    graph = read_graph(path)
    assert graph.directed is directed
    assert list(graph.nodes) == list(source.nodes)
    assert columns(graph.about_nodes) == {
        "size": [node * 1.5 for node in source],
        "name": ["n0", "n1", None, None, None, None],
    }
    pairs = [(graph.nodes[u], graph.nodes[v]) for u, v in graph.edges.tolist()]
    assert columns(graph.about_edges)["weight"] == [source.edges[pair]["weight"] for pair in pairs]
    types = {attribute.name: str(attribute.values.type) for attribute in graph.about_edges}
    assert types == {"weight": "int64", "good": "bool"}
    assert all(attribute.declared for attribute in graph.about_edges)


def test_a_value_that_is_not_of_its_type_is_missing(tmp_path):
    path = tmp_path / "g.graphml"
    path.write_text(
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
        '<key id="k" for="node" attr.name="age" attr.type="int"><default>5</default></key><graph>'
        '<node id="a"><data key="k">7</data></node><node id="b"><data key="k">x</data></node><node id="c"/>'
        "</graph></graphml>"
    )
    assert columns(read_graph(path).about_nodes) == {"age": [7, None, 5]}


def test_matrix_market_weights_and_directions(tmp_path):
    path = tmp_path / "g.mtx"
    path.write_text("%%MatrixMarket matrix coordinate integer symmetric\n% c\n3 3 2\n2 1 5\n3 3 9\n")
    assert columns(read_graph(path).about_edges) == {"weight": [5]}
    assert read_graph(path, directed=True).edges.tolist() == [[0, 1], [1, 0]]


def test_only_csv_takes_a_file_about_nodes(tmp_path):
    (tmp_path / "g.txt").write_text("1 2\n")
    (tmp_path / "n.csv").write_text("id,city\n1,x\n")
    with pytest.raises(DatabaseError, match="only a CSV file"):
        read_graph(tmp_path / "g.txt", tmp_path / "n.csv")
