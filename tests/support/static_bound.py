"""The paper's static G, which is not private once annotations contain OR. Tests only."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from recuse.annotation import Annotation, participants, static_sensitivity
from recuse.primes import derivations

Rows = Sequence[tuple[Annotation, int]]


def static_bound(rows: Rows, s: int) -> float:
    """Return min_{|g| ≤ s} max_p Σ_t q_t z_t(g) S_{t,p}: half the paper's G_{|P|-s}."""
    names = sorted({name for k, _ in rows for name in participants(k)}, key=repr)
    column = {name: i for i, name in enumerate(names)}
    width = len(names) + len(rows) + 1  # g, z, the largest load
    entries: list[tuple[int, int, float]] = []
    right: list[float] = []
    loads: dict[object, list[tuple[int, float]]] = {name: [] for name in names}
    for t, (k, q) in enumerate(rows):
        for derivation in derivations(k):  # -z_t - m·g ≤ -1
            entries.append((len(right), len(names) + t, -1.0))
            entries += [(len(right), column[name], -float(times)) for name, times in derivation.items()]
            right.append(-1.0)
        for name in participants(k):
            loads[name].append((len(names) + t, float(q * static_sensitivity(k, name))))
    for name in names:
        entries += [(len(right), j, value) for j, value in loads[name]]
        entries.append((len(right), width - 1, -1.0))
        right.append(0.0)
    entries += [(len(right), j, 1.0) for j in range(len(names))]
    right.append(float(s))
    i, j, value = zip(*entries, strict=True)
    cost = np.zeros(width)
    cost[-1] = 1.0
    bounds = [(0, 1)] * (width - 1) + [(0, None)]
    matrix = sparse.csr_array((value, (i, j)), shape=(len(right), width))
    return float(linprog(cost, A_ub=matrix, b_ub=right, bounds=bounds).fun)


def static_index(rows: Rows, theta: float, beta: float) -> int:
    """Return the paper's index with its static loads (and its factor 2)."""
    if not rows:
        return 0
    low, high = -1, 2
    while 2 * static_bound(rows, high) > theta * math.exp(beta * high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if 2 * static_bound(rows, middle) > theta * math.exp(beta * middle):
            low = middle
        else:
            high = middle
    return high
