"""Aggregates: the right numbers, and what leaves with a participant."""

from __future__ import annotations

from itertools import combinations
from math import factorial

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recuse.errors import ParameterError
from recuse.graphs.choices import k_stars, k_triangles, triangles
from recuse.graphs.graph import Graph
from recuse.graphs.protect import Protected
from recuse.krelation.choices import Choices
from support.judges.choices import graph_of, graphs

COUNTS = {"star": k_stars, "k-triangle": k_triangles}
sizes = st.integers(2, 4)
protections = st.sampled_from(Protected)


def listed(edges: list[tuple[int, int]], nodes: int, pattern: str, k: int) -> int:
    """Return the number of copies, each looked at: sets of k units that share a centre."""
    present = set(edges)
    if pattern == "star":
        groups = [[edge for edge in edges if v in edge] for v in range(nodes)]
    else:
        tied = lambda a, b: (min(a, b), max(a, b)) in present  # noqa: E731
        groups = [[a for a in range(nodes) if tied(a, u) and tied(a, v)] for u, v in edges]
    return sum(1 for units in groups for _ in combinations(units, k))


@given(graphs(), st.sampled_from(sorted(COUNTS)), sizes, protections)
def test_an_aggregate_counts_what_a_listing_counts(drawn, pattern, k, protect):
    nodes, edges = drawn
    count = COUNTS[pattern](graph_of(nodes, edges), k, protect)
    assert count.true_answer() == listed(edges, nodes, pattern, k)
    assert not count.signed
    assert count.constant == 0


@given(graphs(most=7))
def test_every_triangle_is_found_once_with_its_nodes_and_edges(drawn):
    nodes, edges = drawn
    found, sides = triangles(graph_of(nodes, edges))
    assert len({frozenset(row) for row in found.tolist()}) == len(found)
    assert len(found) == sum(nx.triangles(nx.Graph(edges)).values()) // 3
    for corners, ids in zip(found.tolist(), sides.tolist(), strict=True):
        assert {edges[i] for i in ids} == {tuple(sorted(pair)) for pair in combinations(corners, 2)}


def rows_of(count: Choices, leaver: int | None = None) -> list[tuple[frozenset[int], list[frozenset[int]]]]:
    """Return the groups, each by its owners, with the owners of its units; without those of the leaver."""
    found = []
    for group, owners in enumerate(count.group_owners.tolist()):
        units = count.places[count.places[:, 0] == group, 1]
        owned = [frozenset(row) for row in count.unit_owners[units].tolist()]
        if leaver not in owners:
            found.append((frozenset(owners), sorted((u for u in owned if leaver not in u), key=sorted)))
    return sorted(((o, u) for o, u in found if u), key=repr)


@given(graphs(), st.sampled_from(sorted(COUNTS)), sizes, st.integers(0, 5))
def test_without_a_node_exactly_its_units_and_groups_are_gone(drawn, pattern, k, leaver):
    nodes, edges = drawn
    left = [edge for edge in edges if leaver not in edge]
    whole, less = (COUNTS[pattern](graph_of(nodes, e), k, Protected.NODE) for e in (edges, left))
    assert rows_of(whole, leaver) == [row for row in rows_of(less) if leaver not in row[0]]


def test_a_group_owns_its_units():
    for make in COUNTS.values():
        for protect in Protected:
            count = make(graph_of(5, list(combinations(range(5), 2))), 2, protect)
            for group, unit in count.places.tolist():
                assert set(count.group_owners[group]) <= set(count.unit_owners[unit])


def test_ten_stars_of_a_large_hub_are_counted_exactly():
    count = k_stars(graph_of(2001, [(0, leaf) for leaf in range(1, 2001)]), 10, Protected.NODE)
    assert count.true_answer() == factorial(2000) // factorial(10) // factorial(1990)


@pytest.mark.parametrize("make", COUNTS.values(), ids=COUNTS)
def test_bad_input_is_refused(make):
    with pytest.raises(ParameterError, match="k = 2"):
        make(graph_of(3, [(0, 1)]), 1, Protected.NODE)
    directed = Graph(range(2), np.array([[0, 1]]), directed=True)
    with pytest.raises(ParameterError, match="undirected"):
        make(directed, 2, Protected.EDGE)


@pytest.mark.parametrize("make", COUNTS.values(), ids=COUNTS)
@pytest.mark.parametrize("protect", Protected)
def test_an_empty_graph_counts_nothing(make, protect):
    assert make(graph_of(0, []), 2, protect).true_answer() == 0
    assert make(graph_of(3, []), 2, protect).true_answer() == 0
