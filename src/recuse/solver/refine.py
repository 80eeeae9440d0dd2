"""Exact optima by iterative refinement: HiGHS in doubles, residuals in rationals.

After Gleixner, Steffy and Wolter (2016): the error of the current solution is itself a linear program;
blown up by a power of two it is solved in doubles, and the correction added in exact arithmetic. Each
round gains about as many digits as HiGHS gives once. Slow, and used only where a comparison is closer
than doubles can tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np
from scipy import sparse

from recuse.krelation.evaluate import Evaluation
from recuse.solver.full import Draft, FullPrograms
from recuse.solver.linear import LinearProgram, solve

Row = Mapping[int, Fraction]
GAIN = 2**20
"""How much smaller an error is expected to be after a round."""


@dataclass(frozen=True, slots=True, eq=False)
class ExactProgram:
    """min cost·x, rows·x ≥ right, 0 ≤ x ≤ upper, in rationals."""

    cost: Sequence[Fraction]
    rows: Sequence[Row]
    right: Sequence[Fraction]
    upper: Sequence[Fraction]

    @classmethod
    def of(cls, program: LinearProgram) -> Self:
        """Return a program of doubles as the rationals they are; its lower bounds must be zero."""
        vectors = (program.cost, program.right, program.upper)
        cost, right, upper = ([Fraction(value) for value in vector.tolist()] for vector in vectors)
        return cls(cost, _rows(program.rows), right, upper)

    def residuals(self, x: Sequence[Fraction]) -> list[Fraction]:
        """Return right - rows·x."""
        return [
            b - sum(a * x[j] for j, a in row.items()) for row, b in zip(self.rows, self.right, strict=True)
        ]

    def reduced(self, y: Sequence[Fraction]) -> list[Fraction]:
        """Return cost - y·rows."""
        left = list(self.cost)
        for row, multiplier in zip(self.rows, y, strict=True):
            if multiplier:
                for j, a in row.items():
                    left[j] -= multiplier * a
        return left

    def bound(self, y: Sequence[Fraction]) -> Fraction:
        """Return what y⁺ proves: no x in the box costs less (weak duality, exactly)."""
        y = [max(Fraction(0), value) for value in y]
        boxed = sum(min(Fraction(0), d) * u for d, u in zip(self.reduced(y), self.upper, strict=True))
        return sum((b * value for b, value in zip(self.right, y, strict=True)), start=Fraction(0)) + boxed

    def doubles(self) -> sparse.csr_array:
        """Return the rows as HiGHS needs them."""
        pointers = np.cumsum([0, *map(len, self.rows)])
        columns = np.array([j for row in self.rows for j in row], np.int32)
        values = np.array([float(a) for row in self.rows for a in row.values()])
        return sparse.csr_array((values, columns, pointers), shape=(len(self.rows), len(self.cost)))


def refinements(program: ExactProgram) -> Iterator[tuple[list[Fraction], list[Fraction]]]:
    """Yield ever better pairs (x, y) of primal and dual solutions, without end."""
    x = [Fraction(0)] * len(program.cost)
    y = [Fraction(0)] * len(program.rows)
    rows, zoom = program.doubles(), 1
    while True:
        scaled = LinearProgram(
            cost=_floats(zoom * d for d in program.reduced(y)),
            rows=rows,
            right=_floats(zoom * b for b in program.residuals(x)),
            lower=_floats(-zoom * value for value in x),
            upper=_floats(zoom * (u - value) for u, value in zip(program.upper, x, strict=True)),
        )
        found = solve(scaled)
        x = [old + Fraction(step) / zoom for old, step in zip(x, found.x.tolist(), strict=True)]
        y = [old + Fraction(step) / zoom for old, step in zip(y, found.y.tolist(), strict=True)]
        yield x, y
        zoom *= GAIN


def _floats(values: Iterator[Fraction]) -> np.ndarray:
    return np.array([float(value) for value in values])


def exact_least_load(evaluation: Evaluation, s: int) -> ExactProgram:
    """Return the program of Γ(s) with the weights as they are; the last column is the largest load.

    Loads are in units of the largest weight, which keeps the numbers near one.
    """
    draft = Draft([np.ones(evaluation.participants)])
    usage = FullPrograms(evaluation).usages(draft)
    weights = evaluation.tuples.weights.tolist()
    unit = max(weights)
    width = draft.width
    loads: list[dict[int, Fraction]] = [{width: Fraction(1)} for _ in range(evaluation.participants)]
    for entry, (p, t) in enumerate(
        zip(evaluation.entry_member.tolist(), evaluation.entry_tuple.tolist(), strict=True)
    ):
        start, stop = usage.indptr[entry : entry + 2]
        for j, times in zip(usage.indices[start:stop].tolist(), usage.data[start:stop].tolist(), strict=True):
            loads[p][j] = loads[p].get(j, Fraction(0)) - Fraction(weights[t] * int(times), unit)
    inner = sparse.vstack([_padded(block, width) for block in draft.rows], format="csr")
    return ExactProgram(
        cost=[Fraction(0)] * width + [Fraction(1)],
        rows=[*_rows(inner), *loads, {p: Fraction(-1) for p in range(evaluation.participants)}],
        right=[
            *map(Fraction, np.concatenate(draft.rights).tolist()),
            *[Fraction(0)] * len(loads),
            Fraction(-s),
        ],
        upper=[
            *map(Fraction, np.concatenate(draft.uppers).tolist()),
            Fraction(largest_initial_load(evaluation), unit),
        ],
    )


def _padded(matrix: sparse.csr_array, width: int) -> sparse.csr_array:
    return sparse.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=(matrix.shape[0], width))


def _rows(matrix: sparse.csr_array) -> list[Row]:
    """Return the rows of a matrix of integers as exact mappings."""
    found: list[Row] = []
    for start, stop in zip(matrix.indptr, matrix.indptr[1:], strict=False):
        row: dict[int, Fraction] = {}
        for j, a in zip(matrix.indices[start:stop].tolist(), matrix.data[start:stop].tolist(), strict=True):
            row[j] = row.get(j, Fraction(0)) + Fraction(a)
        found.append(row)
    return found


def largest_initial_load(evaluation: Evaluation) -> int:
    """Return max_p ℓ_p(0), an integer, exactly."""
    usage = evaluation.usages(np.zeros(evaluation.participants, np.int64))
    weights = evaluation.tuples.weights
    if float(weights.max(initial=0)) * float(usage.sum()) >= 2.0**62:
        weights, usage = weights.astype(object), usage.astype(object)
    loads = np.zeros(evaluation.participants, weights.dtype)
    np.add.at(loads, evaluation.entry_member, weights[evaluation.entry_tuple] * usage)
    return int(loads.max(initial=0))


def largest_load(evaluation: Evaluation, g: Sequence[Fraction]) -> Fraction:
    """Return max_p ℓ_p(g), exactly."""
    usage = evaluation.usages(np.array(g, dtype=object))
    weights = evaluation.tuples.weights.tolist()
    loads = [Fraction(0)] * evaluation.participants
    for p, t, u in zip(
        evaluation.entry_member.tolist(), evaluation.entry_tuple.tolist(), usage.tolist(), strict=True
    ):
        loads[p] += weights[t] * u
    return max(loads, default=Fraction(0))


def least_load_enclosures(evaluation: Evaluation, s: int) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield ever tighter exact enclosures of Γ(s), without end."""
    program = exact_least_load(evaluation, s)
    unit = max(evaluation.tuples.weights.tolist())
    low, high = Fraction(0), Fraction(largest_initial_load(evaluation))
    for x, y in refinements(program):
        low = max(low, unit * program.bound(y))
        g = [min(Fraction(1), max(Fraction(0), value)) for value in x[: evaluation.participants]]
        total = sum(g)
        shrink = min(Fraction(1), s / total) if total else Fraction(1)
        high = min(high, largest_load(evaluation, [shrink * value for value in g]))
        yield low, high
