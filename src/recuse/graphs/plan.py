"""In which order the edges of a pattern are joined: a function of the pattern alone.

Nodes are ranked by degree, so an edge that leads to a higher rank is one of few, and a node below another
one is no hub. The plan with the fewest rows by these rules of thumb is taken; no statistics of the graph
are looked at. A node is reached by one edge and checked by the others, or by two edges at once (a wedge):
that is how the two halves of a rectangle meet without running over all neighbours of a corner.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from math import inf

from recuse.graphs.pattern import Edge, Pattern

FEW, SOME, MANY = 4.0, 12.0, 100.0
"""How many edges a node has: those to higher ranks, all of them below another node, all of a hub."""
KEPT = 0.25
"""How many candidates have one more edge that is asked for."""


@dataclass(frozen=True, slots=True)
class JoinPlan:
    """An edge to start with, then a step for every other node; `order` holds all pairs (lower, higher)."""

    start: Edge
    steps: tuple[JoinStep, ...]
    order: frozenset[Edge]


@dataclass(frozen=True, slots=True)
class JoinStep:
    """A node, and how it is found."""

    node: str
    via: tuple[str, ...]
    """the bound node that it is reached from, or two of them at once; all other edges are checked"""


def plan(pattern: Pattern) -> JoinPlan:
    """Return the cheapest plan."""
    order = _closure(pattern.comparisons())
    plans = (found for start in pattern.edges for found in _plans(pattern, start, order))
    _, start, steps = min(plans, key=lambda found: found[0])
    return JoinPlan(start, steps, order)


def _closure(comparisons: tuple[Edge, ...]) -> frozenset[Edge]:
    found = set(comparisons)
    while more := {(a, d) for a, b in found for c, d in found if b == c} - found:
        found |= more
    return frozenset(found)


def _plans(
    pattern: Pattern, start: Edge, order: frozenset[Edge]
) -> Iterator[tuple[float, Edge, tuple[JoinStep, ...]]]:
    others = [node for node in pattern.nodes if node not in start]
    for sequence in permutations(others):
        cost, rows, bound, steps = 0.0, 1.0, list(start), list[JoinStep]()
        for node in sequence:
            near = [b for b in bound if pattern.joined(b, node) or pattern.joined(node, b)]
            if not near:
                break
            spent, reached, via = _cheapest(node, near, bound, order)
            cost += spent * rows + _set_up(node, via, order)
            rows *= reached
            bound.append(node)
            steps.append(JoinStep(node, via))
        else:
            yield cost, start, tuple(steps)


def _cheapest(
    node: str, near: list[str], bound: list[str], order: frozenset[Edge]
) -> tuple[float, float, tuple[str, ...]]:
    """Return the rows looked at and the rows reached for each row before, and how the node is reached."""
    fans = {p: _fan(p, node, bound, order) for p in near}
    first = min(near, key=lambda p: fans[p])
    reached = fans[first] * KEPT ** (len(near) - 1)
    if len(near) > 1 and fans[first] > FEW:
        p, q = min(permutations(near, 2), key=lambda pair: _set_up(node, pair, order))
        if _set_up(node, (p, q), order) < MANY:
            return reached, reached, (p, q)
    return fans[first], reached, (first,)


def _fan(p: str, node: str, bound: list[str], order: frozenset[Edge]) -> float:
    """Return how many candidates an edge from p offers."""
    if (p, node) in order:  # the higher the rank, the fewer are above it
        return FEW / (1 + sum((other, p) in order for other in bound))
    return SOME if any((p, other) in order for other in bound) else MANY


def _set_up(node: str, via: tuple[str, ...], order: frozenset[Edge]) -> float:
    """Return how many wedges p - node - q there are for each edge of the graph; nothing for a plain edge."""
    if len(via) < 2:
        return 0.0
    p, q = via
    if (node, q) in order:
        return FEW
    return SOME if (node, p) in order else inf
