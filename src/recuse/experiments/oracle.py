"""The oracle: the error of the best fixed τ in hindsight, with all of ε for the noise. NOT PRIVATE."""

from __future__ import annotations

import math

import numpy as np

from recuse.krelation.relation import Shape
from recuse.mechanism.prepared import Prepared
from recuse.privacy import Epsilon

SAMPLES = 4001


def oracle_error(prepared: Prepared, epsilon: Epsilon) -> float:
    """Return the least median relative error of X(τ) + Lap(τ/ε) over τ = 2^{k/4} and the largest load.

    The median of |bias + Laplace| is computed from quantiles of the noise, not by chance.
    """
    truth = float(prepared.relation.true_answer())
    quantiles = (np.arange(SAMPLES) + 0.5) / SAMPLES
    noise = np.sign(quantiles - 0.5) * -np.log(1 - 2 * np.abs(quantiles - 0.5))
    lowest = 0 if prepared.relation.shape is Shape.CONJUNCTIONS else -8  # with OR, τ far below 1 is useful
    largest = prepared.positive.largest_load()
    top = math.floor(4 * math.log2(max(1.0, largest)))
    errors = []
    for tau in (*(2.0 ** (quarter / 4) for quarter in range(4 * lowest, top + 1)), max(1.0, largest)):
        bias = prepared.positive.truncated(tau, tau / 100).high + prepared.relation.constant - truth
        errors.append(float(np.median(np.abs(bias + noise * tau / float(epsilon.value)))))
    return min(errors) / max(1.0, truth)
