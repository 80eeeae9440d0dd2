"""All graphs on a few nodes, and what is true of them by definition: the judge of the graph mechanisms."""

from __future__ import annotations

from collections import deque
from functools import cache
from itertools import combinations
from math import comb

import numpy as np

from recuse.graphs.graph import Graph
from recuse.lab.comparators.subgraphs import Kind, Motif

TRIANGLE, TWO_STAR, THREE_STAR = Motif(Kind.TRIANGLES), Motif(Kind.STAR, 2), Motif(Kind.STAR, 3)
TWO_TRIANGLE, THREE_TRIANGLE = Motif(Kind.TRIANGLES, 2), Motif(Kind.TRIANGLES, 3)
RECTANGLE, EDGE = Motif(Kind.RECTANGLE), Motif(Kind.EDGE)


@cache
def pairs(size: int) -> tuple[tuple[int, int], ...]:
    return tuple(combinations(range(size), 2))


@cache
def graph(size: int, code: int) -> Graph:
    """Return the graph whose i-th pair is an edge if the i-th bit is set."""
    chosen = [pair for i, pair in enumerate(pairs(size)) if code >> i & 1]
    return Graph(tuple(range(size)), np.array(chosen, np.int64).reshape(-1, 2))


def codes(size: int) -> range:
    return range(1 << len(pairs(size)))


@cache
def counted(size: int, code: int, motif: Motif) -> int:
    """Return the count by looking at all choices of nodes."""
    edges = {frozenset(pair) for i, pair in enumerate(pairs(size)) if code >> i & 1}

    def near(a: int, b: int) -> bool:
        return frozenset((a, b)) in edges

    nodes, k = range(size), motif.k
    match motif.kind:
        case Kind.EDGE:
            return len(edges)
        case Kind.STAR:
            return sum(comb(sum(near(v, u) for u in nodes if u != v), k) for v in nodes)
        case Kind.TRIANGLES:
            bases = sum(
                comb(sum(near(a, c) and near(b, c) for c in nodes if c not in (a, b)), k)
                for a, b in map(sorted, edges)
            )
            return bases // 3 if k == 1 else bases
        case Kind.RECTANGLE:
            return sum(
                near(a, b) and near(b, c) and near(c, d) and near(d, a)
                for four in combinations(nodes, 4)
                for a, b, c, d in [
                    four,
                    (four[0], four[2], four[1], four[3]),
                    (four[0], four[1], four[3], four[2]),
                ]
            )


def edge_neighbours(size: int, code: int) -> list[int]:
    return [code ^ (1 << i) for i in range(len(pairs(size)))]


@cache
def local(size: int, code: int, motif: Motif) -> int:
    """Return the local sensitivity by definition."""
    own = counted(size, code, motif)
    return max(abs(counted(size, other, motif) - own) for other in edge_neighbours(size, code))


def at_distance(size: int, code: int, motif: Motif) -> list[int]:
    """Return for s = 0, 1, … the largest local sensitivity of any graph at most s edges away."""
    seen, level, found = {code}, deque([code]), []
    while level:
        found.append(max([local(size, other, motif) for other in level] + found[-1:]))
        level = deque({n for other in level for n in edge_neighbours(size, other)} - seen)
        seen.update(level)
    return found


def without_node(size: int, code: int, node: int) -> int:
    """Return the code after a node has left; it stays as an isolated node, which no motif sees."""
    touching = sum(1 << i for i, pair in enumerate(pairs(size)) if node in pair)
    return code & ~touching
