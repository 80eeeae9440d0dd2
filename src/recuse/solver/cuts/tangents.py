"""Tangents: linear functions below the loads and the answer, tangent at a point g.

Any choice of one child at every OR and of what to drop at every clipped AND gives integers k and m with
u(h) ≥ k - m·h for *all* h ≥ 0; choosing what is active at g makes it tangent there. So a cut is valid by
construction, whoever chose g; only its sums round, and they round to the safe side in `certificate`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from recuse.deferred import sparse
from recuse.krelation.evaluate import Evaluation, Gathering
from recuse.krelation.relation import Floats, Integers
from recuse.solver import limits
from recuse.solver.lp.program import Matrix


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
    pairs: Pairs | None = None

    def jacobian(self, chosen: Integers) -> tuple[Floats, Matrix]:
        """Return (b, C) of the chosen owners' sums, about."""
        if self.pairs is not None:
            constants, rows = self.pairs.jacobian(self.active)
            return constants[chosen], sparse.csr_array(rows[chosen])
        terms = self.owners[chosen]
        terms.data *= self.active[terms.indices]
        terms.eliminate_zeros()
        return terms @ self.constants, (terms @ self.rows).tocsr()


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Who meets whom in which clause, with the clauses' weights.

    Where every tuple is a clause, C is symmetric: C_pq is the weight of the active clauses that p and q
    share. Among few participants a sum over pairs is far faster than a product of sparse matrices.
    """

    members: Matrix
    weights: Floats
    clauses: Integers
    places: Integers

    @classmethod
    def of(cls, members: Matrix, weights: Floats) -> Self | None:
        """Return the pairs of short clauses, if they are many for so few participants."""
        people, lengths = members.shape[1], np.diff(members.indptr)
        longest = int(lengths.max(initial=0))
        if longest > limits.LONGEST_CLAUSE_IN_PAIRS or people**2 > members.nnz:
            return None
        clauses, places = [], []
        for first in range(longest):
            for second in range(first + 1, longest):
                met = np.flatnonzero(lengths > second)
                start = members.indptr[met]
                clauses.append(met)
                places.append(members.indices[start + first] * people + members.indices[start + second])
        nobody = np.empty(0, np.int64)
        return cls(members, weights, np.concatenate([nobody, *clauses]), np.concatenate([nobody, *places]))

    def jacobian(self, active: Floats) -> tuple[Floats, NDArray[np.float64]]:
        """Return (b, C) of all participants' sums."""
        people, counted = self.members.shape[1], self.weights * active
        own = self.members.T @ counted
        listed = np.bincount(self.places, weights=counted[self.clauses], minlength=people**2)
        met: NDArray[np.float64] = listed.astype(np.float64).reshape(people, people)
        return own, met + met.T + np.diag(own)


def incidence(pointers: Integers, columns: Integers, width: int) -> Matrix:
    """Return the matrix that counts `columns` in every segment."""
    shape = (len(pointers) - 1, width)
    return sparse.csr_array((np.ones(len(columns)), columns, pointers), shape=shape)


def picking(columns: Integers, width: int) -> Matrix:
    """Return the matrix that picks one column a row."""
    return incidence(np.arange(len(columns) + 1), columns, width)


@dataclass(frozen=True, slots=True, eq=False)
class LoadTangents:
    """Finds slopes of the loads ℓ_p, with what does not depend on g laid out once."""

    evaluation: Evaluation
    clauses: Matrix
    owners: Matrix
    """participants × entries; participants × clauses where an entry is a clause"""
    pairs: Pairs | None = None

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
        of_clause = weights[_tuple_of_clause(evaluation)]
        owners.data = of_clause[owners.indices]
        pairs = Pairs.of(clauses, of_clause) if len(tuples.levels) == 2 else None
        return cls(evaluation, clauses, owners, pairs)

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
        pairs = self.pairs if variables is None else None
        return Slopes(owners @ clause_values, owners, active, 1 - fixed, rows, pairs)


@dataclass(frozen=True, slots=True, eq=False)
class AnswerTangents:
    """Finds slopes of shares of the answer: each tuple's weight split evenly among its participants."""

    evaluation: Evaluation
    clauses: Matrix
    owners: Matrix
    """participants × tuples"""
    pairs: Pairs | None
    """of conjunctions only"""

    @classmethod
    def of(cls, evaluation: Evaluation) -> Self:
        tuples, people = evaluation.tuples, evaluation.participants
        clauses = incidence(tuples.clauses, tuples.members, people)
        owner, member = evaluation.entry_tuple, evaluation.entry_member
        portion = tuples.weights_down() / np.bincount(owner, minlength=len(tuples))
        owners = sparse.csr_array((portion[owner], (member, owner)), shape=(people, len(tuples)))
        conjunctive = len(tuples.levels) == 2 and len(tuples) == clauses.shape[0]
        return cls(evaluation, clauses, owners, Pairs.of(clauses, portion) if conjunctive else None)

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
        active = (values > 0).astype(np.float64)
        return Slopes(owners @ values, owners, active, np.ones(len(values)), self.clauses, self.pairs)


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
