"""Every occurrence is found once, and its owners are its nodes or its edges."""

from __future__ import annotations

from itertools import combinations
from math import comb

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recuse.graphs.enumerate import (
    EDGES,
    RECTANGLES,
    TRIANGLES,
    TWO_STARS,
    occurrences,
    owned_by_edges,
    owned_by_nodes,
)
from recuse.graphs.graph import simple_graph
from recuse.krelation.build import canonical_rows, without


def graph_of(source: nx.Graph):
    return simple_graph(list(source.nodes), np.array(list(source.edges), np.int64).reshape(-1, 2))


def rectangles(source: nx.Graph) -> int:
    common = (len(set(source[u]) & set(source[v])) for u, v in combinations(source, 2))
    return sum(comb(c, 2) for c in common) // 2


COUNTS = {
    "edges": (EDGES, lambda g: g.number_of_edges()),
    "two-stars": (TWO_STARS, lambda g: sum(comb(d, 2) for _, d in g.degree)),
    "triangles": (TRIANGLES, lambda g: sum(nx.triangles(g).values()) // 3),
    "rectangles": (RECTANGLES, rectangles),
}
graphs = st.builds(nx.gnm_random_graph, st.integers(1, 9), st.integers(0, 20), seed=st.integers(0, 999))


@pytest.mark.parametrize("name", COUNTS)
def test_counts_agree_with_networkx(name):
    pattern, count = COUNTS[name]

    @settings(max_examples=25)
    @given(graphs)
    def law(source):
        found = occurrences(graph_of(source), pattern)
        assert len(found) == count(source)
        for nodes, edges in zip(found.nodes.tolist(), found.edges.tolist(), strict=True):
            ends = {frozenset(found.graph.edges[e].tolist()) for e in edges}
            assert len(ends) == len(edges)
            assert set().union(*ends) == set(nodes)

    law()


@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize("owned", [owned_by_nodes, owned_by_edges])
def test_a_withdrawal_is_the_graph_without_it(name, owned):
    pattern, _ = COUNTS[name]
    source = nx.gnm_random_graph(7, 13, seed=3)
    relation = owned(occurrences(graph_of(source), pattern))
    for leaver in source.nodes if owned is owned_by_nodes else list(source.edges):
        rest = source.copy()
        if owned is owned_by_nodes:
            rest.remove_edges_from(list(source.edges(leaver)))
        else:
            rest.remove_edge(*leaver)
        assert canonical_rows(without(relation, leaver)) == canonical_rows(
            owned(occurrences(graph_of(rest), pattern))
        )


def test_the_karate_club():
    source = nx.karate_club_graph()
    found = occurrences(graph_of(source), TRIANGLES)
    assert len(found) == 45
    assert owned_by_nodes(found).true_answer() == owned_by_edges(found).true_answer() == 45
