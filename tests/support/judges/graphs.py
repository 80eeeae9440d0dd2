"""The judge of subgraph counts: every copy of a pattern, found by NetworkX' matcher and plain sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import networkx as nx
from networkx.algorithms.isomorphism import DiGraphMatcher, GraphMatcher

from recuse.graphs.enumerate import count_copies
from recuse.graphs.graph import Graph
from recuse.graphs.objects import graph_of_object
from recuse.graphs.pattern import Pattern
from recuse.graphs.protect import Protected
from recuse.krelation.build import expressions
from recuse.krelation.relation import KRelation

Test = Callable[[dict], bool]


def as_networkx(pattern: Pattern) -> nx.Graph:
    made = nx.DiGraph() if pattern.directed else nx.Graph()
    made.add_nodes_from(pattern.nodes)
    made.add_edges_from(pattern.edges)
    return made


def edge(source: nx.Graph, u, v):
    return (u, v) if source.is_directed() else frozenset((u, v))


def copies(source: nx.Graph, pattern: Pattern, test: Test = lambda naming: True, *, induced: bool) -> set:
    """Return every copy as (its nodes, its edges); `test` says of a naming whether it counts."""
    matcher = (DiGraphMatcher if pattern.directed else GraphMatcher)(source, as_networkx(pattern))
    matches = matcher.subgraph_isomorphisms_iter() if induced else matcher.subgraph_monomorphisms_iter()
    found = set()
    for match in matches:
        naming = {name: node for node, name in match.items()}
        if test(naming):
            edges = frozenset(edge(source, naming[u], naming[v]) for u, v in pattern.edges)
            found.add((frozenset(match), edges))
    return found


def judged(found: set, protect: Protected) -> Counter:
    """Return how many of the copies each set of owners has."""
    place = 0 if protect is Protected.NODE else 1
    return Counter(copy[place] for copy in found)


def owners(relation: KRelation, graph: Graph, protect: Protected) -> Counter:
    """Return how many tuples each set of owners has, by the names of nodes."""
    found: Counter = Counter()
    for k, weight in expressions(relation):
        children = getattr(k, "children", (k,))
        found[frozenset(_named(child.name, graph, protect) for child in children)] += weight
    return found


def _named(name, graph: Graph, protect: Protected):
    if protect is Protected.NODE:
        return name
    u, v = (graph.nodes[i] for i in name)
    return (u, v) if graph.directed else frozenset((u, v))


def counted(
    source: nx.Graph, pattern: Pattern, protect: Protected, condition=None, *, induced: bool
) -> Counter:
    """Return what the project finds."""
    graph = graph_of_object(source)
    return owners(count_copies(graph, pattern, protect, condition, induced=induced), graph, protect)
