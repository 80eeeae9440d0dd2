"""Every copy is found once, and its owners are its nodes or its edges: NetworkX' matcher is the judge."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from math import comb

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse.errors import ParameterError
from recuse.graphs.compile import compile_pattern
from recuse.graphs.enumerate import (
    EDGES,
    RECTANGLES,
    TRIANGLES,
    TWO_STARS,
    count_copies,
    occurrences,
    owned_by_edges,
    owned_by_nodes,
    schema_of,
)
from recuse.graphs.names import read_pattern
from recuse.graphs.objects import graph_of_object
from recuse.graphs.protect import Protected
from recuse.graphs.where import AttributeSchema, read_condition
from recuse.krelation.build import canonical_rows, without
from support.judges.graphs import copies, counted, judged
from support.profiles import examples, some

ATLAS = [g for g in nx.graph_atlas_g() if 2 <= len(g) <= 5 and nx.is_connected(g)]
TRIADS = [g for g in map(nx.triad_graph, nx.triads_by_type(nx.DiGraph())) if nx.is_weakly_connected(g)]
DIRECTED = [
    *TRIADS,
    nx.DiGraph([(0, 1)]),
    nx.DiGraph([(0, 1), (1, 0)]),
    nx.DiGraph([(0, 1), (1, 2), (2, 3), (3, 0)]),
    nx.DiGraph([(0, 1), (0, 2), (3, 1), (3, 2)]),
    nx.DiGraph([(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (0, 2)]),
]
SIX = ["path(6)", "cycle(6)", "clique(6)", "a-b,b-c,c-a,c-d,d-e,e-f,f-d", "a-b,b-c,c-d,d-a,b-e,e-f,f-c"]

graphs = st.builds(nx.gnm_random_graph, st.integers(1, 9), st.integers(0, 20), seed=st.integers(0, 999))


def shown(pattern) -> str:
    return str(read_pattern(pattern))


def some_graph(seed: int, *, directed: bool = False) -> nx.Graph:
    """Return a graph with a dense part, a hub, and attributes."""
    made = nx.gnm_random_graph(9, 34 if directed else 17, seed=seed, directed=directed)
    made.add_edges_from((0, node) for node in range(1, 9))
    for node in made.nodes:
        made.nodes[node]["city"] = "xyz"[(node * 7 + seed) % 3]
    for place, (u, v) in enumerate(made.edges):
        made.edges[u, v]["weight"] = (place * 5 + seed) % 7
    return made


@cache
def the_schema(*, directed: bool) -> AttributeSchema:
    """Return what a condition may name: the same in all graphs of a kind."""
    return schema_of(graph_of_object(some_graph(3, directed=directed)))


@pytest.mark.parametrize("induced", [False, True])
@pytest.mark.parametrize("source", some([*ATLAS, *DIRECTED, *SIX], 0.3), ids=shown)
def test_every_pattern(source, induced):
    pattern = read_pattern(source)
    graph = some_graph(len(pattern.edges), directed=pattern.directed)
    found = copies(graph, pattern, induced=induced)
    for protect in Protected:
        assert counted(graph, pattern, protect, induced=induced) == judged(found, protect)


@pytest.mark.parametrize("source", some([*ATLAS, *DIRECTED], 0.3), ids=shown)
def test_every_pattern_with_a_condition(source):
    """Under any naming, and once: the condition is not symmetric."""
    pattern = read_pattern(source)
    a, b = pattern.edges[0]
    graph = some_graph(3, directed=pattern.directed)
    text = f"{a}.city = 'x' AND {b}.city <> 'y' AND {a}{b}.weight > 2"
    condition = read_condition(text, pattern, the_schema(directed=pattern.directed))

    def test(naming):
        first, second = naming[a], naming[b]
        cities = graph.nodes[first]["city"], graph.nodes[second]["city"]
        return cities[0] == "x" and cities[1] != "y" and graph.edges[first, second]["weight"] > 2

    for induced, protected in ((False, tuple(Protected)), (True, (Protected.NODE,))):
        found = copies(graph, pattern, test, induced=induced)
        for protect in protected:
            assert counted(graph, pattern, protect, condition, induced=induced) == judged(found, protect)


@pytest.mark.parametrize("name", ["edge", "star(2)", "triangle", "rectangle", "clique(4)"])
def test_counts_agree_with_formulas(name):
    pattern = read_pattern(name)
    count = {
        "edge": lambda g: g.number_of_edges(),
        "star(2)": lambda g: sum(comb(d, 2) for _, d in g.degree),
        "triangle": lambda g: sum(nx.triangles(g).values()) // 3,
        "rectangle": lambda g: sum(comb(len(set(g[u]) & set(g[v])), 2) for u, v in combinations(g, 2)) // 2,
        "clique(4)": lambda g: sum(len(c) == 4 for c in nx.enumerate_all_cliques(g)),
    }[name]

    @settings(max_examples=examples(10))
    @given(graphs)
    def law(source):
        found = occurrences(graph_of_object(source), pattern)
        assert len(found) == count(source)
        for nodes, edges in zip(found.nodes.tolist(), found.edges.tolist(), strict=True):
            ends = {frozenset(found.graph.edges[e].tolist()) for e in edges}
            assert len(ends) == len(edges)
            assert set().union(*ends) == set(nodes)

    law()


def test_igraph_agrees():
    igraph = pytest.importorskip("igraph")
    source = nx.gnm_random_graph(40, 160, seed=5)
    other = igraph.Graph(n=40, edges=list(source.edges))
    for name in ("triangle", "rectangle", "clique(4)", "path(4)", "k-triangle(2)"):
        pattern = read_pattern(name)
        place = {node: i for i, node in enumerate(pattern.nodes)}
        small = igraph.Graph(n=len(place), edges=[(place[u], place[v]) for u, v in pattern.edges])
        for induced in (False, True):
            maps = len(other.get_subisomorphisms_lad(small, induced=induced))
            found = occurrences(graph_of_object(source), pattern, induced=induced)
            assert len(found) == maps // small.count_automorphisms()


def test_igraph_counts_the_same_motifs():
    """Its census of induced subgraphs of four nodes, in its own order."""
    igraph = pytest.importorskip("igraph")
    source = nx.convert_node_labels_to_integers(nx.les_miserables_graph())
    census = igraph.Graph(n=len(source), edges=list(source.edges)).motifs_randesu(size=4)
    order = ("star(3)", "path(4)", "a-b, b-c, c-a, a-d", "rectangle", "k-triangle(2)", "clique(4)")
    graph = graph_of_object(source)
    found = [len(occurrences(graph, read_pattern(name), induced=True)) for name in order]
    assert found == [count for count in census if count == count]


# ------------------------------------------------------------------ withdrawals


def counting(source: nx.Graph, name: str, protect: Protected, text: str | None, *, induced: bool):
    """Return the count in a graph and its subgraphs: what a condition may name is the same in all of them."""
    pattern = read_pattern(name)
    condition = None if text is None else read_condition(text, pattern, schema_of(graph_of_object(source)))
    return lambda graph: count_copies(graph_of_object(graph), pattern, protect, condition, induced=induced)


CASES = [
    ("triangle", None, False),
    ("rectangle", None, False),
    ("path(3)", None, True),
    ("star(3)", "b.city = c.city", False),
    ("a-b, b-c, c-a, a-d", "ad.weight > 2 OR d.city = 'x'", True),
]


@pytest.mark.parametrize(("name", "text", "induced"), CASES)
def test_a_node_withdrawn_is_the_graph_without_it(name, text, induced):
    source = some_graph(4)
    relation = counting(source, name, Protected.NODE, text, induced=induced)
    whole = relation(source)
    for leaver in source.nodes:
        rest = source.copy()
        rest.remove_node(leaver)
        assert canonical_rows(without(whole, leaver)) == canonical_rows(relation(rest))


@pytest.mark.parametrize(("name", "text", "induced"), [case for case in CASES if not case[2]])
def test_an_edge_withdrawn_is_the_graph_without_it(name, text, induced):
    source = some_graph(4)
    relation = counting(source, name, Protected.EDGE, text, induced=induced)
    whole = relation(source)
    for leaver in list(source.edges):
        rest = source.copy()
        rest.remove_edge(*leaver)
        assert canonical_rows(without(whole, leaver)) == canonical_rows(relation(rest))


def test_the_law_would_notice_a_condition_that_sees_degrees(monkeypatch):
    """A broken twin: ranks are by degree, so a condition on them is about others' edges."""
    monkeypatch.setattr(
        "recuse.graphs.enumerate.compile_pattern",
        lambda *arguments, **options: compile_pattern(*arguments, **options) + " WHERE e0.u > 3",
    )
    source = some_graph(4)
    whole = count_copies(graph_of_object(source), EDGES, Protected.NODE)
    differing = 0
    for leaver in source.nodes:
        rest = source.copy()
        rest.remove_node(leaver)
        alone = count_copies(graph_of_object(rest), EDGES, Protected.NODE)
        differing += canonical_rows(without(whole, leaver)) != canonical_rows(alone)
    assert differing


def test_the_order_of_nodes_and_edges_does_not_matter():
    source = some_graph(2)
    names = list(source.nodes)
    mixed = nx.Graph()
    mixed.add_nodes_from((node, source.nodes[node]) for node in reversed(names))
    mixed.add_edges_from((v, u, data) for u, v, data in reversed(list(source.edges(data=True))))
    for protect in Protected:
        for pattern in (TRIANGLES, RECTANGLES, TWO_STARS):
            assert counted(source, pattern, protect, induced=False) == counted(
                mixed, pattern, protect, induced=False
            )


def test_the_karate_club():
    found = occurrences(graph_of_object(nx.karate_club_graph()), TRIANGLES)
    assert len(found) == 45
    assert owned_by_nodes(found).true_answer() == owned_by_edges(found).true_answer() == 45


def test_a_graph_without_copies():
    found = occurrences(graph_of_object(nx.empty_graph(3)), TRIANGLES)
    assert len(found) == 0
    assert owned_by_nodes(found).participants == 3
    assert found.nodes.dtype == np.int64


def test_large_stars_are_not_listed():
    with pytest.raises(ParameterError, match="too large to be listed"):
        occurrences(graph_of_object(nx.star_graph(9)), read_pattern("star(9)"))


def test_the_judge_sees_induced_copies():
    square = nx.complete_graph(4)
    assert len(copies(square, RECTANGLES, induced=False)) == 3
    assert len(copies(square, RECTANGLES, induced=True)) == 0
