"""Slopes: linear functions below the loads and the answer, tangent at a point g.

Any choice of one child at every OR and of what to drop at every clipped AND gives integers k and m with
u(h) ≥ k - m·h for *all* h ≥ 0; choosing what is active at g makes it tangent there. So a cut is valid by
construction, whoever chose g; only its sums round, and they round to the safe side in `certificate`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from recuse.krelation.evaluate import Evaluation, Gathering
from recuse.krelation.relation import Floats, Integers
from recuse.solver.linear import Matrix


@dataclass(frozen=True, slots=True, eq=False)
class Slopes:
    """Minorants: term j is active_j (constants_j - rows_j·h); entry i is the sum of the terms in picks_i."""

    picks: Matrix
    active: Floats
    constants: Floats
    rows: Matrix

    def cut(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return (terms of b, c) with Σ weights·entries ≥ Σb - c·h, for weights ≥ 0 of the entries."""
        terms = (self.picks.T @ weights) * self.active
        return terms * self.constants, self.rows.T @ terms

    def jacobian(self, weights: Matrix) -> tuple[Floats, Matrix]:
        """Return (b, C) of several weighted sums of the entries, one a row."""
        terms = (weights @ self.picks).tocsr()
        terms.data *= self.active[terms.indices]
        terms.eliminate_zeros()
        return terms @ self.constants, (terms @ self.rows).tocsr()


def incidence(pointers: Integers, columns: Integers, width: int) -> Matrix:
    """Return the matrix that counts `columns` in every segment."""
    shape = (len(pointers) - 1, width)
    return sparse.csr_array((np.ones(len(columns)), columns, pointers), shape=shape)


def picking(columns: Integers, width: int) -> Matrix:
    """Return the matrix that picks one column a row."""
    return incidence(np.arange(len(columns) + 1), columns, width)


@dataclass(frozen=True, slots=True, eq=False)
class Tangents:
    """Finds slopes of one relation, with what does not depend on g laid out once."""

    evaluation: Evaluation
    of_leaf: Matrix
    clauses: Matrix
    tuples: Matrix

    @classmethod
    def of(cls, evaluation: Evaluation) -> Self:
        tuples = evaluation.tuples
        of_leaf = picking(evaluation.owners[-1], len(tuples.clauses) - 1)
        clauses = incidence(tuples.clauses, tuples.members, evaluation.participants)
        return cls(evaluation, of_leaf, clauses, picking(np.arange(len(tuples)), len(tuples)))

    def loads(self, g: Floats) -> Slopes:
        """Return minorants of the usages u_{t,p}, entry by entry, tangent at g."""
        active = self.evaluation.clause_values(g)
        values = active[self.evaluation.owners[-1]]
        picks = self.of_leaf
        for i, step in enumerate(self.evaluation.steps):
            chosen, values = _chosen(step, values)
            picks = chosen if i == 0 else chosen @ picks
        if self.evaluation.steps:
            picks = (picks @ self.of_leaf).tocsr()
        fixed, context = _contexts(self.evaluation, g)
        rows = self.clauses if context is None else (self.clauses + context).tocsr()
        return Slopes(picks, (active > 0).astype(np.float64), 1 - fixed, rows)

    def answer(self, g: Floats) -> Slopes:
        """Return minorants of the kept fractions z_t, tangent at g."""
        losses = self.evaluation.losses(g)
        levels = self.evaluation.tuples.levels
        if len(levels) > 2:
            fixed, rows = _affine_losses(self.evaluation, losses, 0)[0]
            return Slopes(self.tuples, (losses[0] < 1).astype(np.float64), 1 - fixed, rows)
        picks = self.tuples
        if len(levels[0]) < len(levels[1]):
            picks = picking(_first_equal(losses[1], losses[0], levels[0]), self.clauses.shape[0])
        return Slopes(picks, (losses[1] < 1).astype(np.float64), np.ones(self.clauses.shape[0]), self.clauses)


def _masked(rows: Matrix, kept: NDArray[np.bool_]) -> Matrix:
    """Return the rows with some emptied."""
    return (sparse.dia_array((kept[None, :].astype(np.float64), [0]), shape=(len(kept),) * 2) @ rows).tocsr()


def _chosen(step: Gathering, values: Floats) -> tuple[Matrix, Floats]:
    """Return which entries make up each combined one, and its value."""
    combined = step(values)
    pointers = np.append(step.starts, len(step.order))
    if step.combine is np.add:
        return incidence(pointers, step.order, len(values)), combined
    return picking(step.order[_first_equal(values[step.order], combined, pointers)], len(values)), combined


def _first_equal(values: Floats, wanted: Floats, pointers: Integers) -> Integers:
    """Return where each segment first attains its wanted value."""
    hits = np.flatnonzero(values == np.repeat(wanted, np.diff(pointers)))
    return hits[np.searchsorted(hits, pointers[:-1])]


Affine = tuple[Floats, Matrix]
"""constants and rows: a loss as constants + rows·h"""


def _affine_losses(evaluation: Evaluation, losses: list[Floats], top: int) -> list[Affine]:
    """Return affine functions above the losses, tangent where they were taken; depths from `top` to the leaves."""
    tuples = evaluation.tuples
    found: list[Affine] = [(np.zeros(len(tuples.members)), picking(tuples.members, evaluation.participants))]
    for depth in range(len(tuples.levels) - 1, top - 1, -1):
        level, (fixed, rows) = tuples.levels[depth], found[0]
        if len(level) - 1 == level[-1]:
            found.insert(0, found[0])
        elif depth % 2:
            sums = incidence(level, np.arange(level[-1]), level[-1])
            unclipped = np.add.reduceat(losses[depth + 1], level[:-1]) < 1
            constants = np.where(unclipped, sums @ fixed, 1.0)
            found.insert(0, (constants, _masked((sums @ rows).tocsr(), unclipped)))
        else:
            first = _first_equal(losses[depth + 1], losses[depth], level)
            found.insert(0, (fixed[first], rows[first]))
    return found


def _contexts(evaluation: Evaluation, g: Floats) -> tuple[Floats, Matrix | None]:
    """Return affine functions above the contexts of the lowest ANDs; zero where there is no context."""
    levels = evaluation.tuples.levels
    if len(levels) == 2:
        return np.zeros(len(levels[1]) - 1), None
    losses = _affine_losses(evaluation, evaluation.losses(g), 2)
    fixed = np.zeros(len(evaluation.tuples))
    rows = sparse.csr_array((len(fixed), evaluation.participants))
    for depth, level in enumerate(levels[:-1]):
        owners = evaluation.owners[depth]
        fixed, rows = fixed[owners], rows[owners]
        if depth % 2:
            below, matrix = losses[depth - 1]
            sums = incidence(level, np.arange(level[-1]), level[-1])
            fixed = fixed + (sums @ below)[owners] - below
            rows = (rows + (sums @ matrix)[owners] - matrix).tocsr()
    return fixed, rows
