"""An independent judge of aggregates: F in rationals from the definition, X by scipy on a full program.

Shares nothing with the solver: it works on graphs as lists of edges, and lists triangles by looking at all.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb, floor

import numpy as np
from hypothesis import strategies as st
from scipy.optimize import linprog

from recuse.graphs.graph import Graph

Edge = tuple[int, int]
Withdrawal = Mapping[Hashable, Fraction]


def graphs(most: int = 6) -> st.SearchStrategy[tuple[int, list[Edge]]]:
    """Return small graphs: the number of nodes, and edges u < v."""
    pairs = list(combinations(range(most), 2))
    return st.lists(st.sampled_from(pairs), unique=True, max_size=len(pairs)).map(lambda e: (most, sorted(e)))


def graph_of(nodes: int, edges: Sequence[Edge]) -> Graph:
    return Graph(range(nodes), np.array(edges, np.int64).reshape(-1, 2))


@dataclass(frozen=True)
class Judge:
    """Groups: their owners, and the owners of each of their units beside those."""

    k: int
    groups: Sequence[tuple[frozenset[Hashable], Sequence[frozenset[Hashable]]]]
    participants: Sequence[Hashable]

    def count(self) -> int:
        return sum(comb(len(petals), self.k) for _, petals in self.groups)

    def interpolated(self, u: Fraction) -> Fraction:
        j = floor(u)
        return comb(j, self.k) + comb(j, self.k - 1) * (u - j)

    def answer(self, g: Withdrawal) -> Fraction:
        """Return F(g)."""
        total = Fraction(0)
        for owners, petals in self.groups:
            t = 1 - sum((g[p] for p in owners), start=Fraction(0))
            if t > 0:
                y = sum((max(Fraction(0), t - sum(g[p] for p in petal)) for petal in petals), Fraction(0))
                total += t * self.interpolated(y / t)
        return total

    def loads(self) -> dict[Hashable, int]:
        """Return how many choices hold each participant: counted one by one."""
        found = dict.fromkeys(self.participants, 0)
        for owners, petals in self.groups:
            for chosen in combinations(petals, self.k):
                for p in owners.union(*chosen):
                    found[p] += 1
        return found

    def truncated(self, tau: float) -> float:
        """Return X(τ): columns g, then t, z and φ of every group."""
        column = {p: i for i, p in enumerate(self.participants)}
        width, rows, rights, cost = len(column), [], [], [tau] * len(column)
        for owners, petals in self.groups:
            t, z, phi = width, range(width + 1, width + 1 + len(petals)), width + 1 + len(petals)
            width, cost = phi + 1, [*cost, *[0.0] * (1 + len(petals)), 1.0]
            rows.append({t: -1.0, **{column[p]: -1.0 for p in owners}})
            rights.append(-1.0)
            for own, petal in zip(z, petals, strict=True):
                rows.append({own: -1.0, t: 1.0, **{column[p]: -1.0 for p in petal}})
                rights.append(0.0)
            for j in range(len(petals)):
                slope = comb(j, self.k - 1)
                rows.append(
                    {phi: -1.0, t: float(comb(j, self.k) - j * slope), **dict.fromkeys(z, float(slope))}
                )
                rights.append(0.0)
        if not rows or not column:
            return 0.0
        dense = np.zeros((len(rows), width))
        for i, row in enumerate(rows):
            for j, value in row.items():
                dense[i, j] = value
        bounds = [(0, 1)] * len(column) + [(0, None)] * (width - len(column))
        return float(linprog(cost, A_ub=dense, b_ub=rights, bounds=bounds).fun)


def judge(nodes: Sequence[int], edges: Sequence[Edge], pattern: str, protect: str, k: int) -> Judge:
    """Return the judge of a graph on these nodes."""
    people: list[Hashable] = list(nodes) if protect == "node" else list(edges)
    tied = set(edges)
    groups: list[tuple[frozenset[Hashable], list[frozenset[Hashable]]]] = []
    if pattern == "star":
        for v in nodes:
            around = [edge for edge in edges if v in edge]
            if protect == "node":
                groups.append((frozenset({v}), [frozenset(edge) - {v} for edge in around]))
            else:
                groups.append((frozenset(), [frozenset({edge}) for edge in around]))
    else:
        for u, v in edges:
            pages = []
            for a in nodes:
                sides = [(min(a, end), max(a, end)) for end in (u, v)]
                if all(side in tied for side in sides):
                    pages.append(frozenset({a}) if protect == "node" else frozenset(sides))
            groups.append((frozenset({u, v}) if protect == "node" else frozenset({(u, v)}), pages))
    return Judge(k, groups, people)


def without(nodes: Sequence[int], edges: Sequence[Edge], leaver: Hashable) -> tuple[list[int], list[Edge]]:
    """Return the graph that a node, or an edge, has left."""
    kept = [edge for edge in edges if edge != leaver and leaver not in edge]
    return [v for v in nodes if v != leaver], kept
