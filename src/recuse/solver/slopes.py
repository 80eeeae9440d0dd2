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
    """Minorants of several sums, one an owner: Σ_j owners_ij · active_j (constants_j - rows_j·h).

    `sums` are the owners' sums at the point of tangency.
    """

    sums: Floats
    owners: Matrix
    active: Floats
    constants: Floats
    rows: Matrix

    def jacobian(self, chosen: Integers) -> tuple[Floats, Matrix]:
        """Return (b, C) of the chosen owners' sums."""
        terms = self.owners[chosen]
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
class Loads:
    """Finds slopes of the loads ℓ_p, with what does not depend on g laid out once."""

    evaluation: Evaluation
    clauses: Matrix
    owners: Matrix
    """participants × entries; participants × clauses where an entry is a clause"""

    @classmethod
    def of(cls, evaluation: Evaluation) -> Self:
        tuples, people = evaluation.tuples, evaluation.participants
        clauses = incidence(tuples.clauses, tuples.members, people)
        weights, entry = tuples.weights_down(), evaluation.entry_tuple
        if evaluation.steps:
            places = (evaluation.entry_member, np.arange(len(entry)))
            return cls(
                evaluation, clauses, sparse.csr_array((weights[entry], places), shape=(people, len(entry)))
            )
        owners = clauses.T.tocsr()
        owners.data = weights[_tuple_of_clause(evaluation)[owners.indices]]
        return cls(evaluation, clauses, owners)

    def slopes(self, g: Floats, variables: Matrix | None = None) -> Slopes:
        """Return minorants of the loads, tangent at g, over participants.

        With `variables`, participants × variables, they are over these: g is a linear function of them.
        """
        levels, owners = self.evaluation.tuples.levels, self.owners
        flat = len(levels) == 2
        clause_values = np.maximum(0.0, 1 - self.clauses @ g) if flat else self.evaluation.clause_values(g)
        if self.evaluation.steps:
            values = clause_values[self.evaluation.owners[-1]]
            picks = picking(self.evaluation.owners[-1], len(clause_values))
            for step in self.evaluation.steps:
                chosen, values = _chosen(step, values)
                picks = chosen @ picks
            owners = (owners @ picks).tocsr()
        fixed, context = _contexts(self.evaluation, g, variables)
        rows = self.clauses if variables is None else self.clauses @ variables
        rows = rows if context is None else (rows + context).tocsr()
        active = (clause_values > 0).astype(np.float64)
        return Slopes(owners @ clause_values, owners, active, 1 - fixed, rows)


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """Finds slopes of shares of the answer: each tuple's weight split evenly among its participants."""

    evaluation: Evaluation
    clauses: Matrix
    owners: Matrix
    """participants × tuples"""

    @classmethod
    def of(cls, evaluation: Evaluation) -> Self:
        tuples, people = evaluation.tuples, evaluation.participants
        clauses = incidence(tuples.clauses, tuples.members, people)
        owner, member = evaluation.entry_tuple, evaluation.entry_member
        portion = tuples.weights_down() / np.bincount(owner, minlength=len(tuples))
        owners = sparse.csr_array((portion[owner], (member, owner)), shape=(people, len(tuples)))
        return cls(evaluation, clauses, owners)

    def answer(self, g: Floats) -> float:
        """Return F(g), about."""
        if len(self.evaluation.tuples) == self.clauses.shape[0]:
            return float(self.evaluation.weights @ np.maximum(0.0, 1 - self.clauses @ g))
        return self.evaluation.objective(g)

    def slopes(self, g: Floats) -> Slopes:
        """Return minorants of the shares Σ_t share_pt z_t, tangent at g."""
        levels, owners = self.evaluation.tuples.levels, self.owners
        if len(levels) > 2:
            losses = self.evaluation.losses(g)
            fixed, rows = _affine_losses(self.evaluation, losses, 0, None)[0]
            return Slopes(
                owners @ (1 - losses[0]), owners, (losses[0] < 1).astype(np.float64), 1 - fixed, rows
            )
        values = np.maximum(0.0, 1 - self.clauses @ g)
        if len(levels[0]) < len(levels[1]):
            best = _best(values, np.maximum.reduceat(values, levels[0][:-1]), levels[0])
            owners = (owners @ best).tocsr()
        return Slopes(
            owners @ values, owners, (values > 0).astype(np.float64), np.ones(len(values)), self.clauses
        )


def _tuple_of_clause(evaluation: Evaluation) -> Integers:
    """Return the tuple that each lowest AND lies in."""
    found = evaluation.owners[0]
    for owners in evaluation.owners[1:-1]:
        found = found[owners]
    return found


def _masked(rows: Matrix, kept: NDArray[np.bool_]) -> Matrix:
    """Return the rows with some emptied."""
    return (sparse.dia_array((kept[None, :].astype(np.float64), [0]), shape=(len(kept),) * 2) @ rows).tocsr()


def _chosen(step: Gathering, values: Floats) -> tuple[Matrix, Floats]:
    """Return which entries make up each combined one, and its value."""
    combined = step(values)
    pointers = np.append(step.starts, len(step.order))
    if step.combine is np.add:
        return incidence(pointers, step.order, len(values)), combined
    best = _best(values[step.order], combined, pointers)
    return sparse.csr_array((best.data, step.order[best.indices], best.indptr), shape=best.shape), combined


def _best(values: Floats, wanted: Floats, pointers: Integers) -> Matrix:
    """Return the matrix that picks each segment's wanted value, evenly among all that attain it.

    Evenly, so that symmetric participants get symmetric slopes.
    """
    hits = np.flatnonzero(values == np.repeat(wanted, np.diff(pointers)))
    places = np.searchsorted(hits, pointers)
    counts = np.diff(places)
    return sparse.csr_array((np.repeat(1.0 / counts, counts), hits, places), shape=(len(counts), len(values)))


Affine = tuple[Floats, Matrix]
"""constants and rows: a loss as constants + rows·h"""


def _affine_losses(
    evaluation: Evaluation, losses: list[Floats], top: int, variables: Matrix | None
) -> list[Affine]:
    """Return affine functions above the losses, tangent where they were taken, from depth `top` down."""
    tuples = evaluation.tuples
    alone = picking(tuples.members, evaluation.participants)
    leaves = alone if variables is None else variables[tuples.members]
    found: list[Affine] = [(np.zeros(len(tuples.members)), leaves)]
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
            best = _best(losses[depth + 1], losses[depth], level)
            found.insert(0, (best @ fixed, (best @ rows).tocsr()))
    return found


def _contexts(evaluation: Evaluation, g: Floats, variables: Matrix | None) -> tuple[Floats, Matrix | None]:
    """Return affine functions above the contexts of the lowest ANDs; zero where there is no context."""
    levels = evaluation.tuples.levels
    if len(levels) == 2:
        return np.zeros(len(levels[1]) - 1), None
    losses = _affine_losses(evaluation, evaluation.losses(g), 2, variables)
    fixed = np.zeros(len(evaluation.tuples))
    rows = sparse.csr_array((len(fixed), losses[0][1].shape[1]))
    for depth, level in enumerate(levels[:-1]):
        owners = evaluation.owners[depth]
        fixed, rows = fixed[owners], rows[owners]
        if depth % 2:
            below, matrix = losses[depth - 1]
            sums = incidence(level, np.arange(level[-1]), level[-1])
            fixed = fixed + (sums @ below)[owners] - below
            rows = (rows + (sums @ matrix)[owners] - matrix).tocsr()
    return fixed, rows
