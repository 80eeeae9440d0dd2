"""The oracle: the error of the best fixed τ in hindsight, with all of ε for the noise. NOT PRIVATE."""

from __future__ import annotations

import math

import numpy as np

from recuse.krelation.relation import Shape
from recuse.mechanism.prepared import Prepared
from recuse.privacy import Epsilon

SAMPLES = 4001


def oracle_error(prepared: Prepared, epsilon: Epsilon) -> float:
    """Return the least median relative error over τ = 2^{k/2} of X(τ) + Lap(τ/ε), for a count.

    The median of |bias + Laplace| is computed from quantiles of the noise, not by chance.
    """
    truth = float(prepared.relation.true_answer())
    quantiles = (np.arange(SAMPLES) + 0.5) / SAMPLES
    noise = np.sign(quantiles - 0.5) * -np.log(1 - 2 * np.abs(quantiles - 0.5))
    lowest = 0 if prepared.relation.shape is Shape.CONJUNCTIONS else -8  # with OR, τ far below 1 is useful
    top = math.ceil(2 * math.log2(max(1.0, prepared.positive.largest_load()))) + 2
    errors = []
    for half in range(2 * lowest, top + 1):
        tau = 2.0 ** (half / 2)
        bias = prepared.positive.truncated(tau, tau / 100).high + prepared.relation.constant - truth
        errors.append(float(np.median(np.abs(bias + noise * tau / float(epsilon.value)))))
    return min(errors) / max(1.0, truth)
