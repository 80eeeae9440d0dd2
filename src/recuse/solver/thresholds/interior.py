"""An interior-point method for flat thresholds: Mehrotra's, with Gondzio's correctors.

Every step solves a system in (g, z, e) and the multipliers of the rows. Nearly all of it is eliminated by
hand: a child's e stands in its own row and in its tuple's thresholds only, and of the members of a clause all
but one are kept, so that what is eliminated is diagonal. What is left is dense and small: tuples, thresholds,
and those members (Cholesky's method, twice, as the system is quasi-definite).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from recuse.deferred import linalg, sparse
from recuse.krelation.evaluate import owners_of
from recuse.krelation.relation import Floats, Integers
from recuse.solver import limits
from recuse.solver.cuts.tangents import incidence
from recuse.solver.lp.program import LinearProgram, Matrix, Suggestion
from recuse.solver.thresholds.flat import Flat


@dataclass(frozen=True, slots=True, eq=False)
class Elimination:
    """What does not change of a `Flat`'s system: columns of g and z, rows of children and of nodes."""

    away: Matrix
    """children × participants eliminated, no two of whom share a clause"""
    core: Matrix
    """children × (other participants, tuples)"""
    counts: Matrix
    needed: Matrix
    """(other participants, tuples) × nodes: least - 1, in the scale of the nodes"""
    order: Integers
    """where the eliminated, then the core's columns stand in the program"""
    away_back: Matrix
    core_back: Matrix
    counts_back: Matrix
    squares: Matrix

    @classmethod
    def of(cls, flat: Flat) -> Self:
        people, tuples, children = flat.clauses.shape[1], len(flat.weights), len(flat.child_tuple)
        kept = incidence(np.arange(children + 1), flat.child_tuple, tuples)
        alone = _alone(flat.clauses)
        others = np.flatnonzero(~alone)
        away = flat.clauses[:, np.flatnonzero(alone)].tocsr()
        core = sparse.hstack((flat.clauses[:, others], kept), format="csr")
        needed = flat.node_scale() * (flat.least - 1)
        places = (len(others) + flat.node_tuple, np.arange(len(needed)))
        counts = flat.scaled_counts()
        back = away.T.tocsr()
        return cls(
            away,
            core,
            counts,
            sparse.csr_array((needed, places), shape=(core.shape[1], len(needed))),
            np.concatenate((np.flatnonzero(alone), others, people + np.arange(tuples))),
            back,
            core.T.tocsr(),
            counts.T.tocsr(),
            _with(back, back.data**2),
        )

    def size(self) -> int:
        """Return the order of the dense systems."""
        return int(self.core.shape[1] + self.counts.shape[0])

    def factored(self, theta: Floats, delta: Floats) -> Factored:
        """Return the system A dv + δ dλ = ρ, Aᵀ dλ - θ dv = σ, ready to be solved."""
        children, width = self.core.shape[0], len(self.order)
        own, of_columns = 1 / theta[width:], theta[:width][self.order]
        away = self.away.shape[1]
        kappa = 1 / (own + delta[:children])
        joint, gone = (
            _scaled(self.core_back, kappa),
            -(_scaled(self.away_back, kappa * own) @ self.counts_back),
        )
        cross = self.needed - _scaled(self.core_back, kappa * own) @ self.counts_back
        inverse = 1 / (of_columns[:away] + self.squares @ kappa)
        across = (joint @ self.away).tocsr()
        side = _scaled(across, inverse)
        nodes = (_scaled(self.counts, own * (1 - kappa * own)) @ self.counts_back).toarray()
        nodes[np.diag_indices_from(nodes)] += delta[children:]
        nodes += (_scaled(gone.T.tocsr(), inverse) @ gone).toarray()
        mixed = (cross - side @ gone).toarray()
        tuples = (joint @ self.core - side @ across.T.tocsr()).toarray()
        tuples[np.diag_indices_from(tuples)] += of_columns[away:]
        lower = linalg.cholesky(nodes, lower=True, check_finite=False)
        half = linalg.solve_triangular(lower, mixed.T, lower=True, check_finite=False)
        upper = linalg.cho_factor(tuples + half.T @ half, lower=True, check_finite=False)
        return Factored(self, own, kappa, inverse, side, across, gone, lower, half, upper)


@dataclass(frozen=True, slots=True, eq=False)
class Factored:
    """One step's system, factored."""

    parts: Elimination
    own: Floats
    kappa: Floats
    inverse: Floats
    side: Matrix
    across: Matrix
    gone: Matrix
    lower: NDArray[np.float64]
    half: NDArray[np.float64]
    upper: tuple[NDArray[np.float64], bool]

    def solve(self, rows: Floats, reduced: Floats) -> tuple[Floats, Floats]:
        """Return (dv, dλ)."""
        parts, own, kappa = self.parts, self.own, self.kappa
        children, width = parts.core.shape[0], len(parts.order)
        of_child, of_columns = reduced[width:], reduced[:width][parts.order]
        inner = rows[:children] + of_child * own
        away = parts.away_back @ (kappa * inner) - of_columns[: parts.away.shape[1]]
        right = parts.core_back @ (kappa * inner) - of_columns[parts.away.shape[1] :]
        nodes = rows[children:] + parts.counts @ (own * (kappa * inner - of_child))
        first = _substituted(self.lower, nodes + self.gone.T @ (self.inverse * away), "N")
        core = linalg.cho_solve(
            self.upper, right - self.side @ away - self.half.T @ first, check_finite=False
        )
        y = _substituted(self.lower, first + self.half @ core, "T")
        gone = self.inverse * (away - self.across.T @ core - self.gone @ y)
        asked = parts.counts_back @ y
        x = kappa * (inner + own * asked - parts.away @ gone - parts.core @ core)
        found = np.empty(width)
        found[parts.order] = np.concatenate((gone, core))
        return np.concatenate((found, own * (x - asked - of_child))), np.concatenate((x, y))


def _substituted(lower: NDArray[np.float64], right: Floats, trans: str) -> Floats:
    found: Floats = linalg.solve_triangular(lower, right, lower=True, trans=trans, check_finite=False)
    return found


def _alone(clauses: Matrix) -> NDArray[np.bool_]:
    """Return participants of whom every clause has one at most: the one with the fewest clauses."""
    clause, member = owners_of(clauses.indptr.astype(np.int64)), clauses.indices
    often = np.bincount(member, minlength=clauses.shape[1])
    order = np.lexsort((member, often[member], clause))
    first = np.ones(len(order), bool)
    first[1:] = clause[order][1:] != clause[order][:-1]
    kept = np.ones(clauses.shape[1], bool)
    kept[member[order][~first]] = False
    return kept


def _with(matrix: Matrix, data: Floats) -> Matrix:
    """Return the matrix with other entries in the same places."""
    return sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def _scaled(matrix: Matrix, factors: Floats) -> Matrix:
    """Return the matrix with its columns multiplied."""
    return _with(matrix, matrix.data * factors[matrix.indices])


Direction = tuple[Floats, Floats, Floats, Floats]


@dataclass(frozen=True, slots=True, eq=False)
class Iterate:
    """Columns v, slacks s of the rows, their multipliers λ, reduced costs ζ: all positive."""

    v: Floats
    s: Floats
    duals: Floats
    costs: Floats

    def products(self) -> Floats:
        """Return what is to become equal and small."""
        return np.concatenate((self.s * self.duals, self.v * self.costs))

    def moved(self, step: Direction, lengths: tuple[float, float]) -> Iterate:
        """Return the point some way along, in (v, s) and in (λ, ζ)."""
        ahead, up = lengths
        v, s, duals, costs = step
        return Iterate(
            self.v + ahead * v, self.s + ahead * s, self.duals + up * duals, self.costs + up * costs
        )

    def lengths(self, step: Direction) -> tuple[float, float]:
        """Return how far all stays positive, and at most 1."""
        v, s, duals, costs = step
        return (
            min(_length(self.v, v), _length(self.s, s)),
            min(_length(self.duals, duals), _length(self.costs, costs)),
        )


def _length(values: Floats, step: Floats) -> float:
    steepest = float((-step / values).max(initial=1.0))
    return 1.0 / steepest


def approached(program: LinearProgram, parts: Elimination, gap: float) -> Iterator[Suggestion]:
    """Yield points of the program with multipliers, whenever their gap has come down to what is asked."""
    rows, back = program.rows, program.rows.T.tocsr()
    point = _start(program)
    for _ in range(limits.INTERIOR_ITERATIONS):
        short = program.right - rows @ point.v + point.s
        dear = program.cost - back @ point.duals - point.costs
        apart = float(program.cost @ point.v - program.right @ point.duals)
        off = float(np.abs(dear) @ np.minimum(1.0, point.v) + point.duals @ np.abs(short))
        if abs(apart) + off <= gap:
            yield Suggestion(point.v, point.duals)
            gap /= limits.INTERIOR_GAIN
        system = parts.factored(point.costs / point.v, point.s / point.duals)
        point = _stepped(point, system, short, dear)


def _start(program: LinearProgram) -> Iterate:
    count, size = program.rows.shape
    return Iterate(
        np.full(size, 0.5), np.full(count, 0.5), np.full(count, 0.1), 0.1 + 0.5 * np.abs(program.cost)
    )


def _stepped(point: Iterate, system: Factored, short: Floats, dear: Floats) -> Iterate:
    """Return the next point: a predictor, a corrector, and correctors of what remains out of balance."""
    count, products = len(point.s), point.products()

    def towards(targets: Floats) -> Direction:
        of_rows, of_columns = targets[:count], targets[count:]
        v, duals = system.solve(short + of_rows / point.duals, dear - of_columns / point.v)
        return (
            v,
            (of_rows - point.s * duals) / point.duals,
            duals,
            (of_columns - point.costs * v) / point.v,
        )

    ahead = towards(-products)
    mean = float(products.mean())
    left = float(point.moved(ahead, point.lengths(ahead)).products().mean())
    centre = mean * (left / mean) ** 3
    v, s, duals, costs = ahead
    targets = centre - products - np.concatenate((s * duals, v * costs))
    step = towards(targets)
    for _ in range(limits.INTERIOR_CORRECTORS):
        lengths = point.lengths(step)
        longer = (min(1.0, 1.08 * lengths[0] + 0.08), min(1.0, 1.08 * lengths[1] + 0.08))
        reached = point.moved(step, longer).products()
        more = targets + np.maximum(np.clip(reached, 0.1 * centre, 10 * centre) - reached, -10 * centre)
        other = towards(more)
        if sum(point.lengths(other)) < sum(lengths) + 0.01:
            break
        step, targets = other, more
    ends = point.lengths(step)
    return point.moved(step, (min(1.0, 0.99 * ends[0]), min(1.0, 0.99 * ends[1])))
