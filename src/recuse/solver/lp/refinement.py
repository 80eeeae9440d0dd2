"""Nearly exact optima by iterative refinement: HiGHS in doubles, residuals in rationals.

After Gleixner, Steffy and Wolter (2016): the error of the current solution is itself a linear program;
blown up by a power of two it is solved in doubles, and the correction added in exact arithmetic. Each
round gains about as many digits as HiGHS gives once, unless HiGHS ends at a wrong basis: then it stalls, and
`exact` takes over. For programs so large that `exact` would be slow.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from recuse.deferred import sparse
from recuse.solver import limits
from recuse.solver.exact.simplex import ExactProgram, ExactRow
from recuse.solver.lp.program import LinearProgram, Matrix, solve


def rational(program: LinearProgram) -> ExactProgram:
    """Return a program of doubles as the rationals they are; its lower bounds must be zero."""
    vectors = (program.cost, program.right, program.upper)
    cost, right, upper = ([Fraction(value) for value in vector.tolist()] for vector in vectors)
    return ExactProgram(cost, _rows(program.rows), right, upper)


def refinements(program: ExactProgram) -> Iterator[tuple[list[Fraction], list[Fraction]]]:
    """Yield pairs (x, y) of primal and dual solutions, often ever better ones, without end."""
    x = [Fraction(0)] * len(program.cost)
    y = [Fraction(0)] * len(program.rows)
    rows, zoom = _doubles(program), 1
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
        zoom *= limits.REFINEMENT_GAIN


def _floats(values: Iterator[Fraction]) -> np.ndarray:
    return np.array([float(value) for value in values])


def _rows(matrix: Matrix) -> list[ExactRow]:
    """Return the rows of a matrix as exact mappings."""
    found: list[ExactRow] = []
    for start, stop in zip(matrix.indptr, matrix.indptr[1:], strict=False):
        row: dict[int, Fraction] = {}
        for j, a in zip(matrix.indices[start:stop].tolist(), matrix.data[start:stop].tolist(), strict=True):
            row[j] = row.get(j, Fraction(0)) + Fraction(a)
        found.append(row)
    return found


def _doubles(program: ExactProgram) -> sparse.csr_array:
    """Return the rows as HiGHS needs them."""
    pointers = np.cumsum([0, *map(len, program.rows)])
    columns = np.array([j for row in program.rows for j in row], np.int32)
    values = np.array([float(a) for row in program.rows for a in row.values()])
    return sparse.csr_array((values, columns, pointers), shape=(len(program.rows), len(program.cost)))
