"""X(τ) of an aggregate as one linear program in units of τ, of the size of what withdrawals touch.

    g   withdrawals, in [0, 1]
    t   kept fraction of a group:  t ≥ 1 - Σ g of its owners
    z   kept fraction of a petal:  z ≥ t - Σ g of its owners
    y   Σ z over the petals of a group
    φ   what a group counts:       φ ≥ s_j·y - (s_j(j - fixed) - B(j))·t  for each slope s_j of B

t and z are 1 - g where that cannot be negative, and a group that can meet one slope only is a linear cost,
without a row. Every coefficient is rounded so that the program lies below the exact one: what multipliers
prove of it holds for X(τ).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from recuse.deferred import sparse
from recuse.krelation.relation import Floats, Integers
from recuse.solver.bounds import UNIT, enclosed_sum
from recuse.solver.choices.binomials import Binomials
from recuse.solver.choices.restriction import ChoiceFocus
from recuse.solver.lp.program import LinearProgram, Matrix


@dataclass(frozen=True, slots=True, eq=False)
class Expressions:
    """Expressions, one a row: matrix·x + constant. Later columns may be more than the matrix has."""

    matrix: Matrix
    constant: Floats

    def __len__(self) -> int:
        return len(self.constant)

    def __add__(self, other: Expressions) -> Expressions:
        width = max(self.matrix.shape[1], other.matrix.shape[1])
        return Expressions(
            _wide(self.matrix, width) + _wide(other.matrix, width), self.constant + other.constant
        )

    def __sub__(self, other: Expressions) -> Expressions:
        return self + Expressions(-other.matrix, -other.constant)

    def __getitem__(self, rows: Integers) -> Expressions:
        return Expressions(self.matrix[rows], self.constant[rows])

    def times(self, factors: Floats) -> Expressions:
        """Return every row times its factor."""
        matrix = self.matrix.tocsr(copy=True)
        matrix.data *= np.repeat(factors, np.diff(matrix.indptr))
        return Expressions(matrix, self.constant * factors)

    def summed(self, into: Integers, count: int) -> Expressions:
        """Return the sums of the rows that go into each of `count` rows."""
        ones = (np.ones(len(into)), (into, np.arange(len(into))))
        sums = sparse.csr_array(ones, shape=(count, len(into)))
        return Expressions(sums @ self.matrix, sums @ self.constant)


def _wide(matrix: Matrix, width: int) -> Matrix:
    return sparse.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=(matrix.shape[0], width))


@dataclass(slots=True)
class ChoiceDraft:
    """Columns from zero to an upper bound, and expressions that must not be negative."""

    uppers: list[Floats] = field(default_factory=list)
    rows: list[Expressions] = field(default_factory=list)

    def columns(self, uppers: Floats) -> Expressions:
        """Return new columns, as expressions."""
        start, count = sum(map(len, self.uppers)), len(uppers)
        self.uppers.append(uppers)
        ones = (np.ones(count), np.arange(start, start + count), np.arange(count + 1))
        return Expressions(sparse.csr_array(ones, shape=(count, start + count)), np.zeros(count))

    def positive_part(self, value: Expressions, doubtful: Integers) -> Expressions:
        """Return not less than value⁺: columns for the doubtful rows; the others cannot be negative."""
        found = self.columns(np.ones(len(doubtful)))
        self.rows.append(found - value[doubtful])
        place = np.arange(len(value))
        place[doubtful] = len(value) + np.arange(len(doubtful))
        width = found.matrix.shape[1]
        both = sparse.vstack((_wide(value.matrix, width), found.matrix), format="csr")
        return Expressions(both, np.concatenate((value.constant, found.constant)))[place]

    def program(self, cost: Floats) -> LinearProgram:
        """Return the program with these costs."""
        upper = np.concatenate(self.uppers)
        matrix = sparse.vstack([_wide(row.matrix, len(upper)) for row in self.rows], format="csr")
        right = -np.concatenate([row.constant for row in self.rows])
        return LinearProgram(cost, matrix, right, np.zeros(len(upper)), upper)


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """The different slopes that each group can meet, in order: slope·y - charge·t is a piece of its count."""

    group: Integers
    slope: Floats
    charge: Floats

    @classmethod
    def of(cls, focus: ChoiceFocus, table: Binomials) -> Self:
        loose = focus.sizes - focus.fixed
        times = np.maximum(1, loose)
        group = np.repeat(np.arange(len(times)), times)
        step = np.arange(len(group)) - np.repeat(np.cumsum(times) - times, times)
        j = focus.fixed[group] + step
        slope = np.where(loose[group] > 0, table.low_slopes[j], 0.0)
        new = np.flatnonzero((step == 0) | (slope != np.roll(slope, 1)))
        above, value = slope[new] * step[new], table.low_values[j[new]]
        return cls(group[new], slope[new], above - value + 4 * UNIT * (above + value))

    def of_groups(self, chosen: Integers) -> Pieces:
        """Return some of the pieces."""
        return Pieces(self.group[chosen], self.slope[chosen], self.charge[chosen])


@dataclass(frozen=True, slots=True, eq=False)
class AnswerProgram:
    """X(τ)/τ - rest ≥ the program's optimum + constant; the program's first columns are the withdrawals."""

    program: LinearProgram
    constant: float


def answer_program(focus: ChoiceFocus, table: Binomials) -> AnswerProgram:
    """Return the program of X(τ)/τ without the rest, rounded to lie below it."""
    draft, groups = ChoiceDraft(), len(focus.fixed)
    g = draft.columns(np.ones(len(focus.people)))
    taken, owned = _lost(g, focus.group_owners), np.sum(focus.group_owners >= 0, axis=1)
    whole = Expressions(sparse.csr_array((groups, 1)), np.ones(groups))
    t = draft.positive_part(whole - taken, np.flatnonzero(owned > 1))
    shared = np.sum(focus.petal_owners >= 0, axis=1) + owned[focus.petal_group]
    z = draft.positive_part(t[focus.petal_group] - _lost(g, focus.petal_owners), np.flatnonzero(shared > 1))
    y = z.summed(focus.petal_group, groups)

    pieces = Pieces.of(focus, table)
    curved = np.bincount(pieces.group, minlength=groups) > 1
    bent, straight = (pieces.of_groups(np.flatnonzero(which[pieces.group])) for which in (curved, ~curved))
    corners = np.flatnonzero(curved)
    loose = (focus.sizes - focus.fixed)[corners].astype(np.float64)
    heights = draft.columns(loose)
    draft.rows.append(heights - y[corners])
    counts = draft.columns(table.low_values[focus.sizes[corners]] + 1.0)
    at = np.searchsorted(corners, bent.group)
    draft.rows.append(counts[at] - heights[at].times(bent.slope) + t[bent.group].times(bent.charge))
    linear = y[straight.group].times(straight.slope) - t[straight.group].times(straight.charge)
    return _with_cost(draft, len(focus.people), linear, len(corners))


def _lost(g: Expressions, owners: Integers) -> Expressions:
    """Return Σ g over the owners in each row."""
    row, column = np.nonzero(owners >= 0)
    ones = (np.ones(len(row)), (row, owners[row, column]))
    return Expressions(sparse.csr_array(ones, shape=(len(owners), len(g))), np.zeros(len(owners)))


def _with_cost(draft: ChoiceDraft, people: int, linear: Expressions, counts: int) -> AnswerProgram:
    """Return the program with the cost |g| + the linear groups + the counts of the others, rounded down."""
    size = sum(map(len, draft.uppers))
    cost = np.zeros(size)
    cost[:people] = 1.0
    cost[size - counts :] = 1.0
    columns = _wide(linear.matrix, size).T.tocsr()
    terms = UNIT * (np.diff(columns.indptr) + 4)
    cost += columns @ np.ones(len(linear))
    cost -= terms * (1.0 + abs(columns) @ np.ones(len(linear)))
    return AnswerProgram(draft.program(cost), enclosed_sum(linear.constant).low)
