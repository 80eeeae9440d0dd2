"""Patterns are valid by construction, and their symmetries are broken exactly."""

from __future__ import annotations

from itertools import permutations
from math import factorial

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.errors import ParameterError
from recuse.graphs.draw import as_svg, as_text
from recuse.graphs.names import name_of, read_pattern
from recuse.graphs.pattern import Pattern

ATLAS = [g for g in nx.graph_atlas_g() if 2 <= len(g) <= 5 and nx.is_connected(g)]
TRIADS = [g for g in map(nx.triad_graph, nx.triads_by_type(nx.DiGraph())) if nx.is_weakly_connected(g)]

names = st.sampled_from(
    ["edge", "triangle", "rectangle", "star(4)", "path(5)", "cycle(6)", "clique(5)", "k-triangle(3)"]
)


def test_there_are_thirty_connected_graphs_of_two_to_five_nodes():
    forms = {read_pattern(g).canonical() for g in ATLAS}
    assert len(forms) == len(ATLAS) == 30


@pytest.mark.parametrize(
    ("text", "nodes", "edges", "automorphisms"),
    [
        ("edge", 2, 1, 2),
        ("triangle", 3, 3, 6),
        ("rectangle", 4, 4, 8),
        ("star(3)", 4, 3, 6),
        ("path(4)", 4, 3, 2),
        ("cycle(5)", 5, 5, 10),
        ("clique(4)", 4, 6, 24),
        ("k-triangle(2)", 4, 5, 4),
        ("a->b, b->c, c->a", 3, 3, 3),
        ("a->b, b->c, a->c", 3, 3, 1),
        ("a->b, b->a", 2, 2, 2),
    ],
)
def test_names_mean_what_they_say(text, nodes, edges, automorphisms):
    pattern = read_pattern(text)
    assert (len(pattern.nodes), len(pattern.edges)) == (nodes, edges)
    assert len(list(pattern.automorphisms())) == automorphisms


@given(names, st.randoms())
def test_a_name_is_recognised_whatever_the_nodes_are_called(name, random):
    pattern = read_pattern(name)
    letters = list("uvwxyz"[: len(pattern.nodes)])
    random.shuffle(letters)
    new = dict(zip(pattern.nodes, letters, strict=True))
    edges = [(new[u], new[v]) if random.random() < 0.5 else (new[v], new[u]) for u, v in pattern.edges]
    random.shuffle(edges)
    renamed = read_pattern(", ".join(f"{u}-{v}" for u, v in edges))
    assert name_of(renamed) == name_of(pattern) == name
    assert renamed.canonical() == pattern.canonical()


@pytest.mark.parametrize("source", [*ATLAS, *TRIADS], ids=lambda g: ",".join(f"{u}{v}" for u, v in g.edges))
def test_of_all_namings_one_is_in_order(source):
    pattern = read_pattern(source)
    size = len(pattern.nodes)
    order = pattern.comparisons()
    ranked = [dict(zip(pattern.nodes, ranks, strict=True)) for ranks in permutations(range(size))]
    kept = sum(all(rank[low] < rank[high] for low, high in order) for rank in ranked)
    assert kept * len(list(pattern.automorphisms())) == factorial(size)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a-b, c-d", "not connected"),
        ("a-a", "no loops"),
        ("a-b, b-a", "written twice"),
        ("a-b, b->c", "mixes"),
        ("a-b,b-c,c-d,d-e,e-f,f-g", "too many nodes"),
        ("clique(7)", "no clique(7)"),
        ("path(1)", "no path(1)"),
        ("star(101)", "no star(101)"),
        ("3-path", "nodes or edges"),
        ("pentagon", "no pattern"),
        ("a-b-c", "no pattern"),
        ("", "no pattern"),
        (7, "no pattern"),
        (nx.path_graph(7), "too many nodes"),
        (nx.empty_graph(2), "not connected"),
        (nx.empty_graph(0), "at least one edge"),
        (nx.Graph([(1, 1)]), "no loops"),
    ],
)
def test_what_is_no_pattern_is_one_line(text, problem):
    with pytest.raises(ParameterError, match=problem.replace("(", r"\(").replace(")", r"\)")) as caught:
        read_pattern(text)
    assert "\n" not in str(caught.value)


def test_only_stars_and_k_triangles_may_be_large():
    assert read_pattern("star(10)").star == read_pattern("10-star").star == 10
    assert read_pattern("k-triangle(9)").book == read_pattern("9-triangle").book == 9
    assert (read_pattern("triangle").star, read_pattern("triangle").book) == (None, 1)
    assert read_pattern("a-b, a-c").star == 2
    assert read_pattern(nx.star_graph(12)).star == 12


def test_a_networkx_graph_keeps_names_that_can_be_written():
    assert read_pattern(nx.Graph([("boss", "one"), ("boss", "two")])).nodes == ("boss", "one", "two")
    assert read_pattern(nx.path_graph(3)).nodes == ("a", "b", "c")
    assert read_pattern(nx.MultiGraph([(1, 2), (1, 2)])) == read_pattern("edge")


@pytest.mark.parametrize("source", [*ATLAS, *TRIADS], ids=lambda g: ",".join(f"{u}{v}" for u, v in g.edges))
def test_every_pattern_has_a_picture(source):
    pattern = read_pattern(source)
    picture = "\n".join(as_text(pattern))
    assert all(picture.count(node) == 1 for node in pattern.nodes)
    svg = as_svg(pattern)
    assert svg.count("<circle") == len(pattern.nodes)
    assert svg.count("<line") == len(pattern.edges)
    assert ("marker-end" in svg) is pattern.directed


def test_a_pattern_is_checked():
    with pytest.raises(ValueError, match="stand once"):
        Pattern(("a", "a"), (("a", "a"),))
