"""Tail counts T_k of a graph's degrees: how many nodes have k neighbours at least.

protect   a node counts in T_k                                    with a participant more
node      while it is there, and k of its neighbours are          every T_k grows, in one direction
edge      while k of its edges are                                two nodes rise by one: 2 in all, in ℓ1
"""

from __future__ import annotations

import numpy as np

from recuse.graphs.graph import Graph
from recuse.krelation.relation import NO_TUPLES, Integers, KRelation, Quorums, Shape, Tuples


def tail_counts(graph: Graph, tails: Integers) -> Integers:
    """Return how many nodes have as many neighbours, for each number: NOT PRIVATE by itself."""
    degrees = np.sort(graph.degrees())
    return len(degrees) - np.searchsorted(degrees, tails, side="left")


def tail_relation(graph: Graph, least: int) -> KRelation:
    """Return T_k for k = least ≥ 1: each node with k neighbours or more, present with itself and k of these.

    Guarantee: with a node withdrawn it is the relation of the graph without it (proofs.md, theorem S3).
    """
    ends = np.concatenate((graph.edges, graph.edges[:, ::-1]))
    ends = ends[np.argsort(ends[:, 0], kind="stable")]
    degrees = graph.degrees()
    there = np.flatnonzero(degrees >= least)
    count = len(there)
    if count == 0:
        return KRelation(
            Shape.THRESHOLDS, NO_TUPLES, signed=False, names=graph.nodes, participants=len(graph.nodes)
        )
    neighbours = ends[degrees[ends[:, 0]] >= least, 1]
    sizes = np.stack((np.ones(count, np.int64), degrees[there]), axis=1).ravel()
    starts = np.concatenate(([0], np.cumsum(sizes)))
    members = np.empty(starts[-1], np.int64)
    itself = starts[:-1:2]
    members[itself] = there
    members[np.delete(np.arange(len(members)), itself)] = neighbours
    whole = np.arange(count + 1)
    positive = Tuples(
        np.ones(count, np.int64),
        (whole, 2 * whole, starts, np.arange(len(members) + 1)),
        members,
        (
            Quorums.of_ors(whole),
            Quorums(np.tile([1, least], count), np.ones(len(members), np.int64)),
        ),
    )
    return KRelation(
        Shape.THRESHOLDS, positive, signed=False, names=graph.nodes, participants=len(graph.nodes)
    )
