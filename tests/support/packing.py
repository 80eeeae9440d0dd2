"""Small relations of conjunctions, and their truncated answers by a linear program of our own."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from scipy.optimize import linprog

from recuse.annotation import Participant, conjunction
from recuse.krelation.build import from_expressions
from recuse.krelation.relation import KRelation, Shape

Rows = list[tuple[frozenset[int], int]]
ROWS = st.lists(
    st.tuples(st.frozensets(st.integers(0, 6), min_size=1, max_size=3), st.integers(1, 4)),
    min_size=1,
    max_size=12,
    unique_by=lambda row: row[0],
)
"""owners and weight of every tuple"""


def relation_of(rows: Rows) -> KRelation:
    """Return the relation of these tuples."""
    expressions = [(conjunction(*map(Participant, owners)), weight) for owners, weight in rows]
    return from_expressions(expressions, Shape.CONJUNCTIONS, signed=False)


def people_of(rows: Rows) -> list[int]:
    """Return who is in them."""
    return sorted(set().union(*(owners for owners, _ in rows)))


def packing(rows: Rows, tau: float) -> float:
    """Return X(τ) as a packing: most Σy_t with y_t ≤ q_t and Σ_{t∋p} y_t ≤ τ for every participant."""
    inside = np.array([[name in owners for owners, _ in rows] for name in people_of(rows)], float)
    bounds = [(0, weight) for _, weight in rows]
    return -float(linprog(-np.ones(len(rows)), A_ub=inside, b_ub=[tau] * len(inside), bounds=bounds).fun)
