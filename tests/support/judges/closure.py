"""The convex closure of a threshold by definition: a linear program over all sets of those present."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np
from scipy.optimize import linprog


def least_chance(marginals: Sequence[Fraction], values: Sequence[int], least: int) -> float:
    """Return the least P(the values of those present add up to `least`) of all distributions.

    Everybody is present with the chance that `marginals` says. This is the largest convex function that is
    right where everybody is either present or not.
    """
    sets = list(product((0, 1), repeat=len(marginals)))
    enough = [float(sum(u for u, there in zip(values, s, strict=True) if there) >= least) for s in sets]
    rows = np.vstack((np.array(sets, float).T, np.ones(len(sets))))
    found = linprog(enough, A_eq=rows, b_eq=[*map(float, marginals), 1.0], bounds=(0, None))
    return float(found.fun)
