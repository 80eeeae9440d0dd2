"""Exact output distributions, for audits: the noisy maximum and its worst log-ratio between neighbours."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.polynomial import Polynomial


def winning_probabilities(scores: Sequence[float]) -> list[float]:
    """Return P(k maximises E_k + score_k) for independent Exp(1) numbers E_k.

    With t = exp(-E_k) it is the integral over t of the product of (1 - t exp(s_j - s_k)) over j ≠ k, up to
    the t at which the first factor vanishes.
    """
    found = []
    for k, own in enumerate(scores):
        ratios = [math.exp(min(700.0, s - own)) for j, s in enumerate(scores) if j != k]
        end = min(1.0, *(1 / r for r in ratios)) if ratios else 1.0
        # substitute t = end·x to keep the coefficients near one
        product = Polynomial([1.0])
        for ratio in ratios:
            product = product * Polynomial([1.0, -ratio * end])
        found.append(end * float(np.diff(product.integ()([0.0, 1.0]))[0]))
    return found


def worst_log_ratio(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the largest |ln p/q| over the outcomes of two distributions."""
    return max(abs(math.log(p / q)) for p, q in zip(one, other, strict=True) if p > 1e-12 and q > 1e-12)
