"""X(τ) of stars whose edges are protected: a fractional matching, a node charging more for each edge.

    max Σ_e h_e - Σ_v Σ_j s_j p_vj    Σ_{e∋v} h_e ≤ Σ_j p_vj,   0 ≤ h, p ≤ 1     (in units of τ)

h is what is kept of an edge, p_vj the part of a node's j-th further edge, s_j its slope; X(τ)/τ is the number
of edges less this, and what the fixed ones count. Nodes that colour refinement does not tell apart are one.
Any price λ_v in [0, 1] proves X(τ)/τ ≥ Σ_e min(1, λ_u + λ_v) - Σ_v Σ_j (λ_v - s_j)⁺ (proofs.md, A9).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from recuse.deferred import sparse
from recuse.krelation.relation import Floats, Integers
from recuse.solver import limits
from recuse.solver.bounds import UNIT, down, enclosed_sum
from recuse.solver.choices.binomials import Binomials
from recuse.solver.choices.certificate import snapped, truncated_high
from recuse.solver.choices.restriction import ChoiceFocus
from recuse.solver.cuts.symmetry import mixed
from recuse.solver.interval import Interval, enclosed
from recuse.solver.lp.program import LinearProgram, Method, solve

METHODS = (Method.SIMPLEX, Method.INTERIOR)


def by_matching(focus: ChoiceFocus, table: Binomials, tau: float, width: float) -> Interval | None:
    """Return an interval that holds X(τ), for a focus of `pendants`; nothing if it does not close."""
    matching = Matching.of(focus, table)
    found = Interval(0.0, float("inf"))
    for method in METHODS:
        kept, prices = matching.solved(method)
        low = down(down(matching.low(prices) * tau) + enclosed(focus.rest).low)
        found = found.narrowed(low, truncated_high(focus, table, tau, snapped(1 - kept)))
        if found.width <= width:
            return found
    return None


@dataclass(frozen=True, slots=True, eq=False)
class Matching:
    """Nodes, edges, and the steps in which a node's charge grows: for how many edges, and its slope."""

    fixed: Floats
    """what a node's fixed edges count, in units of τ"""
    ends: Integers
    node: Integers
    slope: Floats
    room: Floats
    colour: Integers

    @classmethod
    def of(cls, focus: ChoiceFocus, table: Binomials) -> Self:
        ends = focus.petal_group.reshape(-1, 2)
        open_ = np.bincount(ends.ravel(), minlength=len(focus.fixed))
        node = np.repeat(np.arange(len(open_)), open_)
        step = focus.fixed[node] + np.arange(len(node)) - np.repeat(np.cumsum(open_) - open_, open_)
        slope = table.low_slopes[step]
        new = np.flatnonzero((slope != np.roll(slope, 1)) | (node != np.roll(node, 1)))
        new = new if len(new) else np.arange(min(1, len(node)))
        room = np.diff(np.append(new, len(node))).astype(np.float64)
        fixed = table.low_values[focus.fixed]
        return cls(fixed, ends, node[new], slope[new], room, colours(ends, focus.fixed, open_))

    def solved(self, method: Method) -> tuple[Floats, Floats]:
        """Return what to keep of each edge and a price for each node, by one program over colours."""
        colour, nodes = self.colour, int(self.colour.max(initial=-1)) + 1
        pairs, edge, edges = np.unique(
            np.sort(colour[self.ends], axis=1), axis=0, return_inverse=True, return_counts=True
        )
        edge = edge.reshape(-1)
        alike = np.unique(colour, return_index=True)[1]
        first = np.isin(self.node, alike)  # the steps of one node of each colour stand for all
        steps, size = colour[self.node[first]], np.bincount(colour)
        takes = _counted(pairs.T.ravel(), np.tile(np.arange(len(pairs)), 2), nodes, len(pairs))
        gives = _counted(steps, np.arange(len(steps)), nodes, len(steps))
        upper = np.concatenate((edges.astype(np.float64), self.room[first] * size[steps]))
        cost = np.concatenate((np.full(len(pairs), -1.0), self.slope[first]))
        rows = sparse.hstack((-takes, gives), format="csr")
        program = LinearProgram(cost, rows, np.zeros(nodes), np.zeros(len(upper)), upper)
        found = solve(program, method)
        return (found.x[: len(pairs)] / edges)[edge], np.clip(found.y, 0.0, 1.0)[colour]

    def low(self, prices: Floats) -> float:
        """Return a lower end for X(τ)/τ without the rest, whatever the prices."""
        edges = np.minimum(1.0, prices[self.ends].sum(axis=1)) * (1 - 2 * UNIT)
        paid = self.room * np.maximum(0.0, prices[self.node] - self.slope) * (1 + 4 * UNIT)
        return down(enclosed_sum(np.concatenate((edges, self.fixed))).low - enclosed_sum(paid).high)


def _counted(row: Integers, column: Integers, rows: int, columns: int) -> sparse.csr_array:
    return sparse.csr_array((np.ones(len(row)), (row, column)), shape=(rows, columns))


def colours(ends: Integers, fixed: Integers, open_: Integers) -> Integers:
    """Return classes of nodes that some optimum treats alike: those that refinement cannot split."""
    everybody = np.arange(len(fixed))
    colour, count = mixed(mixed(fixed.astype(np.uint64)) + open_.astype(np.uint64)), 0
    while True:
        _, named = np.unique(colour, return_inverse=True)
        classes = int(named.max(initial=-1)) + 1
        if classes > limits.MOSTLY_ALONE * len(fixed):
            return everybody
        if classes == count:
            return named
        count, around = classes, np.zeros_like(colour)
        for one, other in (ends.T, ends.T[::-1]):
            np.add.at(around, one, mixed(colour[other]))
        colour = mixed(colour * np.uint64(7) + around)
